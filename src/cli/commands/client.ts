// client: the applications that may use the APIs, and their secrets.
import type { Command } from 'commander'
import { listClients, revokeSecret, rotateSecret } from '../../autorisaties/client-secrets.ts'
import { createClient } from '../../autorisaties/clients.ts'
import { saveClientKeys } from '../../autorisaties/token-endpoint/client-keys.ts'
import { systemActor } from '../../core/access.ts'
import { mutator } from '../../core/mutate.ts'
import { generateSecret, isShort } from '../../core/secret-box.ts'
import { ownAddress } from '../../http/links.ts'
import { changeDatabase, databaseBox, withDatabase } from '../database.ts'
import { readNumber, YES } from '../options.ts'
import { confirm, deliverOnce, OUT, print, readSecret, tellFile } from '../terminal.ts'
import { UsageError } from '../usage.ts'

const SHORT_SECRET = 'Note: a secret of fewer than 32 characters is easy to guess.'

export function addTo(program: Command): void {
  const client = program.command('client').description('applications that may use the APIs')
  client
    .command('create')
    .description('make a client; prints its secret once')
    .requiredOption('--id <id>', 'client id, at most 50 characters')
    .option('--label <label>', 'name for people (default: the id)')
    .option('--all-rights', 'heeftAlleAutorisaties', false)
    .option('--secret-stdin', 'read the secret from standard input instead of making one')
    .option(...OUT)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  openssl rand -hex 32 | zaakstroom client create --id portaal --label Portaal --all-rights --secret-stdin',
    )
    .action(
      async (options: {
        id: string
        label?: string
        allRights: boolean
        secretStdin?: boolean
        json?: boolean
        out?: string
      }) => {
        if (options.id.length > 50) throw new UsageError('--id has at most 50 characters')
        const secret = options.secretStdin ? await readSecret() : generateSecret()
        await changeDatabase(async (database, config) => {
          const box = await databaseBox(database, config)
          const made = {
            id: options.id,
            label: options.label ?? options.id,
            alleAutorisaties: options.allRights,
            secret,
          }
          const text = `Client ${options.id} made. Its secret, shown only now:\n${secret}`
          const last = options.secretStdin ? undefined : deliverOnce(options, { clientId: options.id, secret }, text)
          await createClient(database, box, made, config, last)
        })
        if (isShort(secret)) console.error(SHORT_SECRET)
        const line = `Client ${options.id} made.`
        if (options.secretStdin) print(options, { clientId: options.id }, line)
        else tellFile(options, line)
      },
    )

  client
    .command('rotate')
    .description('give a client a new secret, printed once; the old one is taken a while longer')
    .requiredOption('--id <id>', 'client id')
    .option('--grace-hours <hours>', 'how long the old secret is still taken', '24')
    .option('--secret-stdin', 'read the secret from standard input instead of making one')
    .option(...OUT)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom client rotate --id portaal --grace-hours 48 --out portaal.secret')
    .action(
      async (options: { id: string; graceHours: string; secretStdin?: boolean; json?: boolean; out?: string }) => {
        const graceHours = readNumber(options.graceHours, '--grace-hours', 0, 8760, { whole: false })
        const secret = options.secretStdin ? await readSecret() : generateSecret()
        const line = `Client ${options.id} has a new secret`
        const last = options.secretStdin
          ? async () => {}
          : deliverOnce(options, { clientId: options.id, secret }, `${line}, shown only now:\n${secret}`)
        await changeDatabase(async (database, config) => {
          const box = await databaseBox(database, config)
          await mutator(database)(systemActor('client rotate', ownAddress(config)), async (m) => {
            await rotateSecret(m, box, options.id, { graceHours, secret })
            await last()
          })
        })
        if (isShort(secret)) console.error(SHORT_SECRET)
        if (options.secretStdin) print(options, { clientId: options.id }, `${line}.`)
        else tellFile(options, `${line}.`)
      },
    )
  client
    .command('revoke')
    .description('take the secrets of a client away: its tokens are refused at once')
    .requiredOption('--id <id>', 'client id')
    .option('--old', 'only the older ones, after a rotation', false)
    .option(...YES)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom client revoke --id portaal')
    .action(async (options: { id: string; old: boolean; yes?: boolean; json?: boolean }) => {
      await confirm(
        options,
        `Client ${options.id} loses its ${options.old ? 'older secrets' : 'secrets, and is refused at once'}.`,
      )
      const revoked = await changeDatabase((database, config) =>
        mutator(database)(systemActor('client revoke', ownAddress(config)), (m) =>
          revokeSecret(m, options.id, options.old ? 'oud' : 'alle'),
        ),
      )
      print(options, { clientId: options.id, revoked }, `Client ${options.id} lost ${revoked} secret(s).`)
    })
  client
    .command('key')
    .description('give a client public keys, with which it signs for the token endpoint in place of a secret')
    .requiredOption('--id <id>', 'client id')
    .option('--jwks-stdin', 'read a key (JWK) or a set of keys (JWKS) from standard input')
    .option('--jwks-url <url>', 'address of its set of keys')
    .option('--remove', 'take its keys away')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  zaakstroom client key --id portaal --jwks-url https://portaal.example.nl/jwks.json',
    )
    .action(
      async (options: { id: string; jwksStdin?: boolean; jwksUrl?: string; remove?: boolean; json?: boolean }) => {
        if ([options.jwksStdin, options.jwksUrl, options.remove].filter(Boolean).length !== 1)
          throw new UsageError('give one of --jwks-stdin, --jwks-url and --remove')
        const input = options.jwksUrl
          ? { jwksUrl: options.jwksUrl }
          : options.jwksStdin
            ? { jwks: parsed(await readSecret()) }
            : undefined
        const changed = await changeDatabase((database, config) =>
          mutator(database)(systemActor('client key', ownAddress(config)), (m) => saveClientKeys(m, options.id, input)),
        )
        const text = options.remove ? 'has no keys' : 'has these keys'
        print(options, { clientId: options.id, changed }, `Client ${options.id} ${text}.`)
      },
    )
  client
    .command('list')
    .description('the clients, their rights and how many secrets they have')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  zaakstroom client list --json')
    .action(async (options: { json?: boolean }) => {
      const clients = await withDatabase((database) => listClients(database.db))
      const line = ({
        clientId,
        label,
        heeftAlleAutorisaties,
        aantalAutorisaties,
        geheimen,
      }: (typeof clients)[number]) =>
        `${clientId}\t${label}\t${heeftAlleAutorisaties ? 'all rights' : `${aantalAutorisaties} rights`}\t${geheimen.length} secrets`
      print(options, clients, clients.map(line).join('\n') || 'There are no clients.')
    })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError('standard input holds no JSON')
  }
}
