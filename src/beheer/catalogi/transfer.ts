// Catalogues and types as ZIP files.
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Selectielijst } from '../../catalogi/selectielijst.ts'
import {
  exportCatalogus,
  exportZaaktype,
  type Imported,
  importPackage,
  PackageFault,
  readPackage,
} from '../../catalogi/zip.ts'
import type { Mutate } from '../../database/mutate.ts'
import { notFound } from '../../http/problem.ts'
import { mutateFromPage } from '../change.ts'
import { requireToken } from '../csrf-token.ts'
import type { Fouten } from '../form.ts'
import { queryText, uuidParam } from '../lookup.ts'
import { redirectWith } from '../page.ts'
import { beheerActor } from '../session.ts'
import { beheren, kijken } from './context.ts'

export async function registerTransfer(app: FastifyInstance, selectielijst: Selectielijst): Promise<void> {
  app.get('/catalogi/:uuid/export.zip', { config: kijken }, async (request, reply) => {
    const bytes = await exportCatalogus(app.read, request.base, uuidParam(request))
    if (!bytes) throw notFound('Deze catalogus bestaat niet.')
    return reply
      .type('application/zip')
      .header('content-disposition', 'attachment; filename="catalogus.zip"')
      .send(bytes)
  })
  app.get('/catalogi/zaaktypen/:uuid/export.zip', { config: kijken }, async (request, reply) => {
    const bytes = await exportZaaktype(app.read, request.base, uuidParam(request))
    if (!bytes) throw notFound('Dit zaaktype bestaat niet.')
    return reply
      .type('application/zip')
      .header('content-disposition', 'attachment; filename="zaaktype.zip"')
      .send(bytes)
  })

  await app.register(async (scope) => {
    if (!scope.hasContentTypeParser('multipart/form-data')) await scope.register(multipart)
    scope.get('/catalogi/importeren', { config: beheren }, async (request, reply) =>
      reply.pagina('catalogi-importeren', {
        ...IMPORT,
        catalogussen: await catalogussen(),
        invoer: { catalogus: queryText(request, 'catalogus') },
      }),
    )
    scope.post('/catalogi/importeren', { config: { ...beheren, eigenToken: true } }, async (request, reply) => {
      const invoer: Record<string, string> = {}
      let bytes: Buffer | undefined
      const fouten: Fouten = {}
      for await (const part of request.parts({ limits: { fileSize: MAX_ZIP, files: 1, fields: 10 } })) {
        if (part.type === 'field') {
          invoer[part.fieldname] = String(part.value)
          continue
        }
        await requireToken(request, reply, invoer._csrf ?? '')
        bytes = await part.toBuffer()
      }
      await requireToken(request, reply, invoer._csrf ?? '')
      if (!bytes?.length) fouten.bestand = 'Kies een ZIP-bestand.'
      else {
        try {
          const imported = await importeer(request, bytes, invoer)
          const aantal = Object.values(imported.made).reduce((sum, count) => sum + count, 0)
          if (imported.changes.length > 0) return reply.pagina('catalogi-geimporteerd', changesPage(aantal, imported))
          return redirectWith(
            request,
            reply,
            '/catalogi',
            `${aantal} onderdelen overgenomen, als concept. Publiceer wat u wilt gebruiken.`,
          )
        } catch (error) {
          if (!(error instanceof PackageFault)) throw error
          fouten.bestand = error.message
        }
      }
      return reply
        .code(400)
        .pagina('catalogi-importeren', { ...IMPORT, catalogussen: await catalogussen(), invoer, fouten })
    })
  })

  async function importeer(request: FastifyRequest, bytes: Buffer, invoer: Record<string, string>): Promise<Imported> {
    const mutate: Mutate = (_actor, work) =>
      mutateFromPage(request, async (m) => {
        const done = await work(m)
        const { made, urls, changes } = done as Imported
        m.vastleggen({
          handeling: 'catalogus-importeren',
          soort: 'catalogus',
          id: invoer.catalogus ?? '',
          nieuw: { made, urls, changes },
        })
        return done
      })
    return importPackage(mutate, beheerActor(request), selectielijst, await readPackage(bytes), {
      keepUuids: invoer.uuidsBehouden === 'true',
      newTypes: invoer.nieuweTypen === 'true',
      ...(invoer.catalogus && { catalogusUuid: invoer.catalogus }),
    })
  }

  async function catalogussen(): Promise<[string, string][]> {
    const rows = await app.read
      .selectFrom('catalogus')
      .select(['uuid', 'naam', 'domein'])
      .orderBy('domein')
      .limit(500)
      .execute()
    return [
      ['', 'De catalogus in het bestand'],
      ...rows.map(({ uuid, naam, domein }): [string, string] => [uuid, naam ? `${naam} (${domein})` : domein]),
    ]
  }
}

const IMPORT = { titel: 'Catalogus importeren', kruimels: [{ pad: '/catalogi', naam: 'Catalogi' }] }
const MAX_ZIP = 50 * 1024 * 1024
const MAX_CHANGES = 200

/** What was taken over otherwise than the file says, to read after an import. */
function changesPage(aantal: number, { changes }: Imported) {
  const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  return {
    titel: 'Catalogus geïmporteerd',
    kruimels: IMPORT.kruimels,
    aantal,
    kolommen: [
      ['onderdeel', 'Onderdeel'],
      ['veld', 'Veld'],
      ['bestand', 'In het bestand'],
      ['genomen', 'Overgenomen als'],
    ],
    rijen: changes.slice(0, MAX_CHANGES).map(({ resource, label, field, given, taken }) => ({
      onderdeel: `${resource} ${label}`,
      veld: field === 'url' ? 'bestaand type gebruikt' : field,
      bestand: shown(given),
      genomen: taken === null ? 'weggelaten' : shown(taken),
    })),
    meer: Math.max(0, changes.length - MAX_CHANGES),
  }
}
