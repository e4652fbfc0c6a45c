// The order of the statustypen of a draft, and the form that changes it.
import type { FastifyInstance } from 'fastify'
import { reorderStatustypen } from '../../catalogi/zaaktype/statustypen.ts'
import { Problem } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { uuidOf } from '../../http/links.ts'
import { mutateFromPage, type PageMutation } from '../frame/change.ts'
import { formFaultsOf } from '../frame/form.ts'
import { redirectWith } from '../frame/page.ts'
import { t } from '../language/language.ts'
import { administering, holdVersion, pathOf, requireVersion, type Version } from './context.ts'

export function registerStatusOrder(app: FastifyInstance): void {
  app.post('/catalogi/zaaktypen/:uuid/statustypen/volgorde', { config: administering }, async (request, reply) => {
    const zaaktype = await requireVersion(app, request, 'zaaktype')
    const path = `${pathOf(zaaktype)}/statustypen`
    if (!zaaktype.concept) return redirectWith(request, reply, path, fixedOrder(), 'fout')
    const form = request.body as Record<string, string | string[] | undefined>
    const list = (value: string | string[] | undefined) =>
      [value ?? []]
        .flat()
        .flatMap((one) => one.split(','))
        .filter(Boolean)
    const expected = list(form._basis)
    const order = moved(list(form.volgorde), form)
    try {
      await mutateFromPage(request, async (m) => {
        await holdVersion(m, 'zaaktype', zaaktype.uuid, true)
        const now = await orderOf(m.read, zaaktype.id)
        if (now.map(({ uuid }) => uuid).join() !== expected.join())
          throw new Problem(409, {
            detail: t(
              'Iemand anders heeft de statustypen intussen gewijzigd. Uw volgorde is niet opgeslagen; hieronder staat de huidige.',
            ),
          })
        const names = (uuids: string[]) =>
          uuids.map((uuid) => now.find((one) => one.uuid === uuid)?.omschrijving).join(' → ')
        await reorderStatustypen(m, zaaktype.uuid, order)
        m.audit({
          handeling: 'statustype-volgorde',
          soort: 'zaaktype',
          id: zaaktype.uuid,
          weergave: `Volgorde van de statustypen bij ${zaaktype.omschrijving}`,
          oud: { Volgorde: names(expected) },
          nieuw: { Volgorde: names(order) },
        })
      })
    } catch (error) {
      return redirectWith(request, reply, path, Object.values(formFaultsOf(error)).join(' '), 'fout')
    }
    const last = (await orderOf(app.read, zaaktype.id)).at(-1)
    return redirectWith(request, reply, path, t`De volgorde is opgeslagen. “${last?.omschrijving}” sluit de zaak.`)
  })
}

const fixedOrder = () =>
  t('De volgorde van de statustypen ligt vast sinds de publicatie. Maak een nieuwe versie om haar te wijzigen.')

async function orderOf(db: ReadDb, zaaktypeId: number) {
  return db
    .selectFrom('statustype')
    .where('zaaktypeId', '=', zaaktypeId)
    .select(['uuid', 'omschrijving'])
    .orderBy('volgnummer')
    .execute()
}

/** Puts a statustype before another one of the zaaktype; without that one it stays where it is. @param url of the statustype */
export async function moveBefore(m: PageMutation, zaaktype: Version, url: string, before: string): Promise<void> {
  const uuids = (await orderOf(m.read, zaaktype.id)).map(({ uuid }) => uuid).filter((uuid) => uuid !== uuidOf(url))
  const place = uuids.indexOf(uuidOf(before))
  if (place >= 0) await reorderStatustypen(m, zaaktype.uuid, uuids.toSpliced(place, 0, uuidOf(url)))
}

/** The order after a button for one row: a place up or down. */
function moved(order: string[], form: Record<string, unknown>): string[] {
  const [uuid, step] =
    typeof form.omhoog === 'string' ? [form.omhoog, -1] : typeof form.omlaag === 'string' ? [form.omlaag, 1] : ['', 0]
  const from = order.indexOf(uuid)
  const to = from + step
  if (from < 0 || to < 0 || to >= order.length) return order
  return order.toSpliced(from, 1).toSpliced(to, 0, uuid)
}
