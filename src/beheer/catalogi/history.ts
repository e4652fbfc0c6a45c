// What was done to a type, as sentences: who, what, and from what into what.

import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { historyOf } from '../frame/history.ts'
import { keysetByNumber } from '../frame/lookup.ts'
import { t, words } from '../language/language.ts'
import { crumbsOf, requireVersion, TYPES, viewing } from './context.ts'

type Row = {
  id: number
  at: string
  gebruiker: string
  handeling: string
  weergave: string
  oud: unknown
  nieuw: unknown
}

const VERBS: [ending: string, words: string][] = words(
  [
    ['-nieuwe-versie', 'als nieuwe versie gemaakt'],
    ['-volgorde', 'gewijzigd'],
    ['-maken', 'gemaakt'],
    ['-wijzigen', 'gewijzigd'],
    ['-verwijderen', 'verwijderd'],
    ['-publiceren', 'gepubliceerd'],
    ['-beeindigen', 'een andere laatste dag gegeven'],
    ['-kopieren', 'als kopie gemaakt'],
    ['-importeren', 'geïmporteerd'],
    ['-voorbeeld', 'gemaakt naar een voorbeeld'],
  ],
  '1',
)

export function registerHistory(app: FastifyInstance): void {
  for (const info of Object.values(TYPES)) {
    app.get(`/catalogi/${info.path}/:uuid/geschiedenis`, { config: viewing }, async (request, reply) => {
      const version = await requireVersion(app, request, info.type)
      const list = await keysetByNumber<Row>(request, app.read, {
        size: 25,
        select: sql`select b.id, b.tijdstip as at, coalesce(nullif(a.naam, ''), b.gebruiker) as gebruiker, b.handeling,
          b.object_weergave as weergave, b.oud, b.nieuw from beheer_audit b left join beheer_account a on a.uuid = b.account_uuid`,
        id: sql`b.id`,
        conditions: [sql`b.object_id = ${version.uuid}`, sql`b.resultaat = 'geslaagd'`],
      })
      const trail = await historyOf(app, request, version.uuid)
      return reply.page('catalogi-history', {
        title: t('Geschiedenis'),
        breadcrumbs: crumbsOf(version),
        list: {
          ...list,
          rows: list.rows.map((row) => ({ ...row, sentence: sentence(row), changes: changes(row) })),
        },
        trail: trail.rows.filter(({ who }) => !/(^|, )Beheer$/.test(who)),
      })
    })
  }
}

/** `Anna heeft Statustype “Ontvangen” bij Melding gewijzigd.` */
export function sentence({
  gebruiker,
  handeling,
  weergave,
}: Pick<Row, 'gebruiker' | 'handeling' | 'weergave'>): string {
  const verb = VERBS.find(([ending]) => handeling.endsWith(ending))?.[1] ?? handeling.replaceAll('-', ' ')
  return t`${gebruiker || t('Iemand')} heeft ${weergave || 'dit'} ${verb}.`
}

/** `Doorlooptijd: van “30 dagen” in “6 weken”`, a line for each field. */
export function changes({ oud, nieuw }: Pick<Row, 'oud' | 'nieuw'>): string[] {
  const [before = {}, after = {}] = [oud, nieuw].map((state) => (state ?? {}) as Record<string, unknown>)
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((label) => {
    const [from, to] = [String(before[label] ?? ''), String(after[label] ?? '')]
    if (from === to || (from === '' && to === '')) return []
    if (from === '') return [`${label}: “${to}”`]
    return [to === '' ? t`${label}: “${from}” weggehaald` : t`${label}: van “${from}” in “${to}”`]
  })
}
