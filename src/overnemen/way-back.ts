// The way back: another product can take over from our APIs, as from any service of the standard. What they do not show, or what
// an older version of the standard has no place for, is counted here before anybody decides.
import type postgres from 'postgres'
import type { Database } from '../database/database.ts'
import { one } from '../database/rows.ts'

export type Loss = { wat: string; aantal: number; text: string }

type Counted = postgres.PendingQuery<{ aantal: number }[]>
const LOSSES: { wat: string; text: string; count(sql: postgres.Sql): Counted }[] = [
  {
    wat: 'Geheimen van clients',
    text: 'Geen API toont ze: geef elke client in het andere product een nieuw geheim.',
    count: (sql) => sql<{ aantal: number }[]>`select count(*) as aantal from applicatie_secret`,
  },
  {
    wat: 'Rechten op een hele catalogus',
    text: 'Een ander product ziet een recht per type van nu. Typen van later vallen erbuiten.',
    count: (sql) => sql<{ aantal: number }[]>`select count(*) as aantal from catalogus_autorisatie`,
  },
  {
    wat: 'Applicaties die alleen lezen wat gereed is voor publicatie',
    text: 'Deze beperking kent de standaard niet: zo’n applicatie ziet daar alles waar zij rechten op heeft.',
    count: (sql) => sql<{ aantal: number }[]>`
      select count(*) as aantal from applicatie where alleen_is_gereed_voor_publicatie`,
  },
  {
    wat: 'Client-ids bij meer dan een applicatie',
    text: 'Een ander product kan dit weigeren: voeg de applicaties samen.',
    count: (sql) => sql<{ aantal: number }[]>`select count(*) as aantal from applicatie_client_more`,
  },
  {
    wat: 'Sloten op documenten',
    text: 'De API toont dat een document op slot is, en niet het slot zelf: laat ze ontgrendelen voor de omschakeling.',
    count: (sql) => sql<{ aantal: number }[]>`
      select count(*) as aantal from enkelvoudiginformatieobject where lock is not null`,
  },
  {
    wat: 'Uploads die niet af zijn',
    text: 'Delen die al zijn ontvangen gaan niet mee: laat ze afmaken, of begin ze opnieuw.',
    count: (sql) => sql<{ aantal: number }[]>`
      select count(distinct enkelvoudiginformatieobject_id) as aantal from bestandsdeel`,
  },
  {
    wat: 'Gereserveerde nummers',
    text: 'Geen API toont ze: wie er een heeft, vraagt een nieuw aan.',
    count: (sql) => sql<{ aantal: number }[]>`
      select (select count(*) from reserved_zaaknummer) + (select count(*) from reserved_documentnummer) as aantal`,
  },
  {
    wat: 'Dubbele identificaties',
    text: 'Objecten die zo zijn overgenomen. Een ander product kan ze weigeren.',
    count: (sql) => sql<{ aantal: number }[]>`
      select (select count(*) from zaak where duplicate > 0) + (select count(*) from enkelvoudiginformatieobject where duplicate > 0)
      + (select count(*) from besluit where duplicate > 0) as aantal`,
  },
  {
    wat: 'Audittrails van wat is verwijderd',
    text: 'De API toont een audittrail alleen bij een object dat er nog is.',
    count: (sql) => sql<{ aantal: number }[]>`
      select count(distinct a.hoofd_object_uuid) as aantal from audit a where a.bron in ('zrc', 'drc', 'brc')
      and not exists (select from zaak z where z.uuid = a.hoofd_object_uuid)
      and not exists (select from enkelvoudiginformatieobject e where e.uuid = a.hoofd_object_uuid)
      and not exists (select from besluit b where b.uuid = a.hoofd_object_uuid)`,
  },
  {
    wat: 'Spiegels van relaties bij andere diensten',
    text: 'De relaties zelf gaan mee. Dat het andere product ze bij de andere dienst opruimt als ze vervallen, niet.',
    count: (sql) => sql<{ aantal: number }[]>`select count(*) as aantal from mirror`,
  },
  {
    wat: 'Registraties van andere diensten',
    text: 'Hun adressen en sleutels staan alleen hier: stel ze daar opnieuw in.',
    count: (sql) => sql<{ aantal: number }[]>`select count(*) as aantal from service`,
  },
  {
    wat: 'Abonnementen op notificaties',
    text: 'Afnemers abonneren zich opnieuw.',
    count: (sql) => sql<{ aantal: number }[]>`select count(*) as aantal from abonnement`,
  },
  {
    wat: 'Beheerders',
    text: 'Accounts van deze pagina’s gaan niet mee.',
    count: (sql) => sql<{ aantal: number }[]>`select count(*) as aantal from beheer_account`,
  },
]

/** What another product cannot take over from our APIs; kinds of which there is nothing are left out. */
export async function lossesOnWayBack({ sql }: Pick<Database, 'sql'>): Promise<Loss[]> {
  const losses: Loss[] = []
  for (const { wat, text, count } of LOSSES) {
    const aantal = one(await count(sql)).aantal
    if (aantal > 0) losses.push({ wat, aantal, text })
  }
  return losses
}
