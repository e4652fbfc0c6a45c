// Passkeys (WebAuthn): keys on a device, which that unlocks by a finger, face or PIN, so that one counts as password and code together.
// They are for accounts with a password here: who comes by a provider ends with his group there, and accounts of the centre are known at
// several addresses, where a passkey is of one. A challenge stands in a sealed cookie, and counts once: when it is older than the last use
// of the passkey it is refused.

import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { countAttempts } from '../../autorisaties/attempts.ts'
import { notFound } from '../../core/problem.ts'
import type { Database, ReadDb } from '../../database/database.ts'
import { networkOf } from '../../http/network.ts'
import { isUuid } from '../../lib/uuid.ts'
import { mutateFromPage } from '../frame/change.ts'
import { formFaultsOf, formProblem, readForm } from '../frame/form.ts'
import { basePath } from '../frame/keyset-list.ts'
import { redirectWith } from '../frame/page.ts'
import { confirmSession, cookieOptions, signedIn } from '../frame/session.ts'
import { t } from '../language/language.ts'
import type { SignedIn } from './accounts.ts'
import { everyone, logIn, ownPath } from './sign-in-steps.ts'

type Sql = Pick<Database, 'sql'>
type Passkey = {
  id: number
  accountId: number
  credential: string
  publicKey: Buffer
  counter: number
  transports: string[]
}
type Challenge = { challenge: string; purpose: string; at: string }

const MINUTES = 5
/** Of one account. */
const MOST = 20
/** EdDSA, ES256 and RS256, which devices have. */
const ALGORITHMS = [-8, -7, -257]
const OWNER = 'passkey challenge'
const PATH = '/mijn-account/passkeys'
const viewing = { access: 'beheer', rol: 'viewer' } as const
const changing = { ...viewing, isSignIn: true } as const
const confirming = { ...viewing, withoutTotp: true } as const

/** What the browser made of the device, as JSON. */
const Answer = Type.String({ minLength: 2, maxLength: 12_000 })
const NewPasskey = Type.Object({ naam: Type.String({ minLength: 1, maxLength: 60 }), antwoord: Answer })
const Answered = Type.Object({ antwoord: Answer, verder: Type.Optional(Type.String({ maxLength: 2000 })) })

/** Whether who is signed in may have them. */
export const mayHavePasskeys = (request: FastifyRequest): boolean =>
  signedIn(request).wachtwoord && signedIn(request).centre === undefined

export const listPasskeys = (db: ReadDb, accountId: number) =>
  db
    .selectFrom('beheerPasskey')
    .select(['uuid', 'name', 'createdAt', 'usedAt'])
    .where('accountId', '=', accountId)
    .orderBy('id')
    .limit(MOST)
    .execute()

/** The moment by the clock of all processes, with which a challenge is made. */
export async function challengeMoment({ sql }: Sql): Promise<string> {
  const [row] = await sql<[{ at: string }]>`select clock_timestamp()::text as at`
  return row.at
}

/** The passkey of an account that may sign in. */
export async function findPasskey({ sql }: Sql, credential: string): Promise<(Passkey & SignedIn) | undefined> {
  const [row] = await sql<(Passkey & SignedIn)[]>`
    select p.id, p.account_id as "accountId", p.credential, p.public_key as "publicKey", p.counter, p.transports, a.uuid, a.gebruikersnaam,
      a.totp_since is not null as totp
    from beheer_passkey p join beheer_account a on a.id = p.account_id
    where p.credential = ${credential} and a.actief and a.password_hash is not null and a.centre_stamp is null`
  return row
}

/** Notes the use of a passkey. @returns false when the challenge of that was used before, or is too old */
export async function usePasskey({ sql }: Sql, id: number, counter: number, at: string): Promise<boolean> {
  const { count } = await sql`
    update beheer_passkey set counter = ${counter}, used_at = clock_timestamp()
    where id = ${id} and used_at < ${at}::timestamptz and ${at}::timestamptz > clock_timestamp() - make_interval(mins => ${MINUTES})`
  return count === 1
}

export function registerPasskeys(app: FastifyInstance): void {
  const attempts = app.each(() =>
    countAttempts({
      limit: 20,
      detail: t('Vanaf dit adres is te vaak geprobeerd in te loggen. Probeer het over een minuut opnieuw.'),
    }),
  )

  /** Sends what the device is asked, and keeps its challenge with the browser. */
  async function ask<T extends { challenge: string }>(
    request: FastifyRequest,
    reply: FastifyReply,
    purpose: string,
    options: T,
  ) {
    const kept: Challenge = { challenge: options.challenge, purpose, at: await app.own.passkeys.moment() }
    const sealed = app.parts.box.seal(JSON.stringify(kept), OWNER).toString('base64url')
    reply.setCookie(cookieName(request), sealed, { ...cookieOptions(request), maxAge: MINUTES * 60 })
    return reply.header('cache-control', 'no-store').type('application/json').send(JSON.stringify(options))
  }

  const askToSignIn = async (request: FastifyRequest, reply: FastifyReply, purpose: string, credentials: string[]) => {
    const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
    const options = await generateAuthenticationOptions({
      rpID: hostOf(request),
      userVerification: 'required',
      allowCredentials: credentials.map((id) => ({ id })),
    })
    return ask(request, reply, purpose, options)
  }

  /** The account whose passkey answered; undefined when the answer does not hold. */
  async function whose(request: FastifyRequest, reply: FastifyReply, purpose: string, answer: string) {
    const kept = readChallenge(app, request, reply, purpose)
    const response = parse<AuthenticationResponseJSON>(answer)
    const passkey = kept && response && (await app.own.passkeys.find(String(response.id)))
    if (!kept || !response || !passkey) return undefined
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
    const { credential: id, publicKey, counter, transports } = passkey
    const found = await verifyAuthenticationResponse({
      response,
      expectedChallenge: kept.challenge,
      expectedOrigin: new URL(request.base).origin,
      expectedRPID: hostOf(request),
      credential: { id, publicKey: new Uint8Array(publicKey), counter: Number(counter), transports },
    }).catch((error) => {
      request.log.info({ reason: (error as Error).message }, 'the answer of a passkey did not hold')
      return undefined
    })
    if (!found?.verified) return undefined
    return (await app.own.passkeys.use(passkey.id, found.authenticationInfo.newCounter, kept.at)) ? passkey : undefined
  }

  app.get('/inloggen/passkey', { config: everyone }, async (request, reply) =>
    askToSignIn(request, reply, 'inloggen', []),
  )

  app.post('/inloggen/passkey', { config: everyone }, async (request, reply) => {
    const refusal = attempts().refusal(networkOf(request.ip))
    if (refusal) throw refusal
    attempts().failed(networkOf(request.ip))
    const { antwoord, verder } = readForm(Answered, request.body)
    const passkey = await whose(request, reply, 'inloggen', antwoord)
    if (!passkey) {
      await app.own.audit(request, [
        { handeling: 'inloggen', soort: 'account', resultaat: 'geweigerd', nieuw: { passkey: true } },
      ])
      return reply.code(401).page('sign-in-passkey', { title: t('Inloggen is niet gelukt') })
    }
    attempts().succeeded(networkOf(request.ip))
    return logIn(request, reply, { ...passkey, id: passkey.accountId }, verder)
  })

  app.get('/bevestigen/passkey', { config: confirming }, async (request, reply) => {
    const rows = await app.read
      .selectFrom('beheerPasskey')
      .select('credential')
      .where('accountId', '=', signedIn(request).id)
      .limit(MOST)
      .execute()
    return askToSignIn(
      request,
      reply,
      'bevestigen',
      rows.map(({ credential }) => credential),
    )
  })

  app.post('/bevestigen/passkey', { config: confirming }, async (request, reply) => {
    const { antwoord, verder } = readForm(Answered, request.body)
    const passkey = await whose(request, reply, 'bevestigen', antwoord)
    if (passkey?.accountId !== signedIn(request).id) {
      await app.own.audit(request, [
        { handeling: 'bevestigen', soort: 'account', id: signedIn(request).uuid, resultaat: 'geweigerd' },
      ])
      return reply.code(403).page('sign-in-passkey', { title: t('Bevestigen is niet gelukt') })
    }
    await confirmSession(request, reply)
    return reply.redirect(`${basePath(request)}${ownPath(verder) || '/beheer/mijn-account'}`, 303)
  })

  const newPage = { title: t('Passkey toevoegen'), breadcrumbs: [{ path: '/mijn-account', name: t('Mijn account') }] }
  app.get(`${PATH}/nieuw`, { config: changing }, async (request, reply) => {
    if (!mayHavePasskeys(request)) throw notFound()
    return reply.page('my-account-passkey', { ...newPage, values: {}, faults: {} })
  })

  app.get(`${PATH}/opties`, { config: changing }, async (request, reply) => {
    if (!mayHavePasskeys(request)) throw notFound()
    const { id, uuid, gebruikersnaam, naam } = signedIn(request)
    const rows = await app.read
      .selectFrom('beheerPasskey')
      .select('credential')
      .where('accountId', '=', id)
      .limit(MOST)
      .execute()
    const { generateRegistrationOptions } = await import('@simplewebauthn/server')
    const options = await generateRegistrationOptions({
      rpName: 'Zaakstroom',
      rpID: hostOf(request),
      userID: new TextEncoder().encode(uuid),
      userName: gebruikersnaam,
      userDisplayName: naam,
      excludeCredentials: rows.map(({ credential }) => ({ id: credential })),
      supportedAlgorithmIDs: ALGORITHMS,
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
    return ask(request, reply, `nieuw ${uuid}`, options)
  })

  app.post(`${PATH}/nieuw`, { config: changing }, async (request, reply) => {
    if (!mayHavePasskeys(request)) throw notFound()
    const { id, uuid, gebruikersnaam } = signedIn(request)
    try {
      const { naam, antwoord } = readForm(NewPasskey, request.body)
      const kept = readChallenge(app, request, reply, `nieuw ${uuid}`)
      const response = parse<RegistrationResponseJSON>(antwoord)
      const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
      const found =
        kept && response
          ? await verifyRegistrationResponse({
              response,
              expectedChallenge: kept.challenge,
              expectedOrigin: new URL(request.base).origin,
              expectedRPID: hostOf(request),
            }).catch(() => undefined)
          : undefined
      if (!found?.verified)
        throw formProblem({
          '': t('De passkey is niet gemaakt: het antwoord van uw apparaat klopt niet of kwam te laat.'),
        })
      const { credential } = found.registrationInfo
      await mutateFromPage(request, async (m) => {
        await m.sql`select from beheer_account where id = ${id} for update`
        const there = await listPasskeys(m.read, id)
        if (there.length >= MOST) throw formProblem({ '': t`Een account heeft ten hoogste ${MOST} passkeys.` })
        const made = await m.trx
          .insertInto('beheerPasskey')
          .values({
            accountId: id,
            credential: credential.id,
            publicKey: Buffer.from(credential.publicKey),
            counter: credential.counter,
            transports: (credential.transports ?? []).slice(0, 10),
            name: naam,
          })
          .onConflict((conflict) => conflict.column('credential').doNothing())
          .returning('id')
          .executeTakeFirst()
        if (!made) throw formProblem({ '': t('Deze passkey is al in gebruik.') })
        m.audit({
          handeling: 'passkey-toevoegen',
          soort: 'account',
          id: uuid,
          weergave: gebruikersnaam,
          nieuw: { naam },
        })
      })
      return await redirectWith(request, reply, '/mijn-account', t`De passkey ${naam} is toegevoegd.`)
    } catch (error) {
      const values = (request.body ?? {}) as { naam?: string }
      return reply.code(400).page('my-account-passkey', { ...newPage, values, faults: formFaultsOf(error) })
    }
  })

  app.post<{ Body: { passkey?: string } }>(`${PATH}/verwijderen`, { config: changing }, async (request, reply) => {
    const { id, uuid, gebruikersnaam } = signedIn(request)
    const which = String(request.body?.passkey ?? '')
    if (!isUuid(which)) throw notFound()
    const name = await mutateFromPage(request, async (m) => {
      const gone = await m.trx
        .deleteFrom('beheerPasskey')
        .where('accountId', '=', id)
        .where('uuid', '=', which)
        .returning('name')
        .executeTakeFirst()
      if (!gone) throw notFound(t('Deze passkey bestaat niet (meer).'))
      m.audit({
        handeling: 'passkey-verwijderen',
        soort: 'account',
        id: uuid,
        weergave: gebruikersnaam,
        oud: { naam: gone.name },
      })
      return gone.name
    })
    return redirectWith(request, reply, '/mijn-account', t`De passkey ${name} is verwijderd.`)
  })
}

const hostOf = ({ base }: FastifyRequest) => new URL(base).hostname
const cookieName = (request: FastifyRequest) =>
  request.base.startsWith('https:') ? '__Host-zaakstroom-passkey' : 'zaakstroom-passkey'

function readChallenge(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  purpose: string,
): Challenge | undefined {
  reply.clearCookie(cookieName(request), cookieOptions(request))
  try {
    const sealed = Buffer.from(request.cookies[cookieName(request)] ?? '', 'base64url')
    const kept = JSON.parse(app.parts.box.open(sealed, OWNER)) as Challenge
    return kept.purpose === purpose ? kept : undefined
  } catch {
    return undefined // none, or not one of ours
  }
}

function parse<T>(text: string): T | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
