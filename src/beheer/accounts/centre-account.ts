// Centre account: whoever works for the centre of many organisations, with a role in some of them. It signs in with the tables of the
// registry, which are like those of an organisation, and has a row in each organisation where it has a role (centre-mirror.ts).
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../../core/problem.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { type Database, type Db, isUnavailable, kyselyOn } from '../../database/database.ts'
import {
  deleteSwitchCodes,
  endSessionsEverywhere,
  type Member,
  makeSwitchCode,
  stampOf,
  useSwitchCode,
} from '../../organisations/accounts.ts'
import type { Organisation } from '../../organisations/organisation.ts'
import { changeOrganisations, endMemberSessions, type Registry } from '../../organisations/registry.ts'
import { hostOf } from '../../organisations/serve.ts'
import { requireOrganisation } from '../../telemetry/current-organisation.ts'
import { type PageMutation, writeAudit } from '../frame/change.ts'
import { type Administrator, endSessions, sessionOf, signedIn } from '../frame/session.ts'
import { t } from '../language/language.ts'
import type { SignedIn } from './accounts.ts'
import { openSignInTables, type SignInTables } from './own-tables.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The registry of many organisations; undefined in an installation with one. */
    centre: Centre | undefined
  }
}

/** What the pages have of an installation with many organisations. */
export type OfMany = {
  control: Database
  registry: Pick<Registry, 'accounts' | 'byHost' | 'byRsin' | 'refresh'>
  box: SecretBox
  baseOf(organisation: Organisation): string
}

type Centre = ReturnType<typeof openCentre>

/** What handlers have of the registry. Its database is not among it. */
export function openCentre({ control, registry, box, baseOf }: OfMany) {
  return {
    tables: openSignInTables(control),
    box,
    /** Our address at an organisation. */
    addressOf: (rsin: string): string | undefined => {
      const organisation = registry.byRsin(rsin)
      return organisation && baseOf(organisation)
    },
    /** Whose page a form comes from, by its Origin: scheme, host and port are those of its address. */
    organisationAt: (origin: string): Organisation | undefined => {
      const url = URL.parse(origin)
      const found = url ? registry.byHost(hostOf(url.host)) : undefined
      return found && origin === new URL(baseOf(found)).origin ? found : undefined
    },
    makeCode: (member: Member, to: string, until: string) => makeSwitchCode(control, member, to, until),
    useCode: (code: string, from: string) => useSwitchCode(control, code, { from, to: requireOrganisation().rsin }),
    signOut: (member: Member) => endMemberSessions(control, member.id),
    forgetCodes: (uuid: string) => deleteSwitchCodes(control, uuid, requireOrganisation().rsin),
    /** Changes an account with the record of it. @returns its stamp here after it; undefined: it has no role here any more */
    change: (member: Member, action: string, endsSessions: boolean, work: (db: Db) => Promise<void>) =>
      changeOrganisations(
        control,
        { rsin: '', actor: member.gebruikersnaam, action, account: member.gebruikersnaam },
        async (trx) => {
          await work(kyselyOn(trx))
          if (endsSessions) await endSessionsEverywhere(trx, member.id)
          return stampOf(trx, member)
        },
      ),
  }
}

/** Where the password, codes and attempts of an account are kept, what it is there, and what its codes are sealed with. */
export function keptAt(
  app: FastifyInstance,
  account: Administrator,
): { tables: SignInTables; who: { id: number; uuid: string; gebruikersnaam: string }; box: SecretBox } {
  const { centre } = app
  if (!account.centre || !centre) return { tables: app.own, who: account, box: app.parts.box }
  return { tables: centre.tables, who: account.centre, box: centre.box }
}

/** What tells a known browser from all others of an account: the numbers are those of an organisation. */
export const browserOf = (browser: number | undefined, member: Member | undefined): number | string | undefined =>
  browser !== undefined && member ? `${member.membership.rsin} ${browser}` : browser

/** Runs what asks the registry, when it does. @throws Problem 503 that says so when that does not answer */
export async function fromRegistry<T>(asksIt: boolean, work: () => Promise<T>): Promise<T> {
  return work().catch((error) => {
    if (!asksIt || !isUnavailable(error)) throw error
    throw new Problem(503, { detail: registryAway(), headers: { 'retry-after': '10' } })
  })
}

/** Takes back what sessions that ended here had to go on with elsewhere. Without the registry no code counts either: one ends by itself then. */
export async function forgetCodes(
  { server }: FastifyRequest,
  { uuid, centre }: { uuid: string; centre: unknown },
): Promise<void> {
  if (!centre) return
  await server.centre?.forgetCodes(uuid).catch((error) => {
    if (!isUnavailable(error)) throw error
  })
}

/** Ends all sessions of a member, at every organisation. @returns false when the registry does not answer: those elsewhere go on then */
export async function signOutEverywhere({ centre, members }: FastifyInstance, member: Member): Promise<boolean> {
  try {
    await centre?.signOut(member)
    await members?.refresh()
    return true
  } catch (error) {
    if (isUnavailable(error)) return false
    throw error
  }
}

const registryAway = () =>
  t(
    'Accounts van het centrum kunnen nu niet inloggen: het register van organisaties antwoordt niet. Probeer het over een paar minuten opnieuw.',
  )

/** Brings the row of a member along for who signs in with it. @returns what it is here; undefined: it may not sign in here */
export async function enterAs(request: FastifyRequest, member: Member): Promise<SignedIn | undefined> {
  const here = await request.server.own.bringAlong(member, (db, record) =>
    writeAudit(db, request, [{ ...record, gebruiker: member.gebruikersnaam }]),
  )
  return here?.actief ? here : undefined
}

/**
 * Changes the password or the codes of who is signed in, where they are kept, within a change from a page.
 * @param change.action as the registry records it
 * @param change.endsSessions all others of this account, in every organisation
 */
export async function changeOwn(
  request: FastifyRequest,
  m: PageMutation,
  { action, endsSessions }: { action: string; endsSessions: boolean },
  work: (db: Db, id: number) => Promise<void>,
): Promise<void> {
  const { id, uuid, centre: member } = signedIn(request)
  const { centre, members } = request.server
  if (member && centre) {
    const stamp = await fromRegistry(true, () =>
      centre.change(member, action, endsSessions, (db) => work(db, member.id)),
    )
    if (stamp) await m.trx.updateTable('beheerAccount').set({ centreStamp: stamp }).where('uuid', '=', uuid).execute()
    await members?.refresh()
  } else await work(m.trx, id)
  // Last: who signed in with the old password meanwhile is signed out too.
  if (endsSessions) await endSessions(m.trx, id, { behalve: sessionOf(request).id })
}
