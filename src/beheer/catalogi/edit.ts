// Editing with a form: shown, sent, refused with the faults beside the fields, or stopped because somebody else was earlier.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type InvalidParam, invalidAll } from '../../core/problem.ts'
import { type FormFaults, formFaultsOf } from '../frame/form.ts'
import { type Crumb, redirectWith } from '../frame/page.ts'
import { DURATION_UNITS } from './duration.ts'
import {
  AARD_RELATIE,
  type Field,
  type Group,
  inWords,
  namesOf,
  submitted,
  toBody,
  type Values,
  valuesOf,
} from './fields.ts'

export type FormPage = {
  title: string
  breadcrumbs: Crumb[]
  groups: Group[]
  /** Where "Annuleren" leads, below /beheer. */
  back: string
  button: string
  intro?: string
  /** Shown as a warning above the fields. */
  warning?: string[]
  /** What is fixed, shown without an input. */
  fixed?: { label: string; value: string }[]
  /** More for the template. */
  extra?: {
    suggestions?: Record<string, string[]>
    /** A version to go on with instead. */
    instead?: { path: string; text: string }
    /** Whether one can go on with another one. */
    another?: boolean
    /** The page that deletes it; '' when it cannot be deleted. */
    deletePath?: string
  }
}

/** What the template of a field offers besides the choices of the field. */
const CHOICES = { eenheden: DURATION_UNITS, aarden: AARD_RELATIE }

/** All fields of a form, in the order in which it shows them. */
export const fieldsOf = (page: { groups: Group[] }): Field[] => page.groups.flatMap(({ fields }) => fields)

/** Shows a form with what is stored, or with what a new one begins with. */
export function showForm(reply: FastifyReply, page: FormPage, resource: object): Promise<FastifyReply> {
  const values = valuesOf(fieldsOf(page), resource)
  return reply.page('catalogi-form', {
    ...page,
    values,
    faults: {},
    stored: JSON.stringify(values),
    ...CHOICES,
  })
}

/** Somebody else changed what the form was made from. */
class Stale extends Error {
  now: Values
  constructor(now: Values) {
    super('the form is stale')
    this.now = now
  }
}

export type Given = {
  body: Record<string, unknown>
  values: Values
  /** Refuses to go on when what is stored now is not what the form was made from. */
  requireFresh(now: object): void
}

/** Reads a form, saves it, and goes on to the next page; or shows it again with what is wrong. */
export async function submitForm(
  request: FastifyRequest,
  reply: FastifyReply,
  page: FormPage,
  save: (given: Given) => Promise<{ to: string; notice: string }>,
): Promise<FastifyReply> {
  const fields = fieldsOf(page)
  const values = submitted(fields, request.body)
  const basis = readBasis(request)
  try {
    const { body, faults } = toBody(fields, values)
    if (faults.length > 0) throw invalidAll(faults)
    const requireFresh = (now: object) => {
      const current = valuesOf(fields, now)
      if (basis && fields.some((field) => !sameField(field, basis, current))) throw new Stale(current)
    }
    const { to, notice } = await save({ body, values, requireFresh })
    return await redirectWith(request, reply, to, notice)
  } catch (error) {
    const again = { ...page, ...CHOICES }
    if (error instanceof Stale) {
      const merged = merge(fields, basis ?? {}, values, error.now)
      const conflict = { changes: merged.changes }
      return reply.code(409).page('catalogi-form', {
        ...again,
        values: merged.values,
        faults: {},
        stored: JSON.stringify(error.now),
        conflict,
      })
    }
    const faults = besideFields(fields, formFaultsOf(error))
    return reply.code(400).page('catalogi-form', { ...again, values, faults, stored: JSON.stringify(basis ?? {}) })
  }
}

function readBasis(request: FastifyRequest): Values | undefined {
  try {
    const value = JSON.parse(String((request.body as Record<string, unknown> | null)?._basis ?? ''))
    return value !== null && typeof value === 'object' ? (value as Values) : undefined
  } catch {
    return undefined
  }
}

const sameField = (field: Field, a: Values, b: Values) =>
  namesOf(field).every((name) => textOf(field, a[name]) === textOf(field, b[name]))

function textOf({ kind }: Field, value: string | string[] | undefined): string {
  const list = [value ?? ''].flat()
  // What is ticked has no order; the rows of relations have one, over all their columns.
  return (kind === 'related' ? list : list.toSorted()).join('\n')
}

/**
 * Both changes put together: what only the other changed is taken over, what both changed keeps what was typed here, and is
 * named so that somebody looks at it.
 */
function merge(fields: Field[], basis: Values, mine: Values, theirs: Values) {
  const values: Values = {}
  const changes: { label: string; theirs: string; both: boolean; name: string }[] = []
  for (const field of fields) {
    const changedHere = !sameField(field, basis, mine)
    const changedThere = !sameField(field, basis, theirs)
    const from = changedHere ? mine : theirs
    for (const name of namesOf(field)) values[name] = from[name] ?? ''
    if (changedThere && !sameField(field, mine, theirs))
      changes.push({ label: field.label, theirs: shown(field, theirs), both: changedHere, name: field.name })
  }
  return { values, changes }
}

function shown(field: Field, values: Values): string {
  if (field.kind === 'related') return inWords(field, toBody([field], values).body)
  if (field.kind === 'duration') {
    const [amount, unit = ''] = namesOf(field).map((name) => String(values[name] ?? ''))
    return amount
      ? `${amount} ${unit === 'samen' ? '' : ({ D: 'dagen', W: 'weken', M: 'maanden', Y: 'jaar' }[unit] ?? '')}`.trim()
      : ''
  }
  return [values[field.name] ?? '']
    .flat()
    .map((value) => field.choices?.find(([one]) => one === value)?.[1] ?? value)
    .join(', ')
}

/** Faults of the API beside the field that they are about; what is about no field goes above the form. */
function besideFields(fields: Field[], faults: FormFaults): FormFaults {
  const beside: FormFaults = {}
  for (const [name, reason] of Object.entries(faults)) {
    const field = fields.find((one) => name === one.name || name.startsWith(`${one.name}.`))
    const at = field?.name ?? ''
    beside[at] = [beside[at], field || name === '' ? reason : `${name}: ${reason}`].filter(Boolean).join(' ')
  }
  return beside
}

/** Refuses with faults beside the fields. */
export function refuse(faults: Record<string, string>): never {
  const params: InvalidParam[] = Object.entries(faults).map(([name, reason]) => ({ name, code: 'invalid', reason }))
  throw invalidAll(params)
}
