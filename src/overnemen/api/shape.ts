// An object as an API of the standard shows it, in the intermediate form.

import { expected, lastOf } from '../../database/rows.ts'
import { type Column, kindOf, type List, type Ref, type Taken } from '../kinds.ts'
import type { ApplicatieRow, AuditRow } from '../source.ts'
import type { Json } from './client.ts'

const at = (json: unknown, path: string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as Json | null | undefined)?.[name], json)

/** The last part of a URL. */
export const uuidIn = (url: unknown): string =>
  String(url)
    .replace(/[?#].*/s, '')
    .split('/')
    .at(-1) ?? ''

function fields(json: unknown, columns: Column[], refs: Ref[]): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const { name, path } of columns) object[name] = at(json, path)
  for (const { name, path } of refs) object[name] = path.length === 0 ? json : at(json, path)
  return object
}

function items(json: Json, list: List): unknown[] {
  const given = json[list.name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())]
  return (Array.isArray(given) ? given : []).map((one) => fields(one, list.columns, list.refs))
}

/** Any object but a document, an applicatie and a line of the audit trail. */
export function fromApi(name: string, json: Json): Taken {
  const kind = kindOf(name)
  const object: Taken = { ...fields(json, kind.columns, kind.refs), uuid: String(json.uuid ?? uuidIn(json.url)) }
  for (const list of kind.lists) object[list.name] = items(json, list)
  return object
}

/** A document of its versions, oldest first. `inhoud` in lists may name another version: the address is built here. */
export function documentFromApi(versions: Json[]): Taken {
  const kind = kindOf('document')
  const latest = lastOf(versions)
  const uuid = uuidIn(latest.url)
  const list = expected(kind.lists.find(({ name }) => name === 'versies'))
  const parts = (latest.bestandsdelen ?? []) as Json[]
  return {
    uuid,
    // Shown of a document that is being uploaded in parts only.
    lock: latest.locked === true ? ((parts[0]?.lock as string | undefined) ?? null) : null,
    versies: versions.map((json) => ({
      ...fields(json, list.columns, list.refs),
      ...(json.ondertekening === null || (json.ondertekening as Json | undefined)?.soort === ''
        ? { ondertekening_soort: null, ondertekening_datum: null }
        : {}),
      path: json.inhoud === null || json.inhoud === undefined ? null : `${uuid}/download?versie=${String(json.versie)}`,
    })),
    bestandsdelen: parts.map(({ url, volgnummer, omvang }) => ({ uuid: uuidIn(url), volgnummer, omvang })),
  }
}

/** Without secrets, which no API shows. */
export function applicatieFromApi(json: Json): ApplicatieRow {
  return {
    uuid: uuidIn(json.url),
    label: String(json.label ?? ''),
    heeft_alle_autorisaties: json.heeftAlleAutorisaties === true,
    client_ids: (json.clientIds ?? []) as string[],
    autorisaties: ((json.autorisaties ?? []) as Json[]).map((right) => ({
      component: String(right.component),
      scopes: right.scopes as string[],
      type: String(right.zaaktype || right.informatieobjecttype || right.besluittype || ''),
      max: (right.maxVertrouwelijkheidaanduiding as string) || null,
    })),
    // An addition of ours: a takeover from Zaakstroom keeps them, any other source shows what they imply only.
    ...(Array.isArray(json.catalogusAutorisaties) && json.catalogusAutorisaties.length > 0 && { uitgeschreven: true }),
    catalogus_autorisaties: ((json.catalogusAutorisaties ?? []) as Json[]).map((right) => ({
      component: String(right.component),
      scopes: right.scopes as string[],
      catalogus: uuidIn(right.catalogus),
      max: (right.maxVertrouwelijkheidaanduiding as string) || null,
    })),
  }
}

/** `oud` and `nieuw` become JSON text, or null where there was nothing. */
export function auditFromApi(json: Json): AuditRow {
  const text = (name: string) => String(json[name] ?? '')
  const changes = (json.wijzigingen ?? {}) as Json
  const side = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value))
  return {
    uuid: text('uuid'),
    bron: text('bron'),
    applicatie_id: text('applicatieId'),
    applicatie_weergave: text('applicatieWeergave'),
    gebruikers_id: text('gebruikersId'),
    gebruikers_weergave: text('gebruikersWeergave'),
    actie: text('actie'),
    resultaat: Number(json.resultaat),
    hoofd_object: text('hoofdObject'),
    resource: text('resource'),
    resource_url: text('resourceUrl'),
    resource_weergave: text('resourceWeergave'),
    toelichting: text('toelichting'),
    logrecord_id: '',
    aanmaakdatum: text('aanmaakdatum'),
    oud: side(changes.oud),
    nieuw: side(changes.nieuw),
  }
}
