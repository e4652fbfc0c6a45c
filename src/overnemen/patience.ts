// A source that is away for a while holds nothing up: it is asked again, and whoever looks reads why and when.
import { setTimeout as sleep } from 'node:timers/promises'
import { isUnavailable } from '../database/database.ts'
import { type Contents, type Source, SourceUnavailable } from './source.ts'

/** When a source that does not answer is asked again: soon after it is back. */
export const AGAIN_SECONDS = 15

/** Who waits is told: why, and until when. */
export type Waiting = (reason: string, until: Date) => void

/**
 * What the source's database says while it is away: no connection, no room, a start or a restore, or an account that is closed for
 * the moment. Nobody has to give a command again for any of them.
 */
export function isSourceAway(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return isUnavailable(error) || (typeof code === 'string' && /^(08|28|3D|42501$|55000$)/.test(code))
}

/**
 * A fault of our own question, or of our own program: the source is there, and the same step fails the same way each time. Values
 * that a source cannot hold and statements that it does not understand are SQLSTATE 22 and 42.
 */
export function isOwnFault(error: unknown): boolean {
  if (isSourceAway(error)) return false
  const { code, name } = (error ?? {}) as { code?: unknown; name?: string }
  return typeof code === 'string' ? /^(22|42)[0-9A-Z]{3}$/.test(code) : OWN_FAULTS.has(name ?? '')
}
const OWN_FAULTS = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError'])

/** What an error may say of itself where people read it: its kind and place, and no value. */
export function faultOf(error: unknown): string {
  const { name, code, table_name, column_name, routine } = (error ?? {}) as Record<string, string | undefined>
  return [name, code, [table_name, column_name].filter(Boolean).join('.'), code && routine].filter(Boolean).join(' ')
}

/** @throws SourceUnavailable for what is no fault of the question */
export async function askSource<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isSourceAway(error)) throw error
    throw new SourceUnavailable(String((error as { code?: unknown }).code))
  }
}

/** Does the work again until the source is there. @throws what is another fault, and the reason of `signal` */
export async function untilThere<T>(
  work: () => Promise<T>,
  waiting: Waiting,
  signal?: AbortSignal,
  seconds = AGAIN_SECONDS,
): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof SourceUnavailable)) throw error
      waiting(error.code, new Date(Date.now() + seconds * 1000))
      await sleep(seconds * 1000, undefined, signal && { signal })
    }
  }
}

/** The source, asked again as long as it is away. */
export function patient(source: Source, ask: <T>(work: () => Promise<T>) => Promise<T>): Source {
  const { contents } = source
  const opened: Contents | undefined = contents && ((path) => ask(() => contents(path)))
  return {
    ...source,
    plan: (round) => ask(() => source.plan(round)),
    read: (step) => ask(() => source.read(step)),
    ...(opened && { contents: opened }),
  }
}

const REASONS: [RegExp, string, string][] = [
  [/28000|28P01/, 'de bron weigert het account of zijn wachtwoord', 'the source refuses the account or its password'],
  [/401/, 'de bron weigert het client-id of zijn geheim', 'the source refuses the client id or its secret'],
  [/3D000|55000/, 'de database van de bron is er niet', 'the database of the source is not there'],
  [/42501/, 'het account mag dit in de bron niet lezen', 'the account may not read this in the source'],
  [
    /42P01|42703/,
    'de database van de bron mist een tabel of kolom',
    'the database of the source lacks a table or column',
  ],
  [
    /\b(22|42)[0-9A-Z]{3}\b|\b(Type|Range|Reference|Syntax)Error/,
    'de bron is er, en Zaakstroom stelt haar een vraag die zij niet kent. Opnieuw proberen helpt niet: meld deze regel, met de versies van Zaakstroom en van de bron, bij wie Zaakstroom levert. Er staan geen gegevens in',
    'the source is there, and Zaakstroom asks it what it does not know. Trying again does not help: send this line, with the versions of Zaakstroom and of the source, to whoever delivers Zaakstroom to you. It holds no data',
  ],
  [/57P03/, 'de database van de bron start op', 'the database of the source is starting'],
  [/53300/, 'de bron heeft geen verbinding meer vrij', 'the source has no connection left'],
  [
    /StoreUnavailable|ENOENT|EIO|ESTALE/,
    'de opslag van bestanden is niet bereikbaar',
    'the store of files cannot be reached',
  ],
  [
    /SourceUnavailable|ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|CONNECT|UND_ERR|57P|50[234]|429|no answer/,
    'de bron is niet bereikbaar',
    'the source cannot be reached',
  ],
]

/** Why the last attempt failed, for people; a fault that nobody knows is told as it is. */
export function reasonOf(fault: string, language: 'nl' | 'en'): string {
  const found = REASONS.find(([pattern]) => pattern.test(fault))
  return found ? `${found[language === 'nl' ? 1 : 2]} (${fault})` : fault
}
