// When a case may be destroyed, or has to be handed over: zrc-021. The resultaattype says from which day the term counts.

import type { Mutation } from '../../core/mutate.ts'
import { invalidAll, onObject, Problem } from '../../core/problem.ts'
import { expected, lastOf, one } from '../../database/rows.ts'
import { isBeyondDates, isoDuration } from '../../http/duration.ts'
import { byHandOf, forgetByHand } from './archive-by-hand.ts'
import { type Deriving, type ObjectDates, sayDates, valueAt } from './object-dates.ts'

type Regeling = {
  archiefnominatie: string | null
  archiefactietermijn: string | null
  afleidingswijze: string | null
  datumkenmerk: string
  objecttype: string
  procestermijn: string | null
}

/** The dates of archiving. `undefined`: stay as they are. */
export type Archivering = {
  archiefnominatie: string | null | undefined
  archiefactiedatum: string | null | undefined
  startdatumBewaartermijn: string | null | undefined
}

/** Where the day may come later: closing does not wait for it. */
const LATER = ['vervaldatum_besluit', 'eigenschap', 'ander_datumkenmerk']

/** The case as archiving looks at it: what the database has, with the day on which it is or will be closed. */
type ArchivedZaak = {
  id: number
  einddatum: string
  hoofdzaakId: number | null
  startdatumBewaartermijn: string | null
}

/**
 * What archiving becomes of a case with its resultaat; undefined without one. The term counts from the day that somebody set, or else
 * from the source that the resultaattype names, as that is now.
 * @param settings.objects what objects elsewhere said
 * @param settings.forced a source changed: without its day there is no term, whatever stands there
 * @throws Problem 400 `archiefactiedatum-error` when the day has to be known and is not, ObjectsUnasked without `objects`
 */
export async function deriveArchivering(
  m: Deriving,
  zaak: ArchivedZaak,
  { objects, forced = false }: { objects?: ObjectDates; forced?: boolean } = {},
): Promise<Archivering | undefined> {
  const [regeling] = await m.sql<Regeling[]>`
    select archiefnominatie, archiefactietermijn, afleidingswijze, datumkenmerk, objecttype, procestermijn
    from resultaat_archiving where zaak_id = ${zaak.id}`
  if (!regeling) return undefined
  const archiefnominatie = regeling.archiefnominatie || null
  const unchanged = { archiefnominatie, archiefactiedatum: undefined, startdatumBewaartermijn: undefined }
  // A part that follows its hoofdzaak gets everything when that closes.
  if (regeling.afleidingswijze === 'hoofdzaak' && zaak.hoofdzaakId !== null) {
    const [hoofd] = await m.sql<
      { einddatum: string | null }[]
    >`select einddatum from zaak where id = ${zaak.hoofdzaakId}`
    if (!hoofd?.einddatum) return { archiefnominatie: null, archiefactiedatum: null, startdatumBewaartermijn: null }
  }
  const byHand = await byHandOf(m.sql, zaak.id)
  const brondatum = byHand.has('startdatum_bewaartermijn')
    ? zaak.startdatumBewaartermijn
    : await deriveBrondatum(m, zaak, regeling, objects)
  if (forced || (brondatum && regeling.archiefactietermijn)) return countFrom(m, brondatum, regeling)
  if (LATER.includes(regeling.afleidingswijze ?? '') || regeling.archiefnominatie === 'blijvend_bewaren')
    return unchanged
  throw undeterminable('De archiefactiedatum kan niet worden bepaald.')
}

/** What archiving becomes when the term counts from this day; without day or term nobody knows when. */
async function countFrom(
  m: Deriving,
  brondatum: string | null,
  { archiefnominatie, archiefactietermijn }: Pick<Regeling, 'archiefnominatie' | 'archiefactietermijn'>,
): Promise<Archivering> {
  const counts = brondatum && archiefactietermijn
  return {
    archiefnominatie: archiefnominatie || null,
    startdatumBewaartermijn: counts ? brondatum : null,
    archiefactiedatum: counts ? await plus(m, brondatum, archiefactietermijn) : null,
  }
}

const undeterminable = (reason: string) => invalidAll([onObject('archiefactiedatum-error', reason)])

async function deriveBrondatum(
  m: Deriving,
  zaak: ArchivedZaak,
  regeling: Regeling,
  objects: ObjectDates,
): Promise<string | null> {
  if (!regeling.archiefactietermijn) return null
  switch (regeling.afleidingswijze) {
    case 'afgehandeld':
      return zaak.einddatum
    case 'hoofdzaak': {
      if (zaak.hoofdzaakId === null) throw undeterminable('De zaak heeft geen hoofdzaak om vanaf te tellen.')
      return dayOf(m.sql<{ dag: string | null }[]>`select einddatum as dag from zaak where id = ${zaak.hoofdzaakId}`)
    }
    case 'eigenschap': {
      if (!regeling.datumkenmerk) throw undeterminable('Het resultaattype noemt geen eigenschap (datumkenmerk).')
      const [eigenschap] = await m.sql<{ waarde: string }[]>`
        select waarde from zaakeigenschap where zaak_id = ${zaak.id} and naam = ${regeling.datumkenmerk} order by id desc limit 1`
      return eigenschap ? dayIn(eigenschap.waarde, `Eigenschap ${regeling.datumkenmerk}`) : null
    }
    case 'zaakobject':
      return deriveFromObjects(m, zaak, regeling, objects)
    case 'termijn':
      if (!regeling.procestermijn) throw undeterminable('Het resultaattype noemt geen procestermijn.')
      return plus(m, zaak.einddatum, regeling.procestermijn)
    case 'gerelateerde_zaak': {
      const datum = await deriveFromRelatedZaken(m, zaak, objects)
      if (!datum) throw undeterminable('Er is geen gerelateerde zaak met een einddatum.')
      return datum
    }
    case 'ingangsdatum_besluit': {
      const datum = await dayOf(
        m.sql<{ dag: string | null }[]>`select max(ingangsdatum) as dag from zaakbesluit where zaak_id = ${zaak.id}`,
      )
      if (!datum) throw undeterminable('Er is geen besluit met een ingangsdatum.')
      return datum
    }
    case 'vervaldatum_besluit':
      return dayOf(
        m.sql<{ dag: string | null }[]>`select max(vervaldatum) as dag from zaakbesluit where zaak_id = ${zaak.id}`,
      )
    default: // ander_datumkenmerk, or nothing said
      return null
  }
}

async function dayOf(query: PromiseLike<{ dag: string | null }[]>): Promise<string | null> {
  const [row] = await query
  return row?.dag ?? null
}

/** The latest einddatum among related cases, as either of both lists has them, ours and elsewhere; null when none has ended. */
async function deriveFromRelatedZaken(m: Deriving, zaak: ArchivedZaak, objects: ObjectDates): Promise<string | null> {
  const rows = await m.sql<{ dag: string | null; url: string | null }[]>`
    select o.einddatum as dag, a.andere_zaak_url as url from (
      select andere_zaak_id, andere_zaak_url from zaak_andere_zaak where zaak_id = ${zaak.id}
      union select andere_zaak_id, andere_zaak_url from zaak_gerelateerde_zaak where zaak_id = ${zaak.id}
    ) a left join zaak o on o.id = a.andere_zaak_id`
  const urls = rows.flatMap(({ url }) => url ?? [])
  const days = rows.flatMap(({ dag }) => dag ?? [])
  for (const [index, one] of (await sayDates(m, urls, 'einddatum', objects)).entries()) {
    if ('reason' in one) throw undeterminable(`Gerelateerde zaak ${urls[index]}: ${one.reason}.`)
    if (one.value) days.push(dayIn(String(one.value), `Gerelateerde zaak ${urls[index]}, einddatum`))
  }
  return days.sort().at(-1) ?? null
}

/** The latest day among the objects of the kind that the resultaattype names; `datumkenmerk` may be a path with slashes. */
async function deriveFromObjects(
  m: Deriving,
  zaak: ArchivedZaak,
  { datumkenmerk, objecttype }: Regeling,
  objects: ObjectDates,
): Promise<string> {
  if (!datumkenmerk) throw undeterminable('Het resultaattype noemt niet waar de datum van het zaakobject staat.')
  const rows = await m.sql<{ object: string; object_identificatie: Record<string, unknown> | null }[]>`
    select object, object_identificatie from zaakobject where zaak_id = ${zaak.id} and object_type = ${objecttype}`
  if (rows.length === 0) throw undeterminable(`De zaak heeft geen zaakobject van soort ${objecttype}.`)
  const byUrl = rows.filter(({ object_identificatie }) => !object_identificatie).map(({ object }) => object)
  const said = await sayDates(m, byUrl, datumkenmerk, objects)
  const days = byUrl.map((url, index) => {
    const one = expected(said[index])
    if ('reason' in one) throw undeterminable(`Zaakobject ${url}: ${one.reason}.`)
    return dayIn(String(one.value ?? ''), `Zaakobject ${url}, ${datumkenmerk}`)
  })
  for (const { object_identificatie } of rows)
    if (object_identificatie)
      days.push(dayIn(String(valueAt(object_identificatie, datumkenmerk) ?? ''), `Zaakobject, ${datumkenmerk}`))
  return lastOf(days.sort())
}

/**
 * The day in a date or a moment as people and systems write them: 2026-03-02, 2026/3/2, 20260302, 2-3-2026, 02.03.2026 and
 * with a time behind it. Day first where it is ambiguous.
 */
function dayIn(text: string, where: string): string {
  // No date is longer, and looking for a time in any text takes the square of its length.
  const written = text.length > 100 ? '' : text.trim().replace(/[T ]\d{1,2}:?\d{2}.*$/, '')
  const parts =
    /^(?<y>\d{4})(?<m>\d{2})(?<d>\d{2})(?:\d{4}|\d{6})?$/.exec(written) ??
    /^(?<y>\d{4})([-/.])(?<m>\d{1,2})\2(?<d>\d{1,2})$/.exec(written) ??
    /^(?<d>\d{1,2})([-/.])(?<m>\d{1,2})\2(?<y>\d{4})$/.exec(written)
  const { y = '', m = '', d = '' } = parts?.groups ?? {}
  const day = `${y}-${m.padStart(2, '0')}-${d.padStart(2, '0')}`
  const date = new Date(`${day}T00:00:00Z`)
  if (!parts || Number.isNaN(date.getTime()) || !date.toISOString().startsWith(day))
    throw undeterminable(`${where}: ${text === '' ? 'er staat geen datum' : `"${text.slice(0, 100)}" is geen datum`}.`)
  return day
}

async function plus(m: Deriving, day: string, termijn: string): Promise<string> {
  const row = one(
    await m.sql<{ dag: string }[]>`select (${day}::date + ${isoDuration(termijn)}::text::interval)::date as dag`,
  )
  if (isBeyondDates(row.dag)) throw undeterminable('De datum ligt na het jaar 9999.')
  return row.dag
}

const UNKNOWN = { archiefnominatie: undefined, archiefactiedatum: null, startdatumBewaartermijn: null }

/** Writes what was derived for these cases. What somebody set stays. */
export async function saveArchivering(m: Mutation, ids: readonly number[], archivering: Archivering): Promise<void> {
  const { archiefnominatie, archiefactiedatum, startdatumBewaartermijn } = archivering
  const stays = (field: string, value: unknown) => m.sql`(${value === undefined}::boolean or exists (
    select from archive_by_hand h where h.zaak_id = z.id and h.field = ${field}))`
  await m.sql`
    update zaak z set
      archiefnominatie = case when ${stays('archiefnominatie', archiefnominatie)}
        then z.archiefnominatie else ${archiefnominatie ?? null}::text end,
      archiefactiedatum = case when ${stays('archiefactiedatum', archiefactiedatum)}
        then z.archiefactiedatum else ${archiefactiedatum ?? null}::date end,
      startdatum_bewaartermijn = case when ${stays('startdatum_bewaartermijn', startdatumBewaartermijn)}
        then z.startdatum_bewaartermijn else ${startdatumBewaartermijn ?? null}::date end
    where z.id = any(${ids}::bigint[])`
}

/**
 * The same when the case closes: the day that somebody set before gives way to the one that is known now (zrc-021), unless he also
 * decided what becomes of the case.
 */
export async function saveAtClosing(m: Mutation, zaakId: number, archivering: Archivering): Promise<void> {
  const byHand = await byHandOf(m.sql, zaakId)
  if (archivering.archiefactiedatum && !byHand.has('archiefnominatie'))
    await forgetByHand(m, [zaakId], ['archiefactiedatum'])
  await saveArchivering(m, [zaakId], archivering)
}

/** The ids of closed parts that are archived with their hoofdzaak. */
export async function findFollowers(m: Mutation, hoofdzaakId: number): Promise<number[]> {
  const rows = await m.sql<{ id: number }[]>`
    select d.id from zaak d join resultaat_archiving r on r.zaak_id = d.id
    where d.hoofdzaak_id = ${hoofdzaakId} and d.einddatum is not null and r.afleidingswijze = 'hoofdzaak'`
  return rows.map(({ id }) => id)
}

/**
 * Archives the closed parts of a case that follow it, all with the same rule at once.
 * @param einddatum the day on which the hoofdzaak was closed, from which their terms count
 * @throws Problem 400 `archiefactiedatum-error` for a term that ends after the year 9999
 */
export async function archiveParts(m: Mutation, hoofdzaakId: number, einddatum: string): Promise<void> {
  const parts = await findFollowers(m, hoofdzaakId)
  if (parts.length === 0) return
  const rules = await m.sql<(Pick<Regeling, 'archiefnominatie' | 'archiefactietermijn'> & { ids: number[] })[]>`
    select archiefnominatie, archiefactietermijn, array_agg(zaak_id) as ids
    from resultaat_archiving where zaak_id = any(${parts}::bigint[]) group by 1, 2`
  for (const { ids, ...rule } of rules) await saveArchivering(m, ids, await countFrom(m, einddatum, rule))
}

/**
 * Derives again, for a closed case of which a source changed. Only the given afleidingswijzen look at that source; none
 * given: whichever, and what was there stays.
 * @param change `went`: the source, or a part of it, is gone: then nobody knows the day
 * @throws Problem 400 `archiefactiedatum-error` when the source says no day any more
 */
export async function rederiveArchivering(
  m: Mutation,
  zaakId: number,
  wijzen?: readonly string[],
  objects?: ObjectDates,
  change: 'came' | 'went' = 'came',
): Promise<void> {
  const [zaak] = await m.sql<(ArchivedZaak & { afleidingswijze: string | null })[]>`
    select z.id, z.einddatum, z.hoofdzaak_id as "hoofdzaakId", z.startdatum_bewaartermijn as "startdatumBewaartermijn",
      r.afleidingswijze
    from zaak z join resultaat_archiving r on r.zaak_id = z.id
    where z.id = ${zaakId} and z.einddatum is not null`
  if (!zaak || (wijzen && !wijzen.includes(zaak.afleidingswijze ?? ''))) return
  const archivering = await deriveArchivering(m, zaak, { objects, forced: wijzen !== undefined }).catch((error) => {
    if (change !== 'went' || !(error instanceof Problem)) throw error
    return UNKNOWN // a source that went away is no reason to refuse its going
  })
  if (archivering) await saveArchivering(m, [zaakId], archivering)
}
