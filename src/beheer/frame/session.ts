// Sessions: who is signed in. The cookie holds a random value, the database its hash: a session that is taken away there has
// ended on every process with the next request.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../../core/actor.ts'
import type { Vertrouwelijkheidaanduiding } from '../../core/vertrouwelijkheidaanduiding.ts'
import type { Database, Db, Reader } from '../../database/database.ts'
import { headerText } from '../../http/header.ts'
import type { Member, Members } from '../../organisations/accounts.ts'

/** From low to high; `privacy` looks as a viewer does, and alone sees who looked: those who run the service are looked at too. */
export const ROLLEN = ['viewer', 'privacy', 'operator', 'administrator'] as const
export type Rol = (typeof ROLLEN)[number]

/**
 * What a page asks: a role, or nothing. A higher role may do all that a lower one may, but for what asks `privacy`. `hersteller` stands
 * apart: an account has it beside its role, and no role brings it along.
 */
export type RequiredRole = Rol | 'hersteller' | 'iedereen'

declare module 'fastify' {
  interface FastifyContextConfig {
    rol?: RequiredRole
  }
  interface FastifyRequest {
    /** Who is signed in; undefined on the few pages for everybody. */
    beheerder: Administrator | undefined
    session: Session | undefined
  }
  interface FastifyInstance {
    /** Who of the centre has a role where; undefined in an installation with one organisation. */
    members: Members | undefined
  }
}

export type Administrator = {
  id: number
  uuid: string
  gebruikersnaam: string
  naam: string
  rol: Rol
  /** Has the role hersteller too. */
  mayRepair: boolean
  maxVertrouwelijkheidaanduiding: Vertrouwelijkheidaanduiding
  /** One-time codes are set up. */
  totp: boolean
  /** False: signs in with OpenID Connect only. */
  wachtwoord: boolean
  /** Somebody else knows the password: it is replaced before anything else. */
  passwordGiven: boolean
  /** As the registry has it, of an account of the centre; undefined: an account of this organisation. */
  centre: Member | undefined
}
export type Notice = {
  soort: 'goed' | 'fout' | 'info'
  tekst: string
  /** Secrets of clients that the next page shows, or of which it only uses the newest. */
  geheimen?: { clientId: string; toon: boolean }[]
  /** What that page alone may show, encrypted (`verzegel`). */
  verzegeld?: string
}
/** `path` is of the page that says it, counted from /beheer; `*`: the first one, whichever it is. */
type KeptNotice = Notice & { key: string; path: string }
export type Session = {
  id: number
  uuid: string
  step: 'totp' | 'signed-in'
  /** Its owner showed again who he is, so short ago that a form may begin that changes how one signs in. */
  isFresh: boolean
  /** The same, with time to fill in that form. */
  isConfirmed: boolean
  oidc: OidcSession | null
  /** When it ends at the latest. */
  expiresAt: string
  /** What this page is to say. */
  notice: KeptNotice | null
  beheerder: Administrator
}

/** What a session by OpenID Connect knows of the one at the provider. `idToken` is sealed. */
export type OidcSession = { issuer: string; sid: string | null; idToken: Buffer | null }

/** How long a confirmation counts before a form is opened, and until it is sent. */
const FRESH = '10 minutes'
const CONFIRMED = '30 minutes'
const IDLE = '30 minutes'
const LIFETIME = '12 hours'
const TOTP_LIFETIME = '10 minutes'

/** The session of this request, when it has one that still counts. */
export async function findSession(request: FastifyRequest): Promise<Session | undefined> {
  const value = request.cookies[cookieName(request)]
  if (!value) return undefined
  const { own } = request.server
  const row = await own.sessions.read(sha256(value), !isPoll(request))
  if (!row) return undefined
  const centre = row.stamp === null ? undefined : await memberHolding(request, row.account_uuid, row.stamp)
  if (row.stamp !== null && !centre) {
    await own.sessions.delete(sha256(value))
    return undefined
  }
  return {
    id: row.id,
    uuid: row.uuid,
    step: row.step,
    expiresAt: row.expires_at,
    isFresh: row.fresh,
    isConfirmed: row.confirmed,
    oidc: row.oidc_issuer === null ? null : { issuer: row.oidc_issuer, sid: row.oidc_sid, idToken: row.oidc_id_token },
    notice: noticeFor(request, row.notices),
    beheerder: {
      id: row.account_id,
      uuid: row.account_uuid,
      gebruikersnaam: row.gebruikersnaam,
      naam: row.naam || row.gebruikersnaam,
      rol: row.rol,
      mayRepair: row.may_repair,
      maxVertrouwelijkheidaanduiding: row.max,
      totp: row.totp,
      wachtwoord: row.wachtwoord,
      passwordGiven: row.password_given,
      centre,
      ...(centre && ofCentre(centre)),
    },
  }
}

/** What a page asks by itself, without anybody at the desk. */
const isPoll = ({ headers }: FastifyRequest) =>
  headers['x-ververs'] !== undefined || headers.accept === 'text/event-stream'

/** Whether the one who is signed in may see the page about all organisations. False in an installation with one organisation. */
export const isOfTheCentre = ({ beheerder }: FastifyRequest): boolean => beheerder?.centre?.seesCentre ?? false

/** A session that seems to have ended may be newer than what this process knows: then it asks once. */
async function memberHolding({ server }: FastifyRequest, uuid: string, stamp: string): Promise<Member | undefined> {
  const { members } = server
  const found = members?.holding(uuid, stamp)
  if (found || !members) return found
  await members.refresh().catch(() => {})
  return members.holding(uuid, stamp)
}

/** What the registry says of an account counts here at once. */
const ofCentre = ({ totp, passwordGiven, membership }: Member) => {
  const { rol, mayRepair, maxVertrouwelijkheidaanduiding } = membership
  return { totp, passwordGiven, wachtwoord: true, rol: rol as Rol, mayRepair, maxVertrouwelijkheidaanduiding }
}

type Sql = Pick<Database, 'sql'>

/** The session with this key. @param isSeen it counts on for a while */
export async function readSession({ sql }: Sql, key: Buffer, isSeen: boolean) {
  const [row] = await sql<
    {
      id: number
      uuid: string
      step: Session['step']
      expires_at: string
      fresh: boolean
      confirmed: boolean
      oidc_issuer: string | null
      oidc_sid: string | null
      oidc_id_token: Buffer | null
      notices: KeptNotice[] | null
      account_id: number
      account_uuid: string
      gebruikersnaam: string
      naam: string
      rol: Rol
      may_repair: boolean
      max: Vertrouwelijkheidaanduiding
      totp: boolean
      wachtwoord: boolean
      password_given: boolean
      stamp: string | null
    }[]
  >`
    with gevonden as (
      select s.*, s.seen_at < now() - interval '1 minute' as oud from beheer_session s
      where key = ${key} and expires_at > now() and seen_at > now() - ${IDLE}::interval
    ), gezien as (
      update beheer_session s set seen_at = now() from gevonden g where s.id = g.id and g.oud and ${isSeen}
    )
    select g.id, g.uuid, g.step, g.expires_at, coalesce(g.confirmed_at > now() - ${FRESH}::interval, false) as fresh,
      coalesce(g.confirmed_at > now() - ${CONFIRMED}::interval, false) as confirmed, g.oidc_issuer, g.oidc_sid, g.oidc_id_token,
      (select jsonb_agg(m order by n) from jsonb_array_elements(g.notices) with ordinality x(m, n)
        where (m->>'at')::float8 > extract(epoch from now()) - ${NOTICE_SECONDS}::int) as notices, a.id as account_id, a.uuid as account_uuid, a.gebruikersnaam, a.naam, a.rol, a.may_repair,
      a.max_vertrouwelijkheidaanduiding as max, a.totp_since is not null as totp, a.password_hash is not null as wachtwoord,
      a.password_hash is not null and a.password_given as password_given, a.centre_stamp as stamp
    from gevonden g join beheer_account a on a.id = g.account_id and a.actief`
  return row
}

/** How long a page may take to be opened. */
const NOTICE_SECONDS = 5 * 60
const NOTICES = 20

/** The oldest notice for this page. What a script fetches to refresh a part shows none, so it takes none. */
function noticeFor(request: FastifyRequest, notices: KeptNotice[] | null): KeptNotice | null {
  if (notices === null) return null
  if (!['document', undefined].includes(request.headers['sec-fetch-dest'] as string | undefined)) return null
  const path = noticePath(request.originalUrl.replace(/^\/beheer/, ''))
  return notices.find((one) => one.path === path || one.path === '*') ?? null
}

const noticePath = (url: string) => url.split(/[?#]/, 1)[0] || '/'
const keep = (path: string, notice: Notice): KeptNotice => ({ ...notice, key: randomUUID(), path })

/** Which of these sessions still count. Asking is no sign of life of whoever is signed in. */
export async function liveSessions(
  { sql }: Pick<Reader, 'sql'>,
  ids: number[],
  members: Members | undefined,
): Promise<Set<number>> {
  const rows = await sql<{ id: number; uuid: string; stamp: string | null }[]>`
    select s.id, a.uuid, a.centre_stamp as stamp from beheer_session s join beheer_account a on a.id = s.account_id and a.actief
    where s.id = any(${ids}::bigint[]) and s.step = 'signed-in' and s.expires_at > now()
      and s.seen_at > now() - ${IDLE}::interval`
  return new Set(rows.filter(({ uuid, stamp }) => stamp === null || members?.holding(uuid, stamp)).map(({ id }) => id))
}

/**
 * Begins a session under a new value, in place of the one that the browser had.
 * @param how.notice what its first page says
 * @param how.until the end of the session elsewhere that it goes on from: in place of 12 hours, and of the session that they have here already
 * @param how.isConfirmed its owner just showed who he is, beside signing in
 */
export async function startSession(
  request: FastifyRequest,
  reply: FastifyReply,
  accountId: number,
  {
    step = 'signed-in',
    notice = null,
    until = null,
    isConfirmed = false,
    oidc = null,
  }: {
    step?: Session['step']
    notice?: Notice | null | undefined
    until?: string | null | undefined
    isConfirmed?: boolean
    oidc?: OidcSession | null | undefined
  } = {},
): Promise<void> {
  await endSession(request, reply)
  const value = randomBytes(32).toString('base64url')
  const browser = headerText(request, 'user-agent').slice(0, 300).toWellFormed()
  const notices = notice && [keep('*', notice)]
  const about = { address: request.ip, browser, isConfirmed, oidc }
  const session = { key: sha256(value), accountId, step, until, notices, ...about }
  const made = await request.server.own.sessions.insert(session)
  if (request.session) request.session = { ...request.session, ...made, step }
  reply.setCookie(cookieName(request), value, cookieOptions(request))
}

/** The owner of this session showed again who he is: it goes on under a new value, so that a copy of the cookie of before is worth nothing. */
export async function confirmSession(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const value = randomBytes(32).toString('base64url')
  await request.server.own.sessions.confirm(sessionOf(request).id, sha256(value))
  reply.setCookie(cookieName(request), value, cookieOptions(request))
}

/** @param id of the session; `key`: its new one */
export async function markConfirmed({ sql }: Sql, id: number, key: Buffer): Promise<void> {
  await sql`update beheer_session set key = ${key}, confirmed_at = now() where id = ${id}`
}

type NewSession = {
  isConfirmed: boolean
  oidc: OidcSession | null
  key: Buffer
  accountId: number
  step: Session['step']
  until: string | null
  notices: KeptNotice[] | null
  address: string
  browser: string
}

/** Removes sessions that no longer count on the way. */
export async function insertSession(
  { sql }: Sql,
  { key, accountId, step, until, notices, address, browser, isConfirmed, oidc }: NewSession,
): Promise<{ id: number; uuid: string }> {
  await sql`delete from beheer_session where expires_at < now() or seen_at < now() - ${IDLE}::interval`
  // Those that went on from one another all end at one moment, by which the one of before is known.
  if (until !== null) await sql`delete from beheer_session where account_id = ${accountId} and expires_at = ${until}`
  const [row] = await sql<[{ id: number; uuid: string }]>`
    insert into beheer_session (key, account_id, step, confirmed_at, oidc_issuer, oidc_sid, oidc_id_token, expires_at, address, browser, notices)
    values (${key}, ${accountId}, ${step}, case when ${isConfirmed} then now() end, ${oidc?.issuer ?? null}, ${oidc?.sid ?? null},
      ${oidc?.idToken ?? null}, coalesce(${until}::timestamptz, now() + ${step === 'totp' ? TOTP_LIFETIME : LIFETIME}::interval),
      ${address}, ${browser}, 
      (select jsonb_agg(m || jsonb_build_object('at', extract(epoch from now())))
        from jsonb_array_elements(${notices && JSON.stringify(notices)}::text::jsonb) m)) returning id, uuid`
  return row
}

/** @param key hash of the value in the cookie */
export async function deleteSession({ sql }: Sql, key: Buffer): Promise<void> {
  await sql`delete from beheer_session where key = ${key}`
}

/** Signs this browser out; harmless when it was not signed in. */
export async function endSession(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const value = request.cookies[cookieName(request)]
  if (!value) return
  await request.server.own.sessions.delete(sha256(value))
  reply.clearCookie(cookieName(request), cookieOptions(request))
}

/** What a page is to say, once. Tabs of one session do not take each other's. @param path counts from /beheer */
export async function addNotice(request: FastifyRequest, path: string, notice: Notice): Promise<void> {
  if (request.session) await request.server.own.sessions.addNotice(request.session.id, keep(noticePath(path), notice))
}

/** Keeps the newest of them, and none for longer than five minutes. @param id of the session */
export async function insertNotice({ sql }: Sql, id: number, notice: KeptNotice): Promise<void> {
  await sql`
    update beheer_session set notices = (
      select jsonb_agg(m order by n) from (
        select m, n from jsonb_array_elements(coalesce(notices, '[]')
          || jsonb_build_array(${JSON.stringify(notice)}::text::jsonb || jsonb_build_object('at', extract(epoch from now()))))
          with ordinality x(m, n) order by n desc limit ${NOTICES}) newest
      where (m->>'at')::float8 > extract(epoch from now()) - ${NOTICE_SECONDS}::int)
    where id = ${id}`
}

/** The page of this request has said it. */
export async function forgetNotice(request: FastifyRequest, { key }: { key: string }): Promise<void> {
  await request.server.own.sessions.deleteNotice(sessionOf(request).id, key)
}

/**
 * @param id of the session
 * @param key of the notice
 */
export async function deleteNotice({ sql }: Sql, id: number, key: string): Promise<void> {
  await sql`
    update beheer_session set notices = (
      select jsonb_agg(m order by n) from jsonb_array_elements(notices) with ordinality x(m, n) where m->>'key' <> ${key})
    where id = ${id} and notices is not null`
}

/** Ends sessions of an account: one, or all but one (`behalve`). Answers how many. */
export async function endSessions(
  db: Db,
  accountId: number,
  which: { uuid: string } | { behalve: number | null },
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('beheerSession')
    .where('accountId', '=', accountId)
    .$if('uuid' in which, (query) => query.where('uuid', '=', (which as { uuid: string }).uuid))
    .$if('behalve' in which && which.behalve !== null, (query) =>
      query.where('id', '!=', (which as { behalve: number }).behalve),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** A text for the next page of this session alone: the session keeps it encrypted until then. */
export function seal(request: FastifyRequest, text: string): string {
  return request.server.parts.box.seal(text, owner(request)).toString('base64')
}

/** What the change before this page left for it; undefined when another page came first. */
export function unseal(request: FastifyRequest): string | undefined {
  const sealed = request.session?.notice?.verzegeld
  return sealed && request.server.parts.box.open(Buffer.from(sealed, 'base64'), owner(request))
}

/** What `seal` made for this session; undefined for whatever else somebody sends. */
export function openSealed(request: FastifyRequest, sealed: string): string | undefined {
  try {
    return request.server.parts.box.open(Buffer.from(sealed, 'base64'), owner(request))
  } catch {
    return undefined
  }
}

const owner = (request: FastifyRequest) => `session:${sessionOf(request).uuid}`

/** Who is signed in, on a page that is not for everybody. */
export function signedIn({ beheerder }: FastifyRequest): Administrator {
  if (!beheerder) throw new Error('nobody is signed in')
  return beheerder
}

/** The session of who is signed in, on a page that is not for everybody. */
export function sessionOf({ session }: FastifyRequest): Session {
  if (!session) throw new Error('there is no session')
  return session
}

/** Whether the one who is signed in has this role, or a higher one. */
export function hasRole(administrator: Administrator | undefined, rol: RequiredRole): boolean {
  if (rol === 'iedereen') return true
  if (rol === 'hersteller') return administrator?.mayRepair ?? false
  if (rol === 'privacy') return administrator?.rol === 'privacy'
  return administrator !== undefined && ROLLEN.indexOf(administrator.rol) >= ROLLEN.indexOf(rol)
}

/** The one who is signed in, as the API's functions and their audit records know him. */
export function beheerActor(request: FastifyRequest): Actor {
  const { gebruikersnaam, naam, maxVertrouwelijkheidaanduiding } = signedIn(request)
  return {
    clientId: '',
    userId: gebruikersnaam,
    userRepresentation: naam,
    applicatieUuid: '',
    applicatieLabel: 'Beheer',
    alleAutorisaties: true,
    upTo: maxVertrouwelijkheidaanduiding,
    alleenGereedVoorPublicatie: false,
    autorisaties: [],
    base: request.base,
    toelichting: '',
    logrecordId: '',
    origin: null,
  }
}

const isSecure = (request: FastifyRequest) => request.base.startsWith('https:')
// The prefix makes browsers keep it to this host and to https.
const cookieName = (request: FastifyRequest) => (isSecure(request) ? '__Host-zaakstroom' : 'zaakstroom')

/** For every cookie of the pages. */
export function cookieOptions(request: FastifyRequest) {
  return { path: '/', httpOnly: true, sameSite: 'lax' as const, secure: isSecure(request) }
}

const sha256 = (value: string) => createHash('sha256').update(value).digest()
