// What a version still lacks before it is published: what must, what should, and what is good to know. Each with a link.

import { sql } from 'kysely'
import { overlaps, TYPE_KEY, validOn } from '../../catalogi/versions.ts'
import type { ReadDb } from '../../database/database.ts'
import { one } from '../../database/rows.ts'
import { inDays } from '../../http/duration.ts'
import { today } from '../../lib/day.ts'
import { formatDate } from '../frame/format.ts'
import { t } from '../language/language.ts'
import { addDays, pathOf, type Version } from './context.ts'
import { durationInWords } from './duration.ts'

export type Finding = { text: string; link: string; action: string }
/** A type that the version relates to and of which no version is published yet. */
export type Along = { type: 'informatieobjecttype' | 'besluittype'; uuid: string; name: string }
/** A published version of the same type whose period this one would overlap. */
export type Overlap = {
  uuid: string
  begin: string
  einde: string | null /** Its last day when this one takes over; undefined when it cannot be ended so. */
  endsOn: string | undefined
}
export type Checks = { must: Finding[]; should: Finding[]; note: Finding[]; along: Along[]; overlap: Overlap[] }

/** Refuses nothing: `requirePublishable` judges what this finds. */
export async function checksFor(db: ReadDb, version: Version): Promise<Checks> {
  const checks: Checks = { must: [], should: [], note: [], along: [], overlap: await overlapsOf(db, version) }
  const path = pathOf(version)
  const [gegevens, geldigheid] =
    version.type === 'zaaktype'
      ? [`${path}/gegevens`, `${path}/gegevens/geldigheid`]
      : [`${path}/wijzigen`, `${path}/wijzigen`]
  if (version.einde && version.einde < version.begin)
    checks.must.push({
      text: t`De laatste dag (${formatDate(version.einde)}) ligt voor de eerste (${formatDate(version.begin)}).`,
      link: `${geldigheid}#veld-eindeGeldigheid`,
      action: t('Geldigheid wijzigen'),
    })
  for (const { uuid, begin, endsOn } of checks.overlap)
    if (endsOn === undefined)
      checks.must.push({
        text: t`Een gepubliceerde versie geldt al vanaf ${formatDate(begin)}. Deze versie moet later beginnen dan die.`,
        link: `${geldigheid}#veld-beginGeldigheid`,
        action: t('Geldig vanaf wijzigen'),
      })
    else
      checks.note.push({
        text: t`De versie die geldt vanaf ${formatDate(begin)} krijgt bij het publiceren ${formatDate(endsOn)} als laatste dag.`,
        link: `${path.replace(version.uuid, uuid)}`,
        action: t('Die versie bekijken'),
      })
  if (version.begin < today())
    checks.note.push({
      text: t`Deze versie geldt vanaf ${formatDate(version.begin)}, dat is al geweest. Zaken die er zijn houden hun eigen versie.`,
      link: `${geldigheid}#veld-beginGeldigheid`,
      action: t('Geldig vanaf wijzigen'),
    })
  if (version.type === 'zaaktype') await checkZaaktype(db, version, checks, gegevens)
  if (version.type === 'besluittype') {
    if (version.omschrijving === '')
      checks.should.push({
        text: t('Het besluittype heeft geen omschrijving: zonder kan het geen versies hebben.'),
        link: `${path}/wijzigen#veld-omschrijving`,
        action: t('Omschrijving invullen'),
      })
    checks.along.push(
      ...(await unpublished(
        db,
        'informatieobjecttype',
        sql`select r.informatieobjecttype_id from besluittype_informatieobjecttype r where r.besluittype_id = ${version.id}`,
      )),
    )
  }
  return checks
}

async function checkZaaktype(db: ReadDb, version: Version, checks: Checks, gegevens: string): Promise<void> {
  const { resource, id } = version
  const path = pathOf(version)
  const add = (
    list: keyof Pick<Checks, 'must' | 'should' | 'note'>,
    when: boolean,
    text: string,
    link: string,
    action: string,
  ) => {
    if (when) checks[list].push({ text, link, action })
  }
  const { rows } = await sql<{
    initiator: boolean
    zonderKlasse: string[]
    zonderEigenschap: { omschrijving: string; uuid: string }[]
    gelijk: boolean
  }>`
    select exists (select 1 from roltype r where r.zaaktype_id = ${id} and r.omschrijving_generiek = 'initiator') as initiator,
      array(select r.omschrijving from resultaattype r where r.zaaktype_id = ${id}
        and r.selectielijstklasse like '%/beheer/catalogi/selectielijst' order by r.id) as "zonderKlasse",
      coalesce((select jsonb_agg(jsonb_build_object('omschrijving', r.omschrijving, 'uuid', r.uuid) order by r.id) from resultaattype r
        where r.zaaktype_id = ${id} and r.brondatum_afleidingswijze = 'eigenschap' and not exists (
          select 1 from eigenschap e where e.zaaktype_id = ${id} and e.naam = r.brondatum_datumkenmerk)), '[]') as "zonderEigenschap",
      exists (select 1 from zaaktype z where z.catalogus_id = ${version.catalogusId} and z.identificatie <> ${version.key}
        and lower(z.omschrijving) = lower(${version.omschrijving})) as gelijk`.execute(db)
  const found = one(rows)
  const {
    statustypen = [],
    roltypen = [],
    resultaattypen = [],
    informatieobjecttypen = [],
  } = resource as Record<string, string[]>
  add(
    'should',
    statustypen.length < 2,
    statustypen.length === 0
      ? t('Er zijn nog geen statustypen.')
      : t('Er is maar één statustype: een zaak begint dan met de status die haar sluit.'),
    `${path}/statustypen/nieuw`,
    t('Statustype toevoegen'),
  )
  add(
    'should',
    roltypen.length === 0,
    t('Er zijn nog geen roltypen: niemand kan bij een zaak betrokken zijn.'),
    `${path}/roltypen/nieuw`,
    t('Roltype toevoegen'),
  )
  add(
    'should',
    resultaattypen.length === 0,
    t('Er zijn nog geen resultaattypen: een zaak kan dan niet worden gesloten met een uitkomst.'),
    `${path}/resultaattypen/nieuw`,
    t('Resultaattype toevoegen'),
  )
  add(
    'note',
    roltypen.length > 0 && !found.initiator,
    t('Geen roltype betekent “initiator”: wie de zaak begon kan niet worden vastgelegd.'),
    `${path}/roltypen/nieuw`,
    t('Roltype toevoegen'),
  )
  add(
    'note',
    informatieobjecttypen.length === 0,
    t('Er zijn geen documenttypen: aan een zaak kan geen document worden gekoppeld.'),
    `${path}/documenttypen/nieuw`,
    t('Documenttype toevoegen'),
  )
  add(
    'note',
    resource.selectielijstProcestype === '',
    t('Er is geen procestype van de selectielijst gekozen.'),
    `${gegevens}/archief#veld-selectielijstProcestype`,
    t('Procestype kiezen'),
  )
  add(
    'note',
    found.zonderKlasse.length > 0,
    t`Bij ${found.zonderKlasse.map((name) => `“${name}”`).join(', ')} is nog geen klasse van de selectielijst gekozen.`,
    `${path}/resultaattypen`,
    t('Resultaattypen bekijken'),
  )
  for (const { omschrijving, uuid } of found.zonderEigenschap)
    checks.should.push({
      text: t`De bewaartermijn van “${omschrijving}” telt vanaf een eigenschap die dit zaaktype niet (meer) heeft: die zaken kunnen niet worden gesloten.`,
      link: `${path}/resultaattypen/${uuid}#veld-datumEigenschap`,
      action: t('Resultaattype wijzigen'),
    })
  const { servicenorm, doorlooptijd } = resource as { servicenorm: string | null; doorlooptijd: string }
  add(
    'note',
    servicenorm !== null && inDays(servicenorm) > inDays(doorlooptijd),
    t`De servicenorm (${durationInWords(servicenorm)}) is langer dan de doorlooptijd (${durationInWords(doorlooptijd)}).`,
    `${gegevens}/termijnen#veld-servicenorm`,
    t('Termijnen wijzigen'),
  )
  add(
    'note',
    found.gelijk,
    t`Een ander zaaktype in deze catalogus heet ook “${version.omschrijving}”.`,
    `${gegevens}/basis#veld-omschrijving`,
    t('Omschrijving wijzigen'),
  )
  checks.along.push(
    ...(await unpublished(
      db,
      'informatieobjecttype',
      sql`select r.informatieobjecttype_id from zaaktype_informatieobjecttype r where r.zaaktype_id = ${id}`,
    )),
    ...(await unpublished(
      db,
      'besluittype',
      sql`select r.besluittype_id from zaaktype_besluittype r where r.zaaktype_id = ${id}`,
    )),
  )
}

async function unpublished(db: ReadDb, type: Along['type'], links: ReturnType<typeof sql>): Promise<Along[]> {
  const table = sql.raw(type)
  const { rows } = await sql<Along>`select ${type}::text as type, k.uuid, k.omschrijving as name from ${table} k
    where k.id in (${links}) and k.concept and not exists (select 1 from ${table} v where v.catalogus_id = k.catalogus_id
      and v.omschrijving = k.omschrijving and v.omschrijving <> '' and not v.concept)
    order by lower(k.omschrijving)`.execute(db)
  return rows
}

/** The published versions of the same type whose period overlaps, with the day on which they could end (ztc-016). */
async function overlapsOf(db: ReadDb, version: Version): Promise<Overlap[]> {
  if (version.key === '') return []
  const { rows } = await sql<{ uuid: string; begin: string; einde: string | null }>`
    select uuid, begin_geldigheid as begin, einde_geldigheid as einde from ${sql.table(version.type)} t
    where catalogus_id = ${version.catalogusId} and ${sql.ref(TYPE_KEY[version.type])} = ${version.key} and not concept
      and id <> ${version.id} and ${overlaps({ beginGeldigheid: version.begin, eindeGeldigheid: version.einde })}
    order by ${validOn('', null)} desc, begin_geldigheid desc`.execute(db)
  return rows.map((row) => ({ ...row, endsOn: row.begin < version.begin ? addDays(version.begin, -1) : undefined }))
}
