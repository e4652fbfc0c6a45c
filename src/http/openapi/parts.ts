// What all documents share: faults, headers and parameters.
import { FIELD_CODES, PROBLEM_CODES } from '../../core/codes.ts'
import { KINDS } from '../../core/problem.ts'
import type { Json } from './operation.ts'
import { namesOfChoices } from './schemas.ts'

export const VERSION_HEADER = { 'API-version': { $ref: '#/components/headers/API-version' } }

/** The codes of one of the tables. Later versions may have more. */
const codesOf = (table: object): Json => ({
  type: 'string',
  enum: Object.keys(table),
  ...namesOfChoices(Object.keys(table)),
  description:
    "Wat er mis is, voor programma's. Elke code heeft een pagina: `/ref/fouten/{code}/`. Er kunnen codes bij komen.",
})

export const FAULTS: Record<string, Json> = {
  Fout: {
    type: 'object',
    description: 'Wat er mis ging (RFC 9457).',
    properties: {
      type: { type: 'string', format: 'uri', description: 'Uitleg van deze soort fout.' },
      code: codesOf(PROBLEM_CODES),
      title: { type: 'string', description: 'Soort fout.' },
      status: { type: 'integer', description: 'HTTP-status.' },
      detail: { type: 'string', description: 'Wat er nu mis ging.' },
      instance: { type: 'string', format: 'uri', description: 'Kenmerk van deze keer; staat ook in het log.' },
    },
    required: ['code', 'title', 'status', 'detail', 'instance'],
  },
  ValidatieFout: {
    description: 'Fout in de invoer, met alle velden die niet voldoen.',
    allOf: [
      { $ref: '#/components/schemas/Fout' },
      {
        type: 'object',
        properties: { invalidParams: { type: 'array', items: { $ref: '#/components/schemas/VeldFout' } } },
      },
    ],
  },
  VeldFout: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Veld; punten scheiden wat in elkaar staat.' },
      code: codesOf(FIELD_CODES),
      reason: { type: 'string', description: 'Uitleg.' },
    },
    required: ['name', 'code', 'reason'],
  },
}

export const RESPONSES: Record<string, Json> = Object.fromEntries(
  Object.entries(KINDS).map(([status, { title, uitleg }]) => [
    status,
    {
      description: `${title} ${uitleg}`,
      headers: VERSION_HEADER,
      content: {
        'application/problem+json': {
          schema: { $ref: `#/components/schemas/${status === '400' ? 'ValidatieFout' : 'Fout'}` },
        },
      },
    },
  ]),
)

export const NOT_MODIFIED: Json = {
  description: 'Niet gewijzigd sinds If-None-Match.',
  headers: { ...VERSION_HEADER, ETag: { $ref: '#/components/headers/ETag' } },
}

export const HEADERS: Record<string, Json> = {
  'API-version': { description: 'Versie van de API.', schema: { type: 'string' } },
  ETag: { description: 'Kenmerk van deze inhoud, voor If-None-Match en If-Match.', schema: { type: 'string' } },
  'Idempotency-Replayed': {
    description: '`true` als dit het antwoord is op een eerdere, gelijke aanvraag met dezelfde Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
  Link: {
    description: 'De eerste, vorige, volgende en, zonder cursor, laatste pagina (RFC 8288), als die er zijn.',
    schema: { type: 'string' },
  },
  'Repr-Digest': {
    description: 'SHA-256 van het hele bestand (RFC 9530); ontbreekt als die niet bekend is.',
    schema: { type: 'string' },
  },
  'Content-Digest': {
    description: 'SHA-256 van wat dit antwoord bevat (RFC 9530); ontbreekt bij een deel van een groot bestand.',
    schema: { type: 'string' },
  },
  Location: { description: 'URL van wat gemaakt is.', schema: { type: 'string', format: 'uri' } },
  'Content-Crs': {
    description: 'Coördinatenstelsel van geometrie in het antwoord.',
    schema: { type: 'string', enum: ['EPSG:4326'] },
  },
  'X-Warning': {
    description: 'Wat de client moet weten hoewel het gelukt is; staat er alleen als er iets te melden is.',
    schema: { type: 'string' },
  },
}

const headerParameter = (name: string, description: string, required = false, choice?: string) => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string', ...(choice && { enum: [choice] }) },
})
export const PARAMETERS: Record<string, Json> = Object.fromEntries(
  [
    headerParameter(
      'If-None-Match',
      'ETag die de client al heeft: is hij nog dezelfde, dan volgt op GET 304, en op een wijziging 412.',
    ),
    headerParameter(
      'If-Match',
      'Wijzig alleen als de resource nog deze ETag heeft (van GET zonder parameters); anders volgt 412.',
    ),
    headerParameter('Accept-Crs', 'Coördinatenstelsel van geometrie in het antwoord.', true, 'EPSG:4326'),
    headerParameter('Content-Crs', 'Coördinatenstelsel van geometrie in de aanvraag.', true, 'EPSG:4326'),
    headerParameter(
      'Content-Digest',
      'SHA-256 van de inhoud, als `sha-256=:<base64>:` (RFC 9530): klopt hij niet, dan volgt 400.',
    ),
    headerParameter(
      'Idempotency-Key',
      'Naam van deze aanvraag, van de client: met dezelfde sleutel herhaald wordt ze niet nog eens gedaan, en volgt het eerste antwoord.',
    ),
    headerParameter('X-Audit-Toelichting', 'Toelichting voor het auditspoor.'),
    headerParameter('X-NLX-Logrecord-ID', 'Kenmerk van de aanvraag in het log van de keten.'),
  ].map((parameter) => [parameter.name, parameter]),
)
