// confirm: what all repairs by hand have in common. A form with a reason, then what would change, and the change itself only when
// somebody agreed to exactly that. What would change is found by doing it, with the functions of the API, in a transaction that is
// taken back: so nothing is shown that a rule forbids, and what changed in between is seen as a difference.
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { FIELD_CODES, type Meaning } from '../../core/codes.ts'
import { Problem } from '../../core/problem.ts'
import { type AuditEntry, mutateFromPage, type PageMutation } from '../frame/change.ts'
import { type FormFaults, type FormValues, formFaultsOf, formProblem } from '../frame/form.ts'
import type { Change } from '../frame/history.ts'
import { type Crumb, redirectWith } from '../frame/page.ts'
import { inLanguage, language, reason, t } from '../language/language.ts'

/** What comes of a repair, for people. */
export type Outcome = {
  /** Before and after, by field. */
  fields: Change[]
  /** What goes along, what stays, what to mind. */
  lines: string[]
  /** Is agreed to as well, and not shown. */
  state?: string
}

export type Repair = {
  title: string
  breadcrumbs: Crumb[]
  /** Where one gets without doing it. */
  back: string
  /** What the button says that does it. */
  button: string
  /** What has to be typed first, of what cannot be undone: a number. */
  typed?: string
  /** The form, with what somebody filled in and what is wrong with that. */
  form(values: FormValues, faults: FormFaults): Promise<FastifyReply>
  /** The labels of fields that rules may name beside those of the form. */
  labels?: ReadonlyMap<string, string>
  /** Reads the form and asks other services, before a transaction begins. What it answers does it, and may run again. */
  prepare(): Promise<(m: PageMutation) => Promise<Outcome>>
  /** For the audit log of the pages, where the reason is added. */
  audit: AuditEntry & { nieuw?: object }
  done: { path: string; text: string }
}

/** Most of a reason: what the header of the API would take. */
const REASON_LENGTH = 1000
const OWN_NAMES = new Set(['_csrf', 'gezien', 'getypt', 'terug'])

class Unconfirmed extends Error {
  readonly outcome: Outcome
  constructor(outcome: Outcome) {
    super('somebody has to agree to this first')
    this.outcome = outcome
  }
}

/** Whether the form comes from the page that shows what changes. */
export const isConfirmed = (request: FastifyRequest): boolean => seenIn(valuesIn(request)) !== ''

/**
 * Handles what a form of a repair sent: shows what would change, or does it. In both cases what a rule refuses stands above the form,
 * with the rule.
 */
export async function repair(request: FastifyRequest, reply: FastifyReply, asked: Repair): Promise<FastifyReply> {
  const values = valuesIn(request)
  const seen = seenIn(values)
  if (values.terug !== undefined) return asked.form(values, {})
  const show = (outcome: Outcome, more: { faults?: FormFaults; isChanged?: boolean } = {}) =>
    reply.page('repair-confirm', {
      ...asked,
      outcome,
      given: Object.entries(values).flatMap(([name, value]) =>
        OWN_NAMES.has(name) ? [] : [value ?? []].flat().map((one) => [name, one]),
      ),
      values: { getypt: values.getypt },
      faults: more.faults ?? {},
      reden: reasonIn(values),
      gezien: fingerprint(outcome),
      isChanged: more.isChanged ?? false,
    })
  try {
    const reden = reasonIn(values)
    if (reden === '') throw formProblem({ reden: t('Schrijf waarom dit nodig is. Het komt in het audit trail.') })
    const isTyped = asked.typed === undefined || textOf(values.getypt) === asked.typed
    await attempt(request, await asked.prepare(), asked.audit, reden, isTyped ? seen : '')
  } catch (error) {
    if (!(error instanceof Unconfirmed)) {
      reply.code(400)
      return asked.form(values, faultsWithRules(error, asked.labels))
    }
    const { outcome } = error
    if (seen === '') return show(outcome)
    if (seen !== fingerprint(outcome)) return show(outcome, { isChanged: true })
    reply.code(400)
    return show(outcome, { faults: { getypt: t`Typ precies ${asked.typed}: dit kan niet ongedaan worden gemaakt.` } })
  }
  return redirectWith(request, reply, asked.done.path, asked.done.text)
}

/** @param seen fingerprint of what somebody agreed to. @throws Unconfirmed when it would become something else */
function attempt(
  request: FastifyRequest,
  work: Awaited<ReturnType<Repair['prepare']>>,
  audit: Repair['audit'],
  reden: string,
  seen: string,
): Promise<void> {
  const spoken = language()
  return mutateFromPage(
    request,
    async (m) => {
      const outcome = await inLanguage(spoken, () => work(m))
      if (seen !== fingerprint(outcome)) throw new Unconfirmed(outcome)
      m.audit({ ...audit, nieuw: { ...audit.nieuw, reden } })
    },
    { toelichting: reden },
  )
}

const fingerprint = (outcome: Outcome) => createHash('sha256').update(JSON.stringify(outcome)).digest('base64url')

const valuesIn = (request: FastifyRequest) => (request.body ?? {}) as FormValues
const textOf = (value: FormValues[string]) =>
  String([value].flat().at(-1) ?? '')
    .replaceAll('\0', '')
    .toWellFormed()
    .trim()
const seenIn = (values: FormValues) => textOf(values.gezien)
const reasonIn = (values: FormValues) => textOf(values.reden).slice(0, REASON_LENGTH)

/**
 * As `formFaultsOf`, with the rule of the standard and the code behind each.
 * @param labels of fields that may not be in the form: a fault of one of them begins with its label
 */
function faultsWithRules(error: unknown, labels?: ReadonlyMap<string, string>): FormFaults {
  const faults = formFaultsOf(error)
  if (!(error instanceof Problem) || !error.invalidParams) return faults
  for (const { name, code, reason: why } of error.invalidParams) {
    if ((code as string) === 'invalid') continue // of the form itself
    const { rule } = FIELD_CODES[code] as Meaning
    const label = labels?.get(name) ?? labels?.get(name.replace(/\..*/s, ''))
    const text = `${label ? `${label}: ` : ''}${reason(why)} ${rule ? t`(regel ${rule}, code ${code})` : t`(code ${code})`}`
    faults[name === 'nonFieldErrors' ? '' : name] = text
  }
  return faults
}
