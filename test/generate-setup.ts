// `npm run setup` writes docs/setup.md and docs/setup.schema.json from the schema of a setup file; test/cli/setup-apply.test.ts compares them.
import { writeFile } from 'node:fs/promises'
import { SETUP_SCHEMA } from '../src/cli/setup.ts'

export const PAGE = new URL('../docs/setup.md', import.meta.url)
export const SCHEMA = new URL('../docs/setup.schema.json', import.meta.url)

/** What each key means, by its place. */
const MEANINGS: Record<string, string> = {
  services: 'Services elsewhere, each known by its slug.',
  'services.label': 'Name for people.',
  'services.slug': 'What it is known by, here and in `notifications.dienst`.',
  'services.soort': 'Which API it is: `orc` is any other than those of the standard.',
  'services.apiRoot': 'Where its resources begin. A slash is added to the end when it misses.',
  'services.authenticatie':
    'How we sign in: not at all, with a JWT of ZGW, with a key in a header, or with a token of OAuth 2.',
  'services.clientId': 'Our client id there, at `zgw` and `oauth2`.',
  'services.header': 'Name of the header with the key, at `api_key`.',
  'services.secret':
    'Our secret or key there. Left out: the one that is known stays, unless the service or its token service moves to another server.',
  'services.tokenUrl': 'Where a token is asked for, at `oauth2`.',
  'services.tokenScope': 'The scope that is asked for, at `oauth2`.',
  'services.clientCertificate':
    'Our certificate (PEM), with those between it and its authority behind it. Left out: the known one stays; empty: it goes.',
  'services.clientKey': 'Its key (PEM). Left out: the known one stays.',
  'services.ca':
    'Authorities that vouch for the service (PEM), instead of the usual ones. Left out: the known ones stay; empty: they go.',
  'services.gebruikersId': '`user_id` in our tokens, at `zgw`.',
  'services.gebruikersWeergave': '`user_representation` in our tokens, at `zgw`.',
  'services.timeoutMs': 'Milliseconds that an answer may take; 10000 when left out.',
  notifications: 'How notifications are sent. A key that is left out stays as it is.',
  'notifications.dienst': 'Slug of the service of kind `nrc` that they go to; null: none, and they wait.',
  'notifications.maxRetries': 'How often a message is tried again.',
  'notifications.backoff': 'Factor of the delay in seconds; true: factor 1 and base 2; false or 0: always 180 seconds.',
  'notifications.backoffMax': 'Longest delay in seconds.',
  'notifications.baseFactor': 'Base of the delay: retry n waits `backoff` times this to the power n.',
  'notifications.inOrder': 'Messages of one main object wait for each other.',
  'notifications.outageCounts': 'At which receivers an attempt counts while the receiver fails as a whole.',
  'notifications.set':
    'Name of a documented set of retry settings (docs/notificaties.md); settings beside it count before it.',
  tokenIssuers: 'Identity providers whose tokens are taken (docs/tokens.md), each known by its `issuer`.',
  'tokenIssuers.label': 'Name for people.',
  'tokenIssuers.issuer': 'Exactly the claim `iss`.',
  'tokenIssuers.discoveryUrl': 'The discovery document, when it is not below `issuer`.',
  'tokenIssuers.jwksUrl': 'Where its keys are, when there is no discovery document.',
  'tokenIssuers.jwks': 'The keys themselves (RFC 7517), of a provider that cannot be reached.',
  'tokenIssuers.jwks.keys': 'The keys.',
  'tokenIssuers.audiences': 'One of these has to be in `aud`.',
  'tokenIssuers.algorithms': 'Algorithms that it signs with; RS256, PS256, ES256 and EdDSA when left out.',
  'tokenIssuers.clientClaims': 'Claims with the client, of which the first that a token has counts.',
  'tokenIssuers.userClaims': 'Claims with the user, for the audit trail.',
  'tokenIssuers.userNameClaims': 'Claims with the name of the user, for the audit trail.',
  'tokenIssuers.organisationClaim': 'Claim with the organisation, for the audit trail and the log.',
  'tokenIssuers.maxLifetimeSeconds': 'How long a token may count; 21600 when left out.',
  'tokenIssuers.leewaySeconds': 'Difference of clocks that is forgiven; 30 when left out.',
  'tokenIssuers.requiredScopes': 'One of these has to be in `scope`, `scp` or `roles`; none when left out.',
  'tokenIssuers.requiresCertificate': 'A token has to be bound to a certificate of its client.',
  applicaties: 'Applicaties with their client ids and rights. One is known by any of its client ids.',
  'applicaties.label': 'Name for people.',
  'applicaties.clientIds': 'Its client ids: these and no others.',
  'applicaties.heeftAlleAutorisaties': 'It may do everything, and has no `autorisaties`.',
  'applicaties.alleenIsGereedVoorPublicatie': 'It reads only documents that are ready for publication.',
  'applicaties.autorisaties': 'Its rights: these and no others.',
  'applicaties.autorisaties.component': 'The API that the right is for.',
  'applicaties.autorisaties.scopes': 'What it may do, such as `zaken.lezen`.',
  'applicaties.autorisaties.zaaktype': 'URL of the zaaktype, at `zrc`.',
  'applicaties.autorisaties.informatieobjecttype': 'URL of the informatieobjecttype, at `drc`.',
  'applicaties.autorisaties.besluittype': 'URL of the besluittype, at `brc`.',
  'applicaties.autorisaties.maxVertrouwelijkheidaanduiding': 'The most confidential that it may see.',
  'applicaties.catalogusAutorisaties': 'Rights that also count for types that are made later: these and no others.',
  'applicaties.catalogusAutorisaties.component': 'The API that the right is for.',
  'applicaties.catalogusAutorisaties.catalogus': 'URL of the catalogus.',
  'applicaties.catalogusAutorisaties.type': 'One type of it, all its versions; left out or empty: all types.',
  'applicaties.catalogusAutorisaties.scopes': 'What it may do, such as `zaken.lezen`.',
  'applicaties.catalogusAutorisaties.maxVertrouwelijkheidaanduiding': 'The most confidential that it may see.',
  'applicaties.credentials':
    'The secrets of its client ids: these and no others. A client id that is not named, or `[]`, has no secret any more. Left out: they stay.',
  'applicaties.credentials.clientId': 'One of its client ids.',
  'applicaties.credentials.secret': 'A secret of it. A client id may stand here twice, while it moves to the new one.',
  'applicaties.issuerClients': 'Clients of issuers that act as it: these and no others. Left out: they stay.',
  'applicaties.issuerClients.issuer': 'The `issuer` of a token issuer.',
  'applicaties.issuerClients.clientId': 'The client as that issuer knows it.',
}

type Node = {
  type?: string | string[]
  enum?: unknown[]
  anyOf?: Node[]
  items?: Node
  properties?: Record<string, Node>
  required?: string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  default?: unknown
  description?: string
}

/** What an editor may not judge: the text comes from the environment. */
const FROM_ENVIRONMENT = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' }

/** @throws when a key has no meaning here: add it to `MEANINGS` */
function described(node: Node, place = ''): object {
  const { description: _, default: __, ...rest } = node
  const within = place && `${place}.`
  const part = {
    ...rest,
    ...(node.items && { items: described(node.items, place) }),
    ...(node.properties && {
      properties: Object.fromEntries(
        Object.entries(node.properties).map(([name, one]) => {
          const description = MEANINGS[within + name]
          if (!description) throw new Error(`test/generate-setup.ts says nothing of ${within}${name}`)
          return [name, { description, ...described(one, within + name) }]
        }),
      ),
    }),
  }
  return node.type === 'string' && (node.pattern || node.enum) ? { anyOf: [part, FROM_ENVIRONMENT] } : part
}

/** The schema for editors, as text. */
export function setupSchema(): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A file of zaakstroom setup apply',
    ...described(SETUP_SCHEMA as Node),
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}

function valuesOf(node: Node): string {
  const { type, items, anyOf } = node
  if (node.enum) return node.enum.map((one) => `\`${one === '' ? '""' : one}\``).join(', ')
  if (anyOf) return [...new Set(anyOf.map(valuesOf).filter(Boolean))].join(', ')
  if (items && !items.properties) return ['list', range(node.minItems, node.maxItems)].filter(Boolean).join(' of ')
  if (items) return 'list'
  if (node.properties) return 'object'
  const [least, most] = type === 'string' ? [node.minLength, node.maxLength] : [node.minimum, node.maximum]
  const bounds = range(least, most)
  const kind = type === undefined ? '' : [type].flat().join(' or ')
  return [kind, bounds && (type === 'string' ? `${bounds} characters` : bounds)].filter(Boolean).join(', ')
}

function range(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}`
  if (least !== undefined) return `at least ${least}`
  return most === undefined ? '' : `at most ${most}`
}

function rowsOf(node: Node, place = ''): string[] {
  const { properties = {}, required = [] } = node.items ?? node
  return Object.entries(properties).flatMap(([name, one]) => {
    const whole = place ? `${place}.${name}` : name
    const key = `\`${whole}\`${required.includes(name) ? ' ¹' : ''}`
    return [`| ${key} | ${MEANINGS[whole]} | ${valuesOf(one).replaceAll('|', '\\|')} |`, ...rowsOf(one, whole)]
  })
}

/** The page of the keys. */
export function setupPage(): string {
  return `# A setup file

\`zaakstroom setup apply FILE\` brings services, settings of notifications, token issuers and applicaties to what a file says (YAML or JSON),
all of it or nothing. Applied again it changes nothing. \`\${NAME}\` in a text stands for a variable of the environment, so that no secret
has to be in the file. All faults are told at once with their place, and exit code 78; those that need the database are told when the
file itself has none.

- What the file names is what is there. A kind that it leaves out (\`services\`, \`tokenIssuers\`, \`applicaties\`) stays as it is.
- Of a kind that it names, what else there is is told and stays. With \`--prune\` it is removed; \`--prune --dry-run\` lists it. \`services: []\`
  with \`--prune\` removes all services.
- What settings of the environment make stays (\`BOOTSTRAP_CLIENT_ID\`, \`NOTIFICATIONS_API_ROOT\`): the next start would make it again.
- \`credentials\` are all secrets of an applicatie. What they do not name is revoked at once, and the audit trail has it.

\`setup.schema.json\` beside this page is a JSON Schema for editors. In a YAML file the first line names it:
\`# yaml-language-server: $schema=setup.schema.json\`.

This page is made from the schema by \`npm run setup\`.

| Key | Meaning | Values |
| --- | --- | --- |
${rowsOf(SETUP_SCHEMA as Node).join('\n')}

¹ Required in its object.
`
}

if (import.meta.main) {
  await writeFile(PAGE, setupPage())
  await writeFile(SCHEMA, setupSchema())
}
