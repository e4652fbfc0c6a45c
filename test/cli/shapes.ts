// What each command prints with `--json`: one value of this shape, alone on standard output.
import Type, { type TProperties, type TSchema } from 'typebox'

const [S, N, B] = [Type.String(), Type.Number(), Type.Boolean()]
const O = (properties: TProperties) => Type.Object(properties, { additionalProperties: false })
const A = Type.Array
const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()])
const maybe = Type.Optional
const ANY = Type.Unknown()
const counts = Type.Record(Type.String(), Type.Number())
const of = (...words: string[]) => Type.Union(words.map((word) => Type.Literal(word)))

const password = O({ username: S, password: S })
const secret = O({ clientId: S, secret: S })
const unlocked = O({ username: S, waits: Type.Literal(false) })
const imported = Type.Object({
  ...{ url: S, statusUrl: S, uploadUrl: S, reportUrl: S, status: S, total: N, processed: N },
  ...{ processedSuccessfully: N, processedInvalid: N, queuePosition: orNull(N), reason: orNull(S) },
})
const watched = Type.Intersect([imported, Type.Object({ reasons: maybe(A(ANY)) })])
const takeover = { uuid: S, kind: S, source: S, trial: B, status: S, round: N }
const round = O({ ...takeover, steps: A(Type.Object({ name: S, seen: N, written: N })), faults: A(ANY) })
const compared = O({ compared: A(ANY), types: A(ANY), answers: A(ANY), differences: N, found: A(ANY) })
const takenOver = Type.Union([round, compared])
const going = {
  ...{ id: S, what: S, startedBy: orNull(S), since: S, done: orNull(N), total: orNull(N), unit: orNull(S) },
  kind: of('import', 'takeover', 'resend', 'reseal', 'storage', 'job'),
}
const pauses = O({ all: orNull(S), external: orNull(S), subscribers: N, waiting: N })
const documents = O({ count: N, bytes: N })

export const SHAPES: Record<string, TSchema> = {
  'organisation add': O({ uuid: S, rsin: S, schema: S, hosts: A(S) }),
  'organisation list': A(Type.Object({ rsin: S, name: S, state: S })),
  'organisation set': O({ rsin: S, changed: A(S) }),
  'organisation suspend': O({ rsin: S, state: S, reason: S }),
  'organisation resume': O({ rsin: S, state: S, hasMoved: B }),
  'organisation reseal': O({ resealed: N, key: S }),
  'organisation move': Type.Union([O({ tables: N, heldMs: N, left: S }), O({ hasMoved: B })]),
  'organisation export': O({ rows: N, documents: N, bytes: N, missing: N, keys: maybe(S) }),
  'organisation account create': Type.Union([password, O({ username: S })]),
  'organisation account list': A(
    O({ username: S, name: S, email: orNull(S), active: B, centre: B, totp: B, roles: A(ANY) }),
  ),
  'organisation account set': O({ username: S, changed: A(S), left: A(S) }),
  'organisation account give': O({ username: S, rsin: S, role: S, active: B }),
  'organisation account take': O({ username: S, rsin: S, had: B, left: B }),
  'organisation account reset-password': Type.Union([password, O({ username: S })]),
  'organisation account unlock': unlocked,
  'organisation account remove': O({ username: S, removed: B, left: A(S) }),
  'organisation remove': O({
    ...{ rsin: S, removedAt: S, tables: A(O({ name: S, rows: N })), documents },
    left: O({ schemas: N, documents: N, directories: N }),
  }),
  where: O({
    ...{ database: maybe(S), hosts: maybe(A(S)), schema: maybe(S), dataDir: maybe(S), organisation: maybe(S) },
    ...{ settings: A(O({ env: S, value: maybe(S), from: S })), ignored: A(S) },
  }),
  migrate: O({
    ...{ dryRun: B, applied: maybe(A(S)), pending: maybe(A(S)), feed: maybe(S), blankTexts: maybe(A(ANY)) },
    organisations: maybe(A(Type.Object({ rsin: S, name: S, fault: maybe(S) }))),
  }),
  anonymise: O({ tables: A(O({ name: S, rows: N, replaced: counts })), leftOut: Type.Record(S, S), files: N }),
  'client create': Type.Union([secret, O({ clientId: S })]),
  'client rotate': Type.Union([secret, O({ clientId: S })]),
  'client revoke': O({ clientId: S, revoked: N }),
  'client key': O({ clientId: S, changed: ANY }),
  'client list': A(Type.Object({ clientId: S, label: S, heeftAlleAutorisaties: B, geheimen: A(ANY) })),
  token: O({ token: S }),
  'signing-key rotate': O({ kid: S }),
  'notifications register-channels': A(O({ naam: S, gelukt: B, reden: S })),
  'notifications test': A(O({ stage: S, outcome: S, detail: S })),
  'notifications resend': O({ resent: N, deliveries: N, from: maybe(S), to: maybe(S) }),
  'notifications pause': pauses,
  'notifications resume': pauses,
  'abonnement list': A(
    O({
      ...{ uuid: S, status: S, reason: orNull(S), callback: S, waiting: N, oldestWaiting: orNull(S) },
      ...{ failed: N, failures: N, lastSuccess: orNull(S) },
    }),
  ),
  'abonnement pause': O({ uuid: S, paused: B }),
  'abonnement resume': O({ uuid: S, resumed: B, missed: B }),
  'abonnement replay': Type.Union([
    O({ uuid: S, stopped: B }),
    O({ uuid: S, messages: N, more: B, since: orNull(S), dryRun: B }),
  ]),
  'setup apply': O({
    ...{ dryRun: B, services: A(S), notifications: B, tokenIssuers: A(S), applicaties: A(S) },
    ...{ kept: A(S), removed: A(S) },
  }),
  'storage migrate': Type.Union([
    O({ dryRun: Type.Literal(true), to: S, from: A(O({ backend: S, documents: N, bytes: N })), writers: A(ANY) }),
    O({ faults: A(ANY), dryRun: Type.Literal(false), moved: N, bytes: N, failed: N }),
  ]),
  'storage check': O({
    findings: A(O({ kind: of('orphan', 'missing', 'size', 'damaged'), backend: S, key: S, repaired: B })),
    ...{ documents: N, stored: N, foreign: N, recent: N, unfinished: N, found: N, repaired: N, removed: N },
    ...{ relinked: N, noted: N, back: N, refused: A(S) },
  }),
  'keys list': A(O({ id: S, here: B, seals: B, retired: B, processes: N, without: N, sealed: counts })),
  'keys add': O({ id: S, key: S }),
  'keys reseal': O({ dryRun: B, key: S, left: A(O({ key: orNull(S), place: S, count: N })) }),
  'keys retire': O({ id: S, retired: Type.Literal(true) }),
  'account create': Type.Union([password, O({ username: S })]),
  'account reset-password': Type.Union([password, O({ username: S })]),
  'account unlock': unlocked,
  'account invite': O({ username: S, link: S }),
  'account provider-moved': O({ moved: N }),
  'account list': A(
    O({
      ...{ username: S, name: S, role: S, active: B, failedAttempts: N, waits: B, password: B, centre: ANY },
      ...{ totp: B, oidc: ANY, lastSignIn: orNull(S) },
    }),
  ),
  'overnemen open-zaak': takenOver,
  'overnemen api': takenOver,
  'overnemen zaakstroom': takenOver,
  'overnemen open-notificaties': O({ kanalen: A(S), abonnementen: A(ANY) }),
  'overnemen status': A(round),
  'overnemen stop': O({ uuid: S, stopped: Type.Literal(true), round: N }),
  'overnemen rapport': O({ file: S, rows: N }),
  'overnemen omschakelen': O({ switched: Type.Literal(true), removed: N }),
  'overnemen terugweg': A(O({ wat: S, aantal: N, text: S })),
  'overnemen terugspelen': O({ since: S, counts: A(Type.Object({ state: S })), never: A(O({ wat: S, text: S })) }),
  'overnemen oefenen': O({
    ...{ source: S, round: counts, refused: A(O({ kind: S, code: S, count: N, example: S })) },
    switch: O({ seconds: N, messagesThrownAway: N, warnings: A(S) }),
    wayBack: maybe(O({ seconds: N, compared: N, states: counts, never: A(S) })),
  }),
  'catalogus export': O({ file: S, bytes: N }),
  'catalogus import': O({ dryRun: B, made: counts, urls: A(S), changes: A(ANY), known: A(ANY) }),
  'import prepare': O({
    ...{ file: S, files: N, bytes: N, takenOver: N, leftOut: N, refused: N },
    ...{ list: maybe(S), dossiers: maybe(S), toComplete: A(S) },
  }),
  'import run': watched,
  'import list': A(imported),
  'import watch': watched,
  'import cancel': imported,
  'import delete': O({ deleted: S }),
  'jobs list': A(O({ ...going, state: of('runs', 'waits', 'paused') })),
  'jobs follow': O({ ...going, state: of('done', 'failed', 'stopped', 'ended') }),
  'jobs stop': O({ kind: S, id: S, stopped: Type.Literal(true) }),
  copy: O({ applied: counts, found: maybe(Type.Record(S, ANY)) }),
  history: O({ operations: N, ok: N, fail: N, info: N, anomalies: A(ANY) }),
  'selectielijst import': Type.Object({ dryRun: B, datum: S }),
  'selectielijst show': orNull(Type.Object({ datum: S, bestanden: A(S) })),
  'selectielijst remove': O({ removed: N }),
}
