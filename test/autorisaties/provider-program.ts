// An identity provider as a process of its own: oidc-provider, which is certified, and gives tokens to clients. Its settings are the
// first argument, as JSON. It prints the path of each request.
import { createServer } from 'node:http'
import Provider from 'oidc-provider'

const { port, keys, clients, algorithm, audience, seconds, clockShiftSeconds, claims } = JSON.parse(process.argv[2]!)

const now = Date.now
Date.now = () => now() + clockShiftSeconds * 1000

const issuer = `http://127.0.0.1:${port}`
const provider = new Provider(issuer, {
  jwks: { keys },
  clients: clients.map((client: object) => ({
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    ...client,
  })),
  scopes: ['zgw.access', 'iets.anders'],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => 'https://zaakstroom.example.nl',
      getResourceServerInfo: () => ({
        scope: 'zgw.access iets.anders',
        audience,
        accessTokenTTL: seconds,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: algorithm } },
      }),
    },
  },
  extraTokenClaims: () => claims,
})
const answers = provider.callback()
createServer((request, response) => {
  process.stdout.write(`${request.url}\n`)
  answers(request, response)
}).listen(port, '127.0.0.1', () => process.stdout.write('listening\n'))
