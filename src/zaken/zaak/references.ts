// What a case refers to elsewhere: asked before a transaction begins, since another service may be slow.
import type { FastifyInstance } from 'fastify'
import { fetchTypes, type RemoteKind, type RemoteTypes } from '../../catalogi/remote-types.ts'
import { openSelectielijst, type Selectielijst } from '../../catalogi/selectielijst.ts'
import type { InvalidParam } from '../../core/problem.ts'
import { fault } from '../../core/problem.ts'
import { localUuid, resolveLink } from '../../http/links.ts'
import type { ZaakPatch } from './columns.ts'
import { archivingFaultsElsewhere } from './remote-documents.ts'

export type References = {
  /** Faults of the URLs in `given` that point elsewhere and are not in `known`, which was judged when it was stored. */
  judge(given: ZaakPatch, base: string, known?: Partial<ZaakPatch>): Promise<InvalidParam[]>
  /** The zaaktypen elsewhere that the rules look at when `known`, or else a new case, gets what is given. */
  zaaktypen(given: ZaakPatch, base: string, known?: Partial<ZaakPatch>): Promise<RemoteTypes>
}

/** What judges the URLs that a case refers to. */
export async function openReferences(app: FastifyInstance): Promise<References> {
  const { config, services } = app.parts
  const selectielijst = await openSelectielijst(config, services, app.read, app.hasMany)

  /** zrc-010, zrc-011: what is at a URL answers 200 with these members. */
  async function judgeJson(name: string, url: string, base: string, members: string[]): Promise<InvalidParam[]> {
    const target = resolveLink(url, base)
    if (target.kind === 'ours') return [fault(name, 'invalid-resource', 'Deze URL is van een andere resource.')]
    const fetched = target.kind === 'elsewhere' ? await services.fetchJson(url) : undefined
    if (fetched?.kind !== 'ok') return [fault(name, 'bad-url', 'Deze URL is niet op te vragen.')]
    const body = fetched.body as Record<string, unknown> | null | undefined
    if (body && typeof body === 'object' && members.every((member) => typeof body[member] === 'string')) return []
    return [fault(name, 'invalid-resource', 'Op deze URL staat iets anders.')]
  }

  return {
    async judge(given, base, known = {}) {
      const found: Promise<InvalidParam[]>[] = []
      if (given.communicatiekanaal && given.communicatiekanaal !== known.communicatiekanaal)
        found.push(judgeJson('communicatiekanaal', given.communicatiekanaal, base, ['url', 'naam', 'omschrijving']))
      if (given.selectielijstklasse && given.selectielijstklasse !== known.selectielijstklasse)
        found.push(judgeKlasse(selectielijst, given.selectielijstklasse))
      for (const list of ['relevanteAndereZaken', 'gerelateerdeZaken'] as const) {
        const stored = new Set((known[list] ?? []).map(({ url }) => url))
        for (const [index, { url }] of (given[list] ?? []).entries()) {
          if (stored.has(url) || resolveLink(url, base).kind !== 'elsewhere') continue
          found.push(judgeJson(`${list}.${index}.url`, url, base, ['url', 'identificatie', 'zaaktype']))
        }
      }
      const { url } = known as { url?: string }
      const uuid = url && localUuid(url, base, 'zaak')
      if (uuid && given.archiefstatus && given.archiefstatus !== 'nog_te_archiveren')
        found.push(archivingFaultsElsewhere(app, uuid)) // zrc-022
      return (await Promise.all(found)).flat()
    },
    async zaaktypen(given, base, known = {}) {
      const wanted: [RemoteKind, string | undefined][] = []
      if (given.zaaktype !== known.zaaktype) wanted.push(['zaaktype', given.zaaktype])
      const products = known.productenOfDiensten ?? []
      if ((given.productenOfDiensten ?? []).some((url) => !products.includes(url)))
        wanted.push(['zaaktype', known.zaaktype])
      const own = known.zaaktype ?? given.zaaktype ?? ''
      if (given.hoofdzaak && given.hoofdzaak !== known.hoofdzaak && resolveLink(own, base).kind === 'elsewhere')
        wanted.push(['zaaktype', await zaaktypeUrlOf(app, given.hoofdzaak, base)])
      return fetchTypes(services, base, wanted)
    },
  }
}

/** Where the zaaktype of a case of ours stands, if that is elsewhere. */
export async function zaaktypeUrlOf(app: FastifyInstance, zaak: string, base: string): Promise<string | undefined> {
  const uuid = localUuid(zaak, base, 'zaak')
  if (uuid === undefined) return undefined
  const row = await app.read.selectFrom('zaak').where('uuid', '=', uuid).select('zaaktypeUrl').executeTakeFirst()
  return row?.zaaktypeUrl ?? undefined
}

async function judgeKlasse(selectielijst: Selectielijst, url: string): Promise<InvalidParam[]> {
  const found = await selectielijst.find(url, 'Resultaat')
  return found.kind === 'fault' ? [fault('selectielijstklasse', found.code, found.reason)] : []
}
