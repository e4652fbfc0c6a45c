// Sign in attempts: how often somebody may try to sign in. Nothing that others do closes an account: attempts slow down whoever makes them.
//
// An attempt is counted before the password or code is looked at, so that many at once get no more chances, and nothing is
// looked at (no password is hashed) while its turn has not come. The first few of a count are free; after those the wait
// until the next doubles, up to a bound. A count is kept in the database, so it holds for all processes together:
// - without a known browser: by account and address, and by account for all addresses together, which is far looser;
// - a browser that signed in to this account before has a count of its own, which others cannot use up;
// - codes: by account, since whoever gets to enter them knows the password. Again a known browser has its own;
// - a client id at the token endpoint: by id and address;
// - what somebody who is signed in enters to change his own password or codes: by account.
// A name that nobody has is counted in the same way, so that waiting tells nothing.
import { createHash } from 'node:crypto'
import type { Database, Db } from '../database/database.ts'

type Sql = Pick<Database, 'sql'>

/** Attempts without a wait, seconds until the next one after those, and the longest wait. */
const BUDGETS = {
  address: { free: 5, first: 5, longest: 900 },
  name: { free: 50, first: 1, longest: 30 },
  browser: { free: 5, first: 5, longest: 900 },
  code: { free: 5, first: 5, longest: 3600 },
  'browser-code': { free: 5, first: 5, longest: 900 },
  own: { free: 10, first: 5, longest: 3600 },
  client: { free: 20, first: 5, longest: 900 },
  'client-name': { free: 200, first: 1, longest: 30 },
} as const

/** One count, of an account or of a name that nobody has. */
export type Counter = { kind: keyof typeof BUDGETS; of: string; accountId: number | null }

/** `browser`: what tells a known browser from others of the account. */
type Who = { account: number | string; network: string; browser: number | string | undefined }

/** The counts of an attempt with a password. `account` is its id, or a name that nobody has. */
export function passwordCounters({ account, network, browser }: Who): Counter[] {
  if (browser !== undefined) return [counter('browser', account, browser)]
  return [counter('address', account, network), counter('name', account)]
}

/** The counts of an attempt with a one-time code, by somebody whose password was right. */
export function codeCounters({ account, browser }: Omit<Who, 'network'>): Counter[] {
  return [browser === undefined ? counter('code', account) : counter('browser-code', account, browser)]
}

/** The count of what somebody who is signed in enters about himself. */
export const ownCounters = (account: number): Counter[] => [counter('own', account)]

/**
 * The counts of a client id that shows a secret or an assertion. What can be found by trying also counts for all addresses together;
 * a client with long secrets cannot be kept out from elsewhere.
 */
export function clientCounters(who: { clientId: string; network: string; isGuessable: boolean }): Counter[] {
  const name = `client ${who.clientId.slice(0, 255)}`
  const here = counter('client', name, who.network)
  return who.isGuessable ? [here, counter('client-name', name)] : [here]
}

const counter = (kind: Counter['kind'], account: number | string, more: number | string = ''): Counter => ({
  kind,
  of: `${typeof account === 'number' ? account : `? ${account.toLowerCase()}`}\n${more}`,
  accountId: typeof account === 'number' ? account : null,
})

/** Takes an attempt from all of these counts, or from none. @returns seconds to wait; 0: it may be looked at. */
export async function claimAttempt({ sql }: Sql, counters: Counter[]): Promise<number> {
  await sql`
    delete from beheer_sign_in_attempt where key in (
      select key from beheer_sign_in_attempt where forget_at < now() limit 100 for update skip locked)`
  const refused = { seconds: 0 }
  try {
    await sql.begin(async (trx) => {
      for (const one of counters) {
        const { free, first, longest } = BUDGETS[one.kind]
        // By the clock, not the start of the transaction: another may have been ahead while this one waited for the row.
        const { count } = await trx`
          insert into beheer_sign_in_attempt as p (key, account_id, count, open_at, forget_at)
          values (${keyOf(one)}, ${one.accountId}, 1, clock_timestamp(), clock_timestamp() + interval '1 hour')
          on conflict (key) do update set (count, open_at, forget_at) = (
            select n, clock_timestamp() + case when n < ${free}::int then interval '0'
                else least(${longest}::int, ${first}::int * 2 ^ least(n - ${free}::int, 20)) * interval '1 second' end,
              clock_timestamp() + case when n < ${free}::int then interval '1 hour' else interval '1 day' end
            from (select case when p.forget_at <= clock_timestamp() then 1 else least(p.count, 1000000) + 1 end as n) x)
          where p.open_at <= clock_timestamp()`
        if (count === 1) continue
        const [row] = await trx<{ seconds: number }[]>`
          select ceil(extract(epoch from open_at - clock_timestamp()))::int as seconds from beheer_sign_in_attempt
          where key = ${keyOf(one)}`
        refused.seconds = Math.max(1, row?.seconds ?? 1)
        throw refused // so that those before it are as they were
      }
    })
  } catch (error) {
    if (error !== refused) throw error
  }
  return refused.seconds
}

/** Takes back an attempt that was not looked at, or that went well where others fail. */
export async function returnAttempt({ sql }: Sql, counters: Counter[]): Promise<void> {
  for (const key of counters.map(keyOf)) {
    await sql`update beheer_sign_in_attempt set count = count - 1, open_at = clock_timestamp() where key = ${key}`
    await sql`delete from beheer_sign_in_attempt where key = ${key} and count <= 0`
  }
}

/** After it went well: the count of this place starts anew, that of all places together loses this one attempt. */
export async function attemptSucceeded({ sql }: Sql, counters: Counter[]): Promise<void> {
  for (const one of counters) {
    if (one.kind === 'name' || one.kind === 'client-name') await returnAttempt({ sql }, [one])
    else await sql`delete from beheer_sign_in_attempt where key = ${keyOf(one)}`
  }
}

/** Ends every wait of an account. What failed is still told at the next sign-in. */
export async function endWait(trx: Db, accountId: number): Promise<void> {
  await trx.deleteFrom('beheerSignInAttempt').where('accountId', '=', accountId).execute()
}

const keyOf = ({ kind, of }: Counter) => createHash('sha256').update(`${kind}\n${of}`).digest()
