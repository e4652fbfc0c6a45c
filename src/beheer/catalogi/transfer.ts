// Catalogues and types as ZIP files.

import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { exportCatalogus, exportZaaktype } from '../../catalogi/package/export.ts'
import { type Package, PackageFault } from '../../catalogi/package/files.ts'
import {
  CatalogusExists,
  CatalogusName,
  type ExistingCatalogus,
  findExistingCatalogus,
  type Imported,
  type ImportOptions,
  importPackage,
  type Known,
  typeKey,
} from '../../catalogi/package/import.ts'
import { PAGE_PACKAGE_BYTES, readPackage } from '../../catalogi/package/read.ts'
import type { Selectielijst } from '../../catalogi/selectielijst.ts'
import type { Change, MutateWhole } from '../../core/mutate.ts'
import { notFound, Problem } from '../../core/problem.ts'
import { formParts } from '../../http/forms.ts'
import { countLongAnswers } from '../../http/long-answers.ts'
import { countStream } from '../../http/stream.ts'
import { largeTurn } from '../../http/turns.ts'
import { today } from '../../lib/day.ts'
import { inTurnOfAll } from '../../telemetry/current-organisation.ts'
import { mutateFromPage } from '../frame/change.ts'
import { requireToken } from '../frame/csrf-token.ts'
import { type FormFaults, formFaultsOf, readForm } from '../frame/form.ts'
import { formatDate } from '../frame/format.ts'
import { queryText, uuidParam } from '../frame/lookup.ts'
import { redirectWith } from '../frame/page.ts'
import { beheerActor } from '../frame/session.ts'
import { reason, t, words } from '../language/language.ts'
import { administering, viewing } from './context.ts'

export async function registerTransfer(app: FastifyInstance, selectielijst: Selectielijst): Promise<void> {
  app.get('/catalogi/:uuid/export.zip', { config: viewing }, async (request, reply) => {
    countStream(request, reply)
    const zip = await exportCatalogus(app.read, request.base, uuidParam(request), () => largeTurn(request))
    if (!zip) throw notFound(t('Deze catalogus bestaat niet.'))
    return reply
      .type('application/zip')
      .header('content-disposition', `attachment; filename="catalogus-${today()}.zip"`)
      .send(zip)
  })
  app.get('/catalogi/zaaktypen/:uuid/export.zip', { config: viewing }, async (request, reply) => {
    countStream(request, reply)
    const zip = await exportZaaktype(app.read, request.base, uuidParam(request), () => largeTurn(request))
    if (!zip) throw notFound(t('Dit zaaktype bestaat niet.'))
    return reply
      .type('application/zip')
      .header('content-disposition', `attachment; filename="zaaktype-${today()}.zip"`)
      .send(zip)
  })

  await app.register(async (scope) => {
    if (!scope.hasContentTypeParser('multipart/form-data')) await scope.register(multipart)
    scope.get('/catalogi/importeren', { config: administering }, async (request, reply) =>
      reply.page('catalogi-import', {
        ...IMPORT,
        catalogussen: await catalogussen(),
        input: { catalogus: queryText(request, 'catalogus') },
      }),
    )
    scope.post('/catalogi/importeren', { config: { ...administering, checksToken: true } }, async (request, reply) => {
      countForms(request, reply)
      const form = await receive(request, reply)
      return uploads(() => takeIn(request, reply, form))
    })

    /** The whole form, as slowly as it comes: it holds no place but its own. */
    async function receive(request: FastifyRequest, reply: FastifyReply): Promise<Form> {
      const input: Record<string, string> = {}
      const choices: string[] = []
      let bytes: Buffer | undefined
      let inFields = 0
      const limits = { fields: MAX_CHOICES + 10, fieldBytes: 2 * MAX_CARRIED, fileBytes: MAX_ZIP }
      for await (const part of formParts(request, limits)) {
        if (part.type === 'field') {
          const value = String(part.value)
          inFields += value.length
          if (inFields > MAX_IN_FIELDS) throw new Problem(413)
          if (part.fieldname === 'keuze') choices.push(value)
          else input[part.fieldname] = value
          continue
        }
        await requireToken(request, reply, input._csrf ?? '')
        bytes = await part.toBuffer()
        if (part.file.truncated) throw new Problem(413)
      }
      await requireToken(request, reply, input._csrf ?? '')
      if (!bytes?.length && input.inhoud) bytes = Buffer.from(input.inhoud, 'base64')
      return { input, choices, bytes }
    }

    async function takeIn(
      request: FastifyRequest,
      reply: FastifyReply,
      { input, choices, bytes }: Form,
    ): Promise<FastifyReply> {
      const faults: FormFaults = {}
      let content = ''
      if (!bytes?.length) faults.bestand = t('Kies een ZIP-bestand.')
      else {
        try {
          const pack = await readPackage(bytes)
          content = carried(bytes)
          // Another domein and RSIN for the catalogue of the file, as chosen in the page for one that is there.
          let catalogusAs: CatalogusName | undefined
          if (!input.catalogus && input.domein !== undefined)
            try {
              catalogusAs = readForm(CatalogusName, input)
            } catch (error) {
              const existing = await findExistingCatalogus(app.read, pack)
              if (existing) return choose(reply, existing, input, content, formFaultsOf(error))
              throw error
            }
          const wanted = { ...options(input, choices), ...(catalogusAs && { catalogusAs }) }
          if (input.stap !== 'importeren')
            return reply.page('catalogi-import-preview', await preview(request, pack, input, wanted, content))
          const imported = await runImport(request, pack, input, wanted)
          const count = Object.values(imported.made).reduce((sum, count) => sum + count, 0)
          if (imported.changes.length > 0) return reply.page('catalogi-imported', changesPage(count, imported))
          return redirectWith(
            request,
            reply,
            '/catalogi',
            t`${count} onderdelen overgenomen, als concept. Publiceer wat u wilt gebruiken.`,
          )
        } catch (error) {
          if (error instanceof CatalogusExists)
            return choose(
              reply,
              error.existing,
              input,
              content,
              input.domein === undefined ? {} : { domein: t('Ook met dit domein en dit RSIN is er al een catalogus.') },
            )
          if (!(error instanceof PackageFault)) throw error
          faults.bestand = reason(error.message)
        }
      }
      return reply.code(400).page('catalogi-import', {
        ...IMPORT,
        catalogussen: await catalogussen(),
        input,
        faults,
        content,
      })
    }

    /** Asks where the types go, as the catalogue of the file is here already. */
    function choose(
      reply: FastifyReply,
      existing: ExistingCatalogus,
      input: Record<string, string>,
      content: string,
      faults: FormFaults,
    ): Promise<FastifyReply> {
      return reply.code(Object.keys(faults).length > 0 ? 400 : 200).page('catalogi-import-choice', {
        title: t('Deze catalogus is er al'),
        breadcrumbs: [...IMPORT.breadcrumbs, { path: '/catalogi/importeren', name: t('Importeren') }],
        existing,
        name: existing.naam || t`Catalogus ${existing.domein}`,
        input,
        domein: input.domein ?? existing.domein,
        rsin: input.rsin ?? existing.rsin,
        isRenamed: input.domein !== undefined,
        faults,
        content,
      })
    }
  })

  /** What an import would make: it is done, looked at, and undone, so that it is what happens when it is done. */
  async function preview(
    request: FastifyRequest,
    pack: Package,
    input: Record<string, string>,
    options: ImportOptions,
    content: string,
  ) {
    const made: MadePart[] = []
    const mutate: MutateWhole = (_actor, work) =>
      mutateFromPage(request, async (m) => {
        const record = (change: Change) => {
          if (change.actie === 'create') made.push(partOf(change))
        }
        throw new Undone((await work({ ...m, record })) as Imported)
      })
    const imported = await importPackage(mutate, beheerActor(request), selectielijst, pack, options).catch(
      (error: unknown) => {
        if (error instanceof Undone) return error.imported
        throw error
      },
    )
    return {
      ...changesPage(made.length, imported),
      title: t('Wat de import doet'),
      breadcrumbs: [...IMPORT.breadcrumbs, { path: '/catalogi/importeren', name: t('Importeren') }],
      ...madeByZaaktype(made),
      // Versions of one type are chosen together.
      known: [...Map.groupBy(imported.known, ({ resource, key }) => typeKey(resource, key))]
        .slice(0, MAX_CHOICES)
        .map(([typeAndKey, versions]) => knownType(typeAndKey, versions)),
      input,
      content,
    }
  }

  /** @param choices of the types that the catalogue has: `hier:key` keeps what is here, `bestand:key` takes what the file has */
  function options(input: Record<string, string>, choices: string[]): ImportOptions {
    const chosen = (where: string) =>
      new Set(choices.flatMap((one) => (one.startsWith(`${where}:`) ? one.slice(where.length + 1) : [])))
    return {
      keepUuids: input.uuidsBehouden === 'true',
      newTypes: choices.length > 0 ? chosen('bestand') : input.nieuweTypen === 'true',
      keepZaaktypen: chosen('hier'),
      ...(input.catalogus && { catalogusUuid: input.catalogus }),
    }
  }

  async function runImport(
    request: FastifyRequest,
    pack: Package,
    input: Record<string, string>,
    options: ImportOptions,
  ): Promise<Imported> {
    const mutate: MutateWhole = (_actor, work) =>
      mutateFromPage(request, async (m) => {
        const done = await work(m)
        const { made, urls, changes } = done as Imported
        m.audit({
          handeling: 'catalogus-importeren',
          soort: 'catalogus',
          id: input.catalogus ?? '',
          nieuw: {
            made,
            urls,
            changes: changes.slice(0, MAX_RECORDED),
            meer: Math.max(0, changes.length - MAX_RECORDED),
          },
        })
        return done
      })
    return importPackage(mutate, beheerActor(request), selectielijst, pack, options)
  }

  async function catalogussen(): Promise<[string, string][]> {
    const rows = await app.read
      .selectFrom('catalogus')
      .select(['uuid', 'naam', 'domein'])
      .orderBy('domein')
      .limit(500)
      .execute()
    return [
      ['', t('De catalogus in het bestand')],
      ...rows.map(({ uuid, naam, domein }): [string, string] => [uuid, naam ? `${naam} (${domein})` : domein]),
    ]
  }
}

/** A part that an import makes, as the preview names it. */
type MadePart = { resource: string; name: string; url: string; zaaktype?: string }

function partOf({ resource, weergave, url, nieuw }: Change): MadePart {
  const { zaaktype, beginGeldigheid, identificatie, omschrijving } = (nieuw ?? {}) as Record<string, string | undefined>
  const name = resource === 'zaaktype' ? `${omschrijving} (${identificatie})` : weergave
  return {
    resource,
    name: beginGeldigheid ? t`${name}, versie vanaf ${dateInFile(beginGeldigheid)}` : name,
    url,
    ...(zaaktype && { zaaktype }),
  }
}

/** What is made: the parts of each zaaktype below it, and apart from those what belongs to none. */
function madeByZaaktype(made: MadePart[]) {
  const byZaaktype = Map.groupBy(made, ({ zaaktype }) => zaaktype ?? '')
  const apart = byZaaktype.get('') ?? []
  const zaaktypen = apart.filter(({ resource }) => resource === 'zaaktype')
  return {
    made: kindsOf(apart.filter(({ resource }) => resource !== 'zaaktype')),
    zaaktypen: zaaktypen
      .slice(0, MAX_CHANGES)
      .map(({ name, url }) => ({ name, parts: kindsOf(byZaaktype.get(url) ?? []) })),
    zaaktypenCount: zaaktypen.length,
    moreZaaktypen: Math.max(0, zaaktypen.length - MAX_CHANGES),
  }
}

function kindsOf(parts: MadePart[]) {
  return [...Map.groupBy(parts, ({ resource }) => resource)].map(([resource, items]) => ({
    kind: NAMES[resource] ?? resource,
    names: items.map(({ name }) => name).slice(0, MAX_CHANGES),
    count: items.length,
  }))
}

/** A type of the file that is here already, with the days on which its versions begin in the file and here. */
function knownType(typeAndKey: string, versions: Known[]) {
  const { resource, key, omschrijving } = versions.at(-1)!
  const days = (of: 'begin' | 'beginHere') =>
    [...new Set(versions.map((one) => one[of]))].sort().slice(0, MAX_CHANGES).map(dateInFile).join(', ')
  return {
    key: typeAndKey,
    zaaktype: resource === 'zaaktype',
    name: `${ONE[resource] ?? resource} “${omschrijving}”${resource === 'zaaktype' ? ` (${key})` : ''}`,
    dates: t`In het bestand: versie vanaf ${days('begin')}. In deze catalogus: versie vanaf ${days('beginHere')}.`,
    used: versions.at(-1)!.used,
  }
}

/** A date of the file, which nobody has judged yet where a type of it is left out. */
const dateInFile = (text: string) =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) ? formatDate(text) : text.slice(0, 30) || '?'

/** The file, for the next form; empty when it is too large to go along. */
const carried = (bytes: Buffer) => (bytes.length <= MAX_CARRIED ? bytes.toString('base64') : '')

/** Carries what was done out of a transaction that is undone. */
class Undone extends Error {
  imported: Imported
  constructor(imported: Imported) {
    super('undone, it was only a preview')
    this.imported = imported
  }
}

const ONE: Record<string, string> = words({
  zaaktype: 'Zaaktype',
  informatieobjecttype: 'Documenttype',
  besluittype: 'Besluittype',
})
const NAMES: Record<string, string> = words({
  catalogus: 'Catalogus',
  zaaktype: 'Zaaktypen',
  informatieobjecttype: 'Documenttypen',
  besluittype: 'Besluittypen',
  statustype: 'Statustypen',
  resultaattype: 'Resultaattypen',
  roltype: 'Roltypen',
  eigenschap: 'Eigenschappen',
  zaaktypeinformatieobjecttype: 'Documenttypen bij zaaktypen',
  zaakobjecttype: 'Zaakobjecttypen',
})
/** Files up to this size go along with the next form; larger ones are chosen once more. */
const MAX_CARRIED = 1024 * 1024
const IMPORT = words(
  { title: 'Catalogus importeren', breadcrumbs: [{ path: '/catalogi', name: 'Catalogi' }] },
  'title',
  'name',
)
const MAX_IN_FIELDS = 3 * MAX_CARRIED
const MAX_ZIP = PAGE_PACKAGE_BYTES
type Form = { input: Record<string, string>; choices: string[]; bytes: Buffer | undefined }

/** Forms that are being received, in a process and of one account: each is in memory as a whole. */
const countForms = countLongAnswers(10, 2, 1)
/** Of those two are opened at once, whoever sends them. */
const uploads = inTurnOfAll(2, 8, () => new Problem(503, { headers: { 'retry-after': '30' } }))
const MAX_CHANGES = 200
const MAX_RECORDED = 1000
const MAX_SHOWN = 1000 // characters of a value
const MAX_CHOICES = 2000

/** What was taken over otherwise than the file says, to read after an import. */
function changesPage(count: number, { changes }: Imported) {
  const shown = (value: unknown) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
  }
  return {
    title: count === 0 ? t('Niets geïmporteerd') : t('Catalogus geïmporteerd'),
    breadcrumbs: IMPORT.breadcrumbs,
    count,
    columns: [
      ['part', t('Onderdeel')],
      ['field', t('Veld')],
      ['file', t('In het bestand')],
      ['taken', t('Overgenomen als')],
    ],
    rows: changes.slice(0, MAX_CHANGES).map(({ resource, label, field, given, taken }) => ({
      part: `${resource} ${label}`,
      field: field === 'url' ? t('bestaand type gebruikt') : field,
      file: shown(given),
      taken: taken === null ? t('weggelaten') : shown(taken),
    })),
    more: Math.max(0, changes.length - MAX_CHANGES),
  }
}
