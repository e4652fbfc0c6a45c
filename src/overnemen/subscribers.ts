// Takes over who gets messages: kanalen and abonnementen of another notifications service, each callback tried out. Nothing is sent
// before the switch, because nothing is announced before it.
import type { Config } from '../config.ts'
import { systemActor } from '../core/access.ts'
import { mutator } from '../core/mutate.ts'
import { Problem } from '../core/problem.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Database, ReadDb } from '../database/database.ts'
import { ownAddress } from '../http/links.ts'
import { openDelivery, subscriberOwner } from '../notificaties/deliver.ts'
import { judge } from '../nrc/abonnement/judge.ts'
import { tryOut } from '../nrc/abonnement/try-out.ts'
import { changeAbonnement, createAbonnement, type Settings } from '../nrc/abonnement/write.ts'
import { forClients } from '../services/addresses.ts'
import { openAgent } from '../services/transport.ts'
import { addresses } from './addresses.ts'
import type { Abonnement, Kanaal, Notifications } from './open-zaak/notifications.ts'

export type Taken = {
  uuid: string
  host: string
  /** `proef`: looked at only. */
  outcome: 'made' | 'changed' | 'refused' | 'proef'
  /** What somebody has to do, a sentence each. */
  remarks: string[]
}

const LACKS: Record<Abonnement['lacks'][number], string> = {
  certificate: 'Het clientcertificaat gaat niet mee: vul het in op de pagina van het abonnement.',
  'cloudevent-filter': 'Filters op soorten cloud events gaan niet mee.',
}

/**
 * Writes them, those that are here already anew, and tries every callback.
 * @param old addresses by which the source names itself, in the values of filters
 * @param trial only judges and tries
 */
export async function takeSubscribers(
  { config, database, box }: { config: Config; database: Database; box: SecretBox },
  { kanalen, abonnementen }: Notifications,
  { old, trial }: { old: string[]; trial: boolean },
): Promise<Taken[]> {
  const own = ownAddress(config)
  const mutate = mutator(database)
  const actor = systemActor('overnemen', own)
  const db = database.db as unknown as ReadDb
  const { rewrite } = addresses(old, own)
  const agent = openAgent({ policy: forClients(config), connections: 5, proxies: config.proxies })
  const delivery = openDelivery(config, box)
  const taken: Taken[] = []
  try {
    if (!trial) {
      await writeKanalen(database, kanalen)
      await database.sql`update notificatie_settings set mode = 'ingebouwd' where mode = 'extern' and configured_service_id is null`
    }
    for (const given of abonnementen) {
      const remarks = given.lacks.map((lack) => LACKS[lack])
      const groups = given.kanalen.map(({ naam, filters }) => ({
        naam,
        filters: Object.fromEntries(Object.entries(filters).map(([key, value]) => [key, rewrite(value)])),
      }))
      const settings = {
        ...{ callbackUrl: given.callbackUrl, authenticatie: given.authenticatie, auth: given.auth ?? '' },
        ...{ outgoingClientId: given.outgoingClientId, tokenUrl: given.tokenUrl, tokenScope: given.tokenScope },
        cloudevents: given.cloudevents,
      }
      let outcome: Taken['outcome'] = 'proef'
      try {
        // In a trial its kanalen are not here yet.
        const judged = await judge(db, config, { ...settings, ...(!trial && { kanalen: groups }) })
        if (!trial) outcome = await writeOne(given, settings, judged)
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        outcome = 'refused'
        remarks.push(
          ...(error.invalidParams ?? []).map(({ reason }) => reason),
          ...(error.invalidParams ? [] : [error.detail ?? '']),
        )
      }
      if (given.auth === undefined)
        remarks.push('De bron toont niet hoe zij zich bekendmaakt: vul de autorisatie in en hervat het abonnement.')
      else if (outcome !== 'refused') remarks.push(...(await tryCallback(given, settings)))
      taken.push({ uuid: given.uuid, host: URL.parse(given.callbackUrl)?.host ?? '', outcome, remarks })
    }
  } finally {
    await Promise.all([agent.destroy(), delivery.close()])
  }
  return taken

  async function writeOne(
    { uuid, clientId, auth }: Abonnement,
    settings: Partial<Settings> & Pick<Settings, 'callbackUrl' | 'auth'>,
    groups: Awaited<ReturnType<typeof judge>>,
  ): Promise<'made' | 'changed'> {
    const [owner] = await database.sql<{ uuid: string }[]>`
      select p.uuid from applicatie_client_all c join applicatie p on p.id = c.applicatie_id
      where c.client_id = ${clientId} order by p.id limit 1`
    const [known] = await database.sql<
      { auth: Buffer }[]
    >`select auth from abonnement where uuid = ${uuid} and deleted_at is null`
    const applicatieUuid = owner?.uuid ?? null
    await mutate(actor, async (m) => {
      if (known) {
        const { auth: _, ...others } = settings
        await changeAbonnement(m, box, uuid, { ...(auth === undefined ? others : settings), applicatieUuid }, groups)
      } else {
        await createAbonnement(m, { box }, uuid, { ...settings, applicatieUuid }, groups)
        // What nobody can send to misses nothing: it is sent when somebody has filled in how.
        await m.sql`
          update abonnement set client_id = ${clientId},
            status = ${auth === undefined ? 'gepauzeerd' : 'actief'},
            reason = ${auth === undefined ? 'Overgenomen zonder autorisatie: vul haar in en hervat.' : ''}
          where uuid = ${uuid}`
      }
    })
    return known ? 'changed' : 'made'
  }

  async function tryCallback(given: Abonnement, settings: { auth: string; callbackUrl: string }): Promise<string[]> {
    const steps = await tryOut(
      { agent, delivery, config },
      {
        ...{ uuid: given.uuid, callbackUrl: settings.callbackUrl, authenticatie: given.authenticatie },
        auth: box.sealFor(settings.auth, subscriberOwner(given.uuid), [settings.callbackUrl, given.tokenUrl]),
        ...{ outgoingClientId: given.outgoingClientId, tokenUrl: given.tokenUrl, tokenScope: given.tokenScope },
        ...{
          certificaat: '',
          certificateKey: null,
          ondertekening: [],
          cloudevents: given.cloudevents,
          timeoutMs: 10_000,
          atOnce: 1,
        },
      },
    )
    return steps.flatMap(({ step, ok, outcome, httpStatus }) => {
      if (ok) return []
      if (!httpStatus) return [`De callback antwoordt niet (${outcome}).`]
      const answer = `status ${httpStatus}`
      return step === 'refuses'
        ? [`De callback neemt berichten aan van wie zich niet bekendmaakt (${answer}).`]
        : [`De callback neemt een testbericht niet aan (${answer}).`]
    })
  }
}

/** Those of our own keep their filters; others get those of the source beside what they have. */
async function writeKanalen({ sql }: Database, kanalen: Kanaal[]): Promise<void> {
  for (const { uuid, naam, documentatieLink, filters } of kanalen)
    await sql`
      insert into kanaal (uuid, naam, documentatie_link, filters) values (${uuid}, ${naam}, ${documentatieLink}, ${filters})
      on conflict (naam) do update set documentatie_link = excluded.documentatie_link,
        filters = array(select distinct unnest(kanaal.filters || excluded.filters))
      where not kanaal.own`
}
