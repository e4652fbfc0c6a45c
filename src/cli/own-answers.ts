// Our own APIs, asked from within a command: no server has to run, and no client of its own has to be made for it.
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { signToken } from '../autorisaties/clients.ts'
import type { Credential } from '../autorisaties/credentials.ts'
import type { Config } from '../config.ts'
import { generateSecret, type SecretBox } from '../core/secret-box.ts'
import type { Database } from '../database/database.ts'
import type { openStores } from '../documenten/storage/choose.ts'
import type { Answers } from '../overnemen/answers.ts'
import { openServices } from '../services/services.ts'

/** @returns what answers a GET with all rights */
export async function openOwnAnswers(
  config: Config,
  database: Database,
  box: SecretBox,
  stores: ReturnType<typeof openStores>,
  log: Logger,
): Promise<{ answers: Answers; close(): Promise<void> }> {
  const [clientId, secret] = [randomUUID(), generateSecret()] // known to nobody else, and gone with this process
  const credential: Credential = {
    secrets: [secret],
    uses: [],
    applicatieUuid: randomUUID(),
    applicatieLabel: 'overnemen --controleer',
    alleAutorisaties: true,
    alleenGereedVoorPublicatie: false,
    autorisaties: [],
  }
  const services = openServices(database, box, config, log)
  const { buildApp } = await import('../app.ts') // here: the other takeovers start without the routes
  const app = await buildApp({
    config,
    settings: { refresh: async () => {} },
    database,
    ...stores,
    box,
    services,
    log,
    issuers: { find: async () => undefined, withNewKeys: async () => undefined, close: async () => {} },
    credentials: {
      find: async (id) => (id === clientId ? credential : undefined),
      findOfIssuer: async () => undefined,
      used: () => {},
      changed: () => {},
      close: async () => {},
    },
  })
  return {
    async answers(path) {
      const response = await app.inject({
        url: path,
        headers: {
          authorization: `Bearer ${signToken(clientId, secret)}`,
          host: 'localhost',
          'accept-crs': 'EPSG:4326',
        },
      })
      const isJson = String(response.headers['content-type'] ?? '').includes('json')
      return { status: response.statusCode, body: isJson ? response.json() : undefined }
    },
    async close() {
      await app.close()
      await services.close()
    },
  }
}
