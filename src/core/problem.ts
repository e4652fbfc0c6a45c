import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isConflict, isUnavailable, OutcomeUnknown } from '../database/database.ts'
import { isMissing, isUniqueViolation } from '../database/error-codes.ts'
import { KeyMissing, WrongKey } from '../lib/wrong-key.ts'
import type { FieldCode, ProblemCode } from './codes.ts'
import { LIMITS } from './limits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The error of ours that it ended with, when it did. */
    failure: { error: unknown; exceptionId: string } | undefined
  }
}

/** One fault of the input: the field (camelCase, dots for nesting), the code of the standard and a Dutch reason. */
export type InvalidParam = { name: string; code: FieldCode; reason: string }

/**
 * The answer to a request that cannot be carried out (RFC 9457, in the shape of the ZGW standard: Fout, and
 * ValidatieFout when `invalidParams` is there). Handlers throw it; `sendProblem` makes the body.
 */
export class Problem extends Error {
  status: number
  code: ProblemCode
  detail: string
  invalidParams: InvalidParam[] | undefined
  headers: Record<string, string>
  /** A 403 that the caller's rights alone do not explain. */
  isOfState: boolean

  constructor(
    status: number,
    options: {
      code?: ProblemCode
      detail?: string
      invalidParams?: InvalidParam[]
      headers?: Record<string, string>
      isOfState?: boolean
    } = {},
  ) {
    const kind = KINDS[status] ?? KINDS[500]
    super(options.detail ?? kind.title)
    this.status = status
    this.code = options.code ?? kind.code
    this.detail = options.detail ?? kind.title
    this.invalidParams = options.invalidParams
    this.headers = options.headers ?? {}
    this.isOfState = options.isOfState ?? false
  }
}

/** Something that a request needs is away (503). Each part that can be away has a kind of its own. */
export class Unavailable extends Error {}

/** A part below the routes refuses what was sent (400 on `field`). The message is Dutch, for whoever sent it. */
export class Refused extends Error {
  readonly field: string
  readonly code: FieldCode

  constructor(field: string, code: FieldCode, message: string) {
    super(message)
    this.field = field
    this.code = code
  }
}

/** One fault among others, for `throwFaults` or `invalidAll`; the reason is Dutch, for whoever calls. */
export const fault = (name: string, code: FieldCode, reason: string): InvalidParam => ({ name, code, reason })
/** A fault of the body as a whole. */
export const onObject = (code: FieldCode, reason: string): InvalidParam => fault('nonFieldErrors', code, reason)
/** A field that keeps the value that it was made with. */
export const immutable = (name: string): InvalidParam =>
  fault(name, 'wijzigen-niet-toegelaten', 'Dit veld kan niet worden gewijzigd.')

/** 400 on one field. For faults of the object as a whole the name is `nonFieldErrors`. */
export function invalid(name: string, code: FieldCode, reason: string): Problem {
  return invalidAll([{ name, code, reason }])
}

/** 400 on several fields at once. */
export function invalidAll(invalidParams: InvalidParam[]): Problem {
  if (invalidParams.length <= LIMITS.faults) return new Problem(400, { invalidParams })
  return new Problem(400, {
    invalidParams: invalidParams.slice(0, LIMITS.faults),
    detail: `Ongeldige invoer. Er zijn meer dan deze ${LIMITS.faults} fouten.`,
  })
}

/** Throws what was collected, if anything: faults on one level are reported together. */
export function throwFaults(faults: InvalidParam[]): void {
  if (faults.length > 0) throw invalidAll(faults)
}

/** 403, with the code of the standard when it is about the token. */
export function forbidden(code?: ProblemCode, detail?: string): Problem {
  return new Problem(403, { ...(code && { code }), ...(detail && { detail }) })
}

/** 403 since things are as they are now, also for who had the right before. @param detail Dutch, for people */
export function forbiddenNow(detail: string): Problem {
  return new Problem(403, { detail, isOfState: true })
}

/** 404, also for what the one who asks may not know of. @param detail Dutch, for people; else that of the status */
export function notFound(detail?: string): Problem {
  return new Problem(404, detail ? { detail } : {})
}

/** What each status means: `name` is the last part of `type` and the page that explains it. */
type Kind = { name: string; code: ProblemCode; title: string; uitleg: string }

export const KINDS: Record<number, Kind> & Record<400 | 500, Kind> = {
  400: {
    name: 'ValidationError',
    code: 'invalid',
    title: 'Ongeldige invoer.',
    uitleg: 'Een of meer velden of parameters voldoen niet. In invalidParams staat per veld wat er mis is.',
  },
  403: {
    name: 'PermissionDenied',
    code: 'permission_denied',
    title: 'Je hebt geen toestemming om deze actie uit te voeren.',
    uitleg: 'Het token ontbreekt, is ongeldig of verlopen, of de applicatie heeft niet de nodige autorisaties.',
  },
  404: { name: 'NotFound', code: 'not_found', title: 'Niet gevonden.', uitleg: 'Op dit adres bestaat niets.' },
  405: {
    name: 'MethodNotAllowed',
    code: 'method_not_allowed',
    title: 'Deze methode is hier niet toegestaan.',
    uitleg: 'De header Allow noemt de methoden die dit adres wel kent.',
  },
  406: {
    name: 'NotAcceptable',
    code: 'not_acceptable',
    title: 'Aan de gevraagde Accept- of CRS-header kan niet worden voldaan.',
    uitleg: 'Vraag om application/json, en voor geometrie om EPSG:4326.',
  },
  408: {
    name: 'RequestTimeout',
    code: 'request_timeout',
    title: 'De aanvraag kwam niet op tijd binnen.',
    uitleg:
      'Stuur de headers en de inhoud zonder te wachten. Inhoud van documenten heeft geen tijd, maar een laagste snelheid.',
  },
  409: {
    name: 'Conflict',
    code: 'conflict',
    title: 'Er is een conflict.',
    uitleg: 'De wijziging botst met een andere.',
  },
  410: {
    name: 'Gone',
    code: 'gone',
    title: 'Dit is er niet meer.',
    uitleg: 'De positie of de momentopname is verlopen, of is van andere rechten: begin opnieuw met een momentopname.',
  },
  412: {
    name: 'PreconditionFailed',
    code: 'precondition_failed',
    title: 'Niet aan een voorwaarde voldaan.',
    uitleg:
      'De resource heeft niet meer de ETag van If-Match: een ander was eerder. Of een verplichte header ontbreekt, bijvoorbeeld Accept-Crs.',
  },
  413: {
    name: 'RequestEntityTooLargeException',
    code: 'request_entity_too_large',
    title: 'De aanvraag is te groot.',
    uitleg: 'Gebruik voor grote bestanden bestandsdelen.',
  },
  414: { name: 'UriTooLong', code: 'uri_too_long', title: 'Het adres is te lang.', uitleg: 'Zoek met _zoek.' },
  415: {
    name: 'UnsupportedMediaType',
    code: 'unsupported_media_type',
    title: 'Dit mediatype wordt hier niet aangenomen.',
    uitleg: 'Stuur de inhoud met de juiste Content-Type, meestal application/json.',
  },
  416: {
    name: 'RangeNotSatisfiable',
    code: 'range_not_satisfiable',
    title: 'Het gevraagde bereik bestaat niet.',
    uitleg: 'Het bestand is korter.',
  },
  417: {
    name: 'ExpectationFailed',
    code: 'expectation_failed',
    title: 'Aan de header Expect kan niet worden voldaan.',
    uitleg: 'Alleen 100-continue is bekend.',
  },
  422: {
    name: 'UnprocessableContent',
    code: 'idempotency-key-reused',
    title: 'Deze aanvraag kan zo niet worden uitgevoerd.',
    uitleg: 'De Idempotency-Key hoort al bij een andere aanvraag. Neem voor elke aanvraag een nieuwe.',
  },
  429: { name: 'Throttled', code: 'throttled', title: 'Te veel aanvragen.', uitleg: 'Probeer het later opnieuw.' },
  431: {
    name: 'HeaderFieldsTooLarge',
    code: 'request_header_fields_too_large',
    title: 'De headers zijn te groot.',
    uitleg: 'Stuur kleinere headers.',
  },
  500: {
    name: 'APIException',
    code: 'error',
    title: 'Er is een serverfout opgetreden.',
    uitleg: 'Meld de waarde van instance aan de beheerder: daarmee is de fout in het log te vinden.',
  },
  503: {
    name: 'ServiceUnavailable',
    code: 'service_unavailable',
    title: 'De dienst is even niet beschikbaar.',
    uitleg:
      'De database of de opslag is niet bereikbaar. Er is niets gewijzigd, tenzij de code outcome_unknown is; de header Retry-After zegt wanneer opnieuw.',
  },
}

/** Rules that the database keeps, by the name of the constraint: the name is the contract with `sql/`. */
const CONSTRAINTS: Record<string, () => Problem> = {
  zaak_identificatie_unique: () =>
    invalid('identificatie', 'identificatie-niet-uniek', 'Deze identificatie bestaat al binnen de bronorganisatie.'),
  kanaal_naam_unique: () => invalid('naam', 'unique', 'Er is al een kanaal met deze naam.'),
  resultaat_zaak_unique: () => invalid('zaak', 'unique', 'De zaak heeft al een resultaat.'),
  status_moment_unique: () => invalid('nonFieldErrors', 'unique', 'De zaak heeft al een status op dit moment.'),
  zaakinformatieobject_unique: () => invalid('nonFieldErrors', 'unique', 'Het document hoort al bij deze zaak.'),
  zaakcontactmoment_unique: () => invalid('nonFieldErrors', 'unique', 'Het contactmoment hoort al bij deze zaak.'),
  zaakverzoek_unique: () => invalid('nonFieldErrors', 'unique', 'Het verzoek hoort al bij deze zaak.'),
  klantcontact_identificatie_unique: () => invalid('identificatie', 'unique', 'Deze identificatie bestaat al.'),
  besluit_identificatie_unique: () =>
    invalid(
      'identificatie',
      'identificatie-niet-uniek',
      'Deze identificatie bestaat al binnen de verantwoordelijke organisatie.',
    ),
  besluitinformatieobject_unique: () => invalid('nonFieldErrors', 'unique', 'Het document hoort al bij dit besluit.'),
  service_api_root_unique: () => invalid('apiRoot', 'unique', 'Een andere dienst heeft deze API-root al.'),
  catalogus_domein_rsin_unique: () =>
    invalid('nonFieldErrors', 'unique', 'De combinatie van domein en rsin bestaat al.'),
  statustype_volgnummer_unique: () =>
    invalid('nonFieldErrors', 'unique', 'De combinatie van zaaktype en volgnummer bestaat al.'),
  resultaattype_omschrijving_unique: () =>
    invalid('nonFieldErrors', 'unique', 'De combinatie van zaaktype en omschrijving bestaat al.'),
  roltype_omschrijving_unique: () =>
    invalid('nonFieldErrors', 'unique', 'De combinatie van zaaktype en omschrijving bestaat al.'),
  eigenschap_naam_unique: () => invalid('nonFieldErrors', 'unique', 'De combinatie van zaaktype en naam bestaat al.'),
  zaaktype_informatieobjecttype_volgnummer_unique: () =>
    invalid('nonFieldErrors', 'unique', 'De combinatie van zaaktype en volgnummer bestaat al.'),
  objectinformatieobject_unique: () =>
    invalid('nonFieldErrors', 'unique', 'De combinatie van object en informatieobject bestaat al.'),
  enkelvoudiginformatieobject_identificatie_unique: () =>
    invalid('identificatie', 'identificatie-niet-uniek', 'Deze identificatie bestaat al binnen de bronorganisatie.'),
}

/**
 * References in a body, by the name of their foreign key, with the field and the code of the rule that such a thing exists.
 * The rule has been checked by then; this is for what is removed at the same moment.
 */
const REFERENCES: Record<string, [name: string, code: FieldCode]> = {
  zaak_zaaktype_id_fkey: ['zaaktype', 'bad-url'],
  zaak_hoofdzaak_id_fkey: ['hoofdzaak', 'does_not_exist'],
  status_statustype_id_fkey: ['statustype', 'bad-url'],
  status_gezetdoor_id_fkey: ['gezetdoor', 'bad-url'],
  resultaat_resultaattype_id_fkey: ['resultaattype', 'bad-url'],
  rol_roltype_id_fkey: ['roltype', 'bad-url'],
  zaakeigenschap_eigenschap_id_fkey: ['eigenschap', 'bad-url'],
  zaakobject_zaakobjecttype_id_fkey: ['zaakobjecttype', 'bad-url'],
  zaakinformatieobject_enkelvoudiginformatieobject_id_fkey: ['informatieobject', 'bad-url'],
  zaakinformatieobject_status_id_fkey: ['status', 'bad-url'],
  besluit_besluittype_id_fkey: ['besluittype', 'bad-url'],
  besluit_zaak_exists: ['zaak', 'bad-url'],
  besluitinformatieobject_enkelvoudiginformatieobject_id_fkey: ['informatieobject', 'bad-url'],
  enkelvoudiginformatieobject_informatieobjecttype_id_fkey: ['informatieobjecttype', 'bad-url'],
  enkelvoudiginformatieobject_versie_informatieobjecttype_id_fkey: ['informatieobjecttype', 'bad-url'],
  objectinformatieobject_enkelvoudiginformatieobject_id_fkey: ['informatieobject', 'bad-url'],
  gebruiksrecht_enkelvoudiginformatieobject_id_fkey: ['informatieobject', 'bad-url'],
  verzending_enkelvoudiginformatieobject_id_fkey: ['informatieobject', 'bad-url'],
  zaaktype_catalogus_id_fkey: ['catalogus', 'does_not_exist'],
  besluittype_catalogus_id_fkey: ['catalogus', 'does_not_exist'],
  informatieobjecttype_catalogus_id_fkey: ['catalogus', 'does_not_exist'],
  verwerkingsactiviteit_catalogus_id_fkey: ['catalogus', 'does_not_exist'],
  zaaktype_besluittype_besluittype_id_fkey: ['besluittypen', 'does_not_exist'],
  zaaktype_deelzaaktype_deelzaaktype_id_fkey: ['deelzaaktypen', 'does_not_exist'],
  zaaktype_gerelateerd_zaaktype_gerelateerd_zaaktype_id_fkey: ['gerelateerdeZaaktypen', 'does_not_exist'],
  zaaktype_informatieobjecttype_informatieobjecttype_id_fkey: ['informatieobjecttype', 'does_not_exist'],
  zaaktype_informatieobjecttype_statustype_id_fkey: ['statustype', 'does_not_exist'],
  besluittype_informatieobjecttype_informatieobjecttype_id_fkey: ['informatieobjecttypen', 'does_not_exist'],
  resultaattype_besluittype_besluittype_id_fkey: ['besluittypen', 'does_not_exist'],
  resultaattype_informatieobjecttype_informatieobjecttype_id_fkey: ['informatieobjecttypen', 'does_not_exist'],
  eigenschap_statustype_id_fkey: ['statustype', 'does_not_exist'],
  zaakobjecttype_statustype_id_fkey: ['statustype', 'does_not_exist'],
  catalogus_autorisatie_catalogus_id_fkey: ['catalogusAutorisaties', 'bad-url'],
}

/** What a failure means to the caller. Anything that is not ours to explain becomes a 500 without detail. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  const { code, constraint_name, statusCode } = (error ?? {}) as {
    code?: string
    constraint_name?: string
    statusCode?: number
  }
  if (isUniqueViolation(error) && constraint_name && CONSTRAINTS[constraint_name]) return CONSTRAINTS[constraint_name]()
  const reference = code === '23503' && constraint_name ? REFERENCES[constraint_name] : undefined
  if (reference) return invalid(...reference, 'Wat hier wordt genoemd is net verwijderd.')
  if (code === '22021' || code === '22P05')
    return invalid('nonFieldErrors', 'invalid', 'De tekst bevat een teken dat niet kan worden bewaard.')
  if (code === '22003' || code === '22008')
    return invalid('nonFieldErrors', 'invalid', 'Een getal of datum is groter dan kan worden bewaard.')
  if (constraint_name === 'has_room')
    return invalid(
      'nonFieldErrors',
      'max_items',
      'Een zaaktype heeft ten hoogste 1000 onderdelen van elk soort, een catalogus 25000 types.',
    )
  if (constraint_name === 'takeover_read_only')
    return new Problem(409, {
      code: 'overneming-alleen-lezen',
      detail:
        'Er wordt overgenomen uit een andere installatie: tot de omschakeling wordt hier niets gemaakt of gewijzigd.',
    })
  if (error instanceof OutcomeUnknown)
    return new Problem(503, {
      code: 'outcome_unknown',
      detail:
        'De verbinding met de database brak bij het vastleggen. Stuur het opnieuw met dezelfde Idempotency-Key; zonder die zegt de header Link of het is gelukt.',
      headers: { 'retry-after': '5' },
    })
  if (error instanceof Refused) return invalid(error.field, error.code, error.message)
  if (isConflict(error)) return new Problem(409, { headers: { 'retry-after': '1' } })
  if (error instanceof KeyMissing)
    return new Problem(503, {
      detail: `Dit is versleuteld met een sleutel (${error.id}) die deze dienst nu niet heeft. De beheerder kan hem teruggeven.`,
      headers: { 'retry-after': '5' },
    })
  if (isUnavailable(error) || error instanceof Unavailable || error instanceof WrongKey)
    return new Problem(503, { headers: { 'retry-after': '5' } })
  if (
    code === 'FST_ERR_CTP_EMPTY_JSON_BODY' ||
    code === 'FST_ERR_CTP_INVALID_JSON_BODY' ||
    error instanceof SyntaxError
  ) {
    return new Problem(400, { code: 'parse_error', detail: 'De inhoud is geen geldige JSON.' })
  }
  if (statusCode === 400)
    return new Problem(400, { code: 'parse_error', detail: 'De aanvraag is niet goed samengesteld.' })
  if (typeof statusCode === 'number' && statusCode < 500 && KINDS[statusCode]) return new Problem(statusCode)
  return new Problem(500)
}

/** The body of a problem. `base` is our address in links; `instance` is also logged, so that a caller can name it. */
export function problemBody(problem: Problem, base: string, instance: string): Record<string, unknown> {
  const kind = KINDS[problem.status] ?? KINDS[500]
  const name = problem.code === 'parse_error' ? 'ParseError' : kind.name
  return {
    type: `${base}/ref/fouten/${name}/`,
    code: problem.code,
    title: problem.code === 'parse_error' ? 'Ongeldig samengestelde aanvraag.' : kind.title,
    status: problem.status,
    detail: problem.detail,
    instance,
    ...(problem.invalidParams && { invalidParams: problem.invalidParams }),
  }
}

/** Whether the connection ended before the request was here: no fault of ours, and nobody reads the answer. */
const isGone = ({ raw }: FastifyRequest, error: unknown): boolean => error instanceof Error && raw.errored === error

/** RFC 6750, 3: what kind of token is wanted, and whether it is the token or its rights. The standard of the APIs says 403 for both. */
function challenge(request: FastifyRequest, { status }: Problem): Record<string, string> {
  const { access } = request.routeOptions.config
  if (status !== 403 || access === 'public' || access === 'beheer') return {}
  const error = request.actor ? 'insufficient_scope' : request.headers.authorization ? 'invalid_token' : undefined
  return { 'www-authenticate': `Bearer realm="zaakstroom"${error ? `, error="${error}"` : ''}` }
}

/** Answers a request with what went wrong, and logs it: as an error with its cause from 500 on. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const { problem, headers, body } = loggedProblem(request, error)
  return sendBody(reply.headers(headers), problem.status, body)
}

/** Answers with the body of a problem. */
export const sendBody = (reply: FastifyReply, status: number, body: string): FastifyReply =>
  reply.code(status).type('application/problem+json').send(body)

/** What a request is told of what went wrong, after that was logged. */
export function loggedProblem(
  request: FastifyRequest,
  error: unknown,
): { problem: Problem; headers: Record<string, string>; body: string } {
  const problem = isGone(request, error)
    ? new Problem(400, { code: 'parse_error' })
    : request.server.hasMany && isMissing(error)
      ? new Problem(503, { headers: { 'retry-after': '1' } }) // its schema has just gone to another server
      : toProblem(error)
  const instance = `urn:uuid:${randomUUID()}`
  const summary = { status: problem.status, code: problem.code, exception_id: instance.slice(9) }
  if (problem.status >= 500) {
    request.failure = { error, exceptionId: summary.exception_id }
    request.log.error({ ...summary, err: error }, 'request failed')
  } else {
    request.log.info(
      { ...summary, invalid: problem.invalidParams?.map(({ name, code }) => `${name}: ${code}`) },
      'request refused',
    )
  }
  const link = error instanceof OutcomeUnknown && error.link
  const headers = {
    ...challenge(request, problem),
    ...problem.headers,
    ...(link && { link: `<${request.base}/outcomes?id=${link}>; rel="status"` }), // RFC 8631
  }
  return { problem, headers, body: JSON.stringify(problemBody(problem, request.base, instance)) }
}
