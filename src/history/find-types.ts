// Which types cases and documents can be of at a server that is not ours.
import { today } from '../lib/day.ts'
import { request, type Target } from './ask.ts'
import type { PlayOptions } from './play.ts'

type Asked = { zaaktype?: string; informatieobjecttype?: string; organisation?: string }
type Found = Pick<PlayOptions, 'zaaktype' | 'informatieobjecttype' | 'organisation'>
type Version = { url: string; catalogus: string; beginGeldigheid: string; eindeGeldigheid?: string | null }

const CATALOGI = '/catalogi/api/v1'
const ANY_RSIN = '000000000' // an RSIN by its check

/** @returns what was asked for, and the first that is valid of the rest; in words why there is none */
export async function findTypes(target: Target, asked: Asked): Promise<Found | string> {
  const day = today()
  const first = async (list: string): Promise<Version | string> => {
    const { status, body } = await request(target, 'GET', `${CATALOGI}/${list}?status=definitief`)
    if (status !== 200) return `GET ${CATALOGI}/${list} answered ${status ?? 'nothing'}`
    const { results } = body as { results: Version[] }
    const valid = results.find(
      ({ beginGeldigheid, eindeGeldigheid }) => beginGeldigheid <= day && !(eindeGeldigheid && eindeGeldigheid <= day),
    )
    return valid ?? `there are no valid ${list}`
  }
  const zaaktype = asked.zaaktype === undefined ? await first('zaaktypen') : undefined
  if (typeof zaaktype === 'string') return zaaktype
  const informatieobjecttype = asked.informatieobjecttype ?? (await first('informatieobjecttypen'))
  return {
    zaaktype: asked.zaaktype ?? zaaktype!.url,
    informatieobjecttype:
      typeof informatieobjecttype === 'object' ? informatieobjecttype.url : (asked.informatieobjecttype ?? undefined),
    organisation: asked.organisation ?? (await rsinOf(target, zaaktype?.catalogus)) ?? ANY_RSIN,
  }
}

async function rsinOf(target: Target, catalogus: string | undefined): Promise<string | undefined> {
  const path = /\/catalogi\/api\/v1\/.+/.exec(catalogus ?? '')?.[0]
  if (path === undefined) return undefined
  const { body } = await request(target, 'GET', path)
  const { rsin } = (body ?? {}) as { rsin?: unknown }
  return typeof rsin === 'string' ? rsin : undefined
}
