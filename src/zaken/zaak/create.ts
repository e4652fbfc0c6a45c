// Making a case.

import { randomUUIDv7 } from 'node:crypto'
import type { Insertable } from 'kysely'
import type postgres from 'postgres'
import { isStill, type KnownTypes, type KnownZaaktype } from '../../catalogi/known-types.ts'
import { NO_REMOTE_TYPES, type RemoteType, type RemoteTypes } from '../../catalogi/remote-types.ts'
import type { Mutation } from '../../core/mutate.ts'
import { fault, type InvalidParam, invalidAll, throwFaults } from '../../core/problem.ts'
import type { NewRow } from '../../core/records.ts'
import type { Vertrouwelijkheidaanduiding } from '../../core/vertrouwelijkheidaanduiding.ts'
import { jsonOf, momentOf, selectedRowOf } from '../../database/driver-values.ts'
import type { Zaak as ZaakTable } from '../../database/types.ts'
import { afterTerm, isBeyondDates } from '../../http/duration.ts'
import { resolveLink } from '../../http/links.ts'
import { timeZone } from '../../lib/day.ts'
import { ZAAK_LABEL, zakenKanaal } from '../records.ts'
import { AANMAKEN, GEFORCEERD, mayDo, requireMay } from '../rights.ts'
import { bringsArchiving, noteByHand } from './archive-by-hand.ts'
import { holdBeside, named } from './beside.ts'
import { EMPTY, encoded, type Related, toRow, toZaak, type ZaakInput } from './columns.ts'
import { boundingBox, judgeKept } from './geometry.ts'
import { judgeHoofdzaak, judgeRelations, writeRelations } from './relations.ts'
import {
  archiveringFaults,
  openedFaults,
  paymentFaults,
  productFaults,
  publicationFaults,
  type Settings,
  type ZaakBody,
} from './rules.ts'

/**
 * Judges a new case, and writes nothing. The row that this returns has the function that inserts it (`insertZaak`):
 * `core/records.ts` calls that, together with the audit row and the message. When the case can be judged by what is kept
 * in memory, no statement is needed before.
 * @param elsewhere what other servers said before: what is wrong with references to them, and zaaktypen there
 */
export async function judgeNewZaak(
  m: Mutation,
  input: ZaakInput,
  settings: Settings,
  known: KnownTypes<KnownZaaktype>,
  { faults = [], typen = NO_REMOTE_TYPES }: Elsewhere = {},
): Promise<NewRow<ZaakBody>> {
  if (m.attempt > 1 && !input.identificatie)
    await m.sql`select skip_zaaknummers(${input.startdatum}::date, ${settings.nummering}, today(${timeZone()}))`
  const asked = typen.get('zaaktype', input.zaaktype)
  if (asked && 'code' in asked) throw invalidAll([asked])
  const judge = (type: ZaaktypeOfZaak) => judgeOfType(m, input, settings, type, faults, typen)
  if (asked) return judge(ofRemoteZaaktype(asked))
  const target = resolveLink(input.zaaktype, m.actor.base)
  if (target.kind === 'ours' && target.resource !== 'zaaktype')
    throwFaults([fault('zaaktype', 'invalid-resource', 'Deze URL is van een andere resource.')])
  const missing = () => invalidAll([fault('zaaktype', 'bad-url', 'Dit zaaktype bestaat niet.')])
  if (target.kind !== 'ours') throw missing()
  return known.judge(m, target.uuid, async (type) => {
    if (!type) throw missing()
    return judge(ofZaaktype(type))
  })
}

type Elsewhere = { faults?: InvalidParam[]; typen?: RemoteTypes }

async function judgeOfType(
  m: Mutation,
  input: ZaakInput,
  settings: Settings,
  zaaktype: ZaaktypeOfZaak,
  faults: InvalidParam[],
  typen: RemoteTypes,
): Promise<NewRow<ZaakBody>> {
  const { base } = m.actor
  const { remote } = zaaktype
  const vertrouwelijkheidaanduiding = input.vertrouwelijkheidaanduiding ?? zaaktype.vertrouwelijkheidaanduiding // zrc-009
  const rechten = {
    zaaktypeUuid: zaaktype.uuid,
    zaaktypeUrl: remote?.zaaktypeUrl ?? null,
    vertrouwelijkheidaanduiding,
  }
  requireMay(m.actor, AANMAKEN, rechten)
  const geometrie = judgeKept('zaakgeometrie', input.zaakgeometrie)
  const hoofdzaak = await judgeHoofdzaak(
    m,
    input.hoofdzaak,
    { zaaktypeId: zaaktype.id, zaaktypeUrl: rechten.zaaktypeUrl },
    typen,
  )
  const relaties = await judgeRelations(m, input)
  const einddatumGepland = input.einddatumGepland ?? ending(input, zaaktype.servicenorm)
  const uiterlijkeEinddatumAfdoening = input.uiterlijkeEinddatumAfdoening ?? ending(input, zaaktype.doorlooptijd)
  throwFaults([
    ...publicationFaults(zaaktype, settings),
    ...paymentFaults(input, settings),
    ...productFaults(input.productenOfDiensten ?? [], zaaktype.producten_of_diensten),
    ...openedFaults(input, settings),
    ...geometrie.faults,
    ...hoofdzaak.faults,
    ...relaties.faults,
    ...faults,
    ...(mayDo(m.actor, GEFORCEERD, rechten) ? [] : archiveringFaults(input, false)), // archived cases are taken over as they are
    ...termFaults(einddatumGepland, uiterlijkeEinddatumAfdoening),
  ])
  const recordBeside = await holdBeside(
    m,
    [...relaties.gerelateerd.flatMap(({ id }) => named('gerelateerdeZaken', id)), ...named('hoofdzaak', hoofdzaak.id)],
    settings,
  )
  const row = { ...toRow(input), einddatumGepland, uiterlijkeEinddatumAfdoening }
  const uuid = randomUUIDv7()
  const zaak = toZaak(
    {
      ...row,
      ...MADE_LATER,
      ...NOT_ELSEWHERE,
      ...remote,
      uuid,
      einddatum: null,
      vertrouwelijkheidaanduiding,
      zaaktypeId: zaaktype.id,
      zaaktypeUuid: zaaktype.uuid,
      catalogusUuid: zaaktype.catalogusUuid,
      hoofdzaakId: hoofdzaak.id ?? null,
      hoofdzaakUuid: hoofdzaak.uuid,
      zaakgeometrie: geometrie.geometrie,
      ...NOTHING_RELATED,
    },
    base,
  )
  zaak.relevanteAndereZaken = relaties.relevant.map(({ id: _id, ...one }) => one)
  zaak.gerelateerdeZaken = relaties.gerelateerd.map(({ url }) => ({ url }))
  const isRelated = input.relevanteAndereZaken?.length || input.gerelateerdeZaken?.length
  return {
    insert: (sql) =>
      insertZaak(sql, input, settings, zaaktype, {
        ...withoutEmpty(row),
        ...remote,
        uuid,
        zaaktypeId: zaaktype.id,
        vertrouwelijkheidaanduiding,
        ...(geometrie.geometrie && {
          zaakgeometrie: jsonOf(sql, geometrie.geometrie),
          zaakgeometrieGrenzen: boundingBox(geometrie.geometrie),
        }),
        ...(hoofdzaak.id && { hoofdzaakId: hoofdzaak.id }),
      }),
    ...((isRelated || hoofdzaak.id || bringsArchiving(input)) && {
      after: async (id) => {
        if (isRelated) await writeRelations(m, id, relaties)
        await noteByHand(m, id, input)
        await recordBeside()
      },
    }),
    ...(!input.identificatie && { taken: 'zaak_identificatie_unique' }),
    change: {
      component: 'zrc',
      actie: 'create',
      resource: 'zaak',
      url: zaak.url,
      uuid,
      kanaal: zakenKanaal(
        {
          bronorganisatie: zaak.bronorganisatie,
          ...rechten,
          catalogusUuid: zaaktype.catalogusUuid,
          zaaktypeCatalogusUrl: remote?.zaaktypeCatalogusUrl ?? null,
        },
        base,
      ),
      oud: null,
      nieuw: zaak,
    },
  }
}

const ending = ({ startdatum }: ZaakInput, term: string | null | undefined) =>
  term ? afterTerm(startdatum, term) : null

function termFaults(...days: (string | null)[]) {
  return days.some(isBeyondDates)
    ? [fault('startdatum', 'invalid', 'Met de termijnen van het zaaktype eindigt de zaak na het jaar 9999.')]
    : []
}

/** What a new case takes from its type (zrc-001). */
type ZaaktypeOfZaak = {
  id: number | null
  uuid: string | null
  concept: boolean
  vertrouwelijkheidaanduiding: Vertrouwelijkheidaanduiding
  producten_of_diensten: string[]
  catalogusUuid: string | null
  servicenorm: string | null
  doorlooptijd: string | null
  /** The columns of a type elsewhere. */
  remote?: Record<keyof typeof NOT_ELSEWHERE, string>
  /** What the insert makes sure of, for a type of ours. */
  known?: KnownZaaktype
}

const ofZaaktype = (known: KnownZaaktype): ZaaktypeOfZaak => ({ ...known, catalogusUuid: known.catalogus_uuid, known })

/** One elsewhere, which was asked before. */
const ofRemoteZaaktype = (type: RemoteType<'zaaktype'>): ZaaktypeOfZaak => ({
  id: null,
  uuid: null,
  concept: type.concept,
  vertrouwelijkheidaanduiding: type.vertrouwelijkheidaanduiding,
  producten_of_diensten: type.productenOfDiensten ?? [],
  catalogusUuid: null,
  servicenorm: type.servicenorm ?? null,
  doorlooptijd: type.doorlooptijd ?? null,
  remote: {
    zaaktypeUrl: type.url,
    zaaktypeCatalogusUrl: type.catalogus,
    zaaktypeIdentificatie: type.identificatie,
    zaaktypeOmschrijving: type.omschrijving,
  },
})

const NOT_ELSEWHERE = {
  zaaktypeUrl: null,
  zaaktypeCatalogusUrl: null,
  zaaktypeIdentificatie: null,
  zaaktypeOmschrijving: null,
}

/** What the database makes of a new case. */
const MADE_LATER = { id: 0, identificatie: '', laatstGemuteerd: '', registratiedatum: '' }

/**
 * zrc-002: with the number of the client, which may be a reserved one, or the next free one. When that was taken by a case
 * that came with its own number, `judgeNewZaak` moves the numbers on when it is tried again.
 */
function insertZaak(
  sql: postgres.Sql | postgres.TransactionSql,
  { identificatie, bronorganisatie, startdatum }: ZaakInput,
  { nummering }: Settings,
  { known }: ZaaktypeOfZaak,
  values: Omit<Insertable<ZaakTable>, 'identificatie'>,
) {
  const row = {
    ...encoded(values, (value) => jsonOf(sql, value)),
    identificatie: identificatie || sql`zaak_identificatie(${startdatum}::date, ${nummering}, today(${timeZone()}))`,
    registratiedatum: values.registratiedatum ?? sql`today(${timeZone()})`,
  }
  const reserved = sql`reservering as (
    delete from reserved_zaaknummer
    where identificatie = ${identificatie ?? ''} and bronorganisatie = ${bronorganisatie}),`
  return sql`${identificatie ? reserved : sql``}
    gemaakt as (
      insert into zaak ${selectedRowOf(sql, 'zaak', row)} ${known ? isStill(sql, 'zaaktype', known) : sql``}
      returning id, ${sql.unsafe(ZAAK_LABEL)} as weergave, jsonb_build_object('identificatie', identificatie,
        'registratiedatum', registratiedatum, 'laatstGemuteerd', ${sql.unsafe(momentOf('laatst_gemuteerd'))}) as nieuw
    )`
}

type Row = ReturnType<typeof toRow>
/** Columns that every new row states; most cases have something there. */
const USUAL = [
  'bronorganisatie',
  'verantwoordelijkeOrganisatie',
  'startdatum',
  'omschrijving',
  'toelichting',
  'einddatumGepland',
  'uiterlijkeEinddatumAfdoening',
] as const satisfies (keyof Row)[]
const SELDOM = Object.entries(EMPTY).filter(([name]) => !USUAL.some((usual) => usual === name))

/**
 * Leaves the other columns to the table when all of them are empty, since every column costs. All or nothing, so that there
 * are few statements to plan.
 */
function withoutEmpty(row: Row): Pick<Row, (typeof USUAL)[number]> {
  const rest: Record<string, unknown> = { ...row }
  for (const [name, empty] of SELDOM) {
    const value = rest[name]
    if (Array.isArray(value) ? value.length > 0 : value !== empty) return row
    delete rest[name]
  }
  return rest as Row
}

const NOTHING_RELATED = {
  deelzaken: null,
  eigenschappen: null,
  rollen: null,
  zaakinformatieobjecten: null,
  zaakobjecten: null,
  status: null,
  resultaat: null,
  relevanteAndereZaken: [],
  gerelateerdeZaken: [],
} satisfies Partial<Related>
