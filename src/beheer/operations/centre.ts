// Centre: the organisations of an installation with many, for who runs it: which ask for attention, and what may be done about it.

import type { FastifyInstance } from 'fastify'
import { notFound } from '../../core/problem.ts'
import { newestMigration } from '../../database/migrate.ts'
import { MOST } from '../../organisations/figures.ts'
import type { Change, Overview } from '../../organisations/overview.ts'
import type { FormValues } from '../frame/form.ts'
import { formatBytes, formatNumber } from '../frame/format.ts'
import { type Cursor, keysetPage } from '../frame/keyset-list.ts'
import { t, words } from '../language/language.ts'
import { byAttention, KINDS, type Kind, type Member, memberOf, OLD_SECONDS } from './centre-state.ts'

const viewing = { access: 'beheer', rol: 'viewer', isOfCentre: true } as const
const PATH = '/organisaties'
const CHANGES = 50

/** What changed an organisation, as `action` of organisation_change has it. */
const ACTIONS: Record<string, string> = words({
  add: 'toegevoegd',
  set: 'ingesteld',
  suspend: 'stilgezet',
  resume: 'in gebruik genomen',
  reseal: 'opnieuw verzegeld',
  move: 'verplaatst',
  export: 'uitgevoerd',
  migrate: 'gemigreerd',
  remove: 'verwijderd',
  'account-give': 'rol gegeven',
  'account-take': 'rol afgenomen',
})
const actionOf = (action: string) => (Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : action)

export async function registerCentre(app: FastifyInstance, overview: Overview): Promise<void> {
  const schema = await newestMigration()

  app.get(PATH, { config: viewing }, async (request, reply) => {
    const query = request.query as FormValues
    const text = (name: string) => String([query[name]].flat().at(-1) ?? '').trim()
    const searched = text('zoek').slice(0, 200)
    const wanted = text('staat')
    const { all, isLate } = await overview.kept()
    const members = byAttention(overview.all().map((one) => memberOf(one, all?.get(one.rsin), schema)))
    const rows = members.filter((one) => fits(one, searched.toLowerCase()) && isInState(one, wanted))
    return reply.page('centre', {
      title: t('Organisaties'),
      rows: rows.map((one) => ({ ...one, ...inWords(one) })),
      total: members.length,
      most: MOST,
      search: searched,
      state: wanted,
      states: statesOf(members),
      totals: totalsOf(members),
      ...readings(members, isLate),
    })
  })

  app.get<{ Params: { rsin: string } }>(`${PATH}/:rsin`, { config: viewing }, async (request, reply) => {
    const { rsin } = request.params
    const known = overview.find(rsin)
    if (!known) throw notFound(t('Er is geen organisatie met dit RSIN.'))
    const [{ all, isLate }, changes] = await Promise.all([
      overview.kept(),
      keysetPage(request, {
        size: CHANGES,
        key: ({ id }: Change) => String(id),
        rows: async (limit, cursor) => (await overview.changes(rsin, limit, onlyNumbers(cursor))) ?? [],
      }),
    ])
    const member = memberOf(known, all?.get(rsin), schema)
    return reply.page('centre-organisation', {
      title: known.name,
      breadcrumbs: [{ path: PATH, name: t('Organisaties') }],
      member: { ...member, ...inWords(member) },
      newest: schema,
      most: MOST,
      list: changes,
      changes: changes.rows.map((one) => ({
        ...one,
        words: [actionOf(one.action), one.account].filter(Boolean).join(': '),
      })),
      commands: commandsOf(member),
      ...readings([member], isLate),
    })
  })
}

/** A place in the list that nobody was given is none. */
const onlyNumbers = (cursor: Cursor): Cursor =>
  Object.fromEntries(Object.entries(cursor).filter(([, value]) => /^\d{1,15}$/.test(value)))

const fits = ({ name, rsin, hosts }: Member, searched: string) =>
  searched === '' || [name, rsin, ...hosts].some((one) => one.toLowerCase().includes(searched))

function isInState({ findings, state }: Member, wanted: string): boolean {
  if (wanted === '') return true
  if (wanted === 'aandacht') return findings.length > 0
  return wanted === state || findings.some(({ kind }) => kind === wanted)
}

/** The states to choose from, each with how many are in it; what nobody is in is left out of the line above the list. */
function statesOf(members: Member[]) {
  const count = (wanted: string) => members.filter((one) => isInState(one, wanted)).length
  return [
    { name: 'aandacht', text: t('Vraagt aandacht'), count: count('aandacht') },
    ...(Object.keys(KINDS) as Kind[]).map((name) => ({ name, text: KINDS[name], count: count(name) })),
    { name: 'active', text: t('In gebruik'), count: count('active') },
  ]
}

function totalsOf(members: Member[]) {
  const sum = (of: (member: Member) => number) => members.reduce((total, member) => total + of(member), 0)
  return {
    active: members.filter(({ state }) => state === 'active').length,
    troubled: members.filter(({ findings }) => findings.length > 0).length,
    isBad: members.some(({ findings }) => findings.some(({ tone }) => tone === 'fout')),
    jobs: sum(({ figures }) => figures?.jobs ?? 0),
    messages: sum(({ figures }) => figures?.messages ?? 0),
    zaken: sum(({ figures }) => figures?.zaken ?? 0),
    documenten: sum(({ figures }) => figures?.documenten ?? 0),
    bytes: sum(({ figures }) => figures?.bytes ?? 0),
    contentBytes: sum(({ figures }) => figures?.contentBytes ?? 0),
  }
}

/** How old the figures are. @param isLate the registry did not answer in time */
function readings(members: Member[], isLate: boolean) {
  const read = members.flatMap(({ kept }) => (kept?.readAt ? [kept] : []))
  const newest = read.toSorted((one, other) => (one.age ?? 0) - (other.age ?? 0))[0]
  return {
    isLate,
    readAt: newest?.readAt ?? null,
    isOld: !isLate && (newest?.age ?? Number.POSITIVE_INFINITY) > OLD_SECONDS,
  }
}

/** What a row and the page of one show alike. */
function inWords(member: Member) {
  const { kept, figures, bounds } = member
  const [fullest] = bounds.toSorted((one, other) => (other.share ?? 0) - (one.share ?? 0))
  return {
    isOld: (kept?.age ?? 0) > OLD_SECONDS,
    stateWord: member.state === 'active' ? t('In gebruik') : KINDS[member.state],
    fullest:
      fullest?.share !== undefined && fullest.share >= 0.01
        ? { label: fullest.label, share: percent(fullest.share) }
        : undefined,
    change: kept?.action ? actionOf(kept.action) : '',
    bytes: figures && formatBytes(figures.bytes),
    contentBytes: figures && formatBytes(figures.contentBytes),
    bounds: bounds.map((one) => ({
      ...one,
      most: one.most === undefined ? undefined : inUnits(one.name, one.most),
      used: one.used === undefined ? undefined : inUnits(one.name, one.used),
      share: one.share === undefined ? undefined : percent(one.share),
    })),
  }
}

const inUnits = (name: string, value: number) => (name === 'bytes' ? formatBytes(value) : formatNumber(value))
const percent = (share: number) => `${formatNumber(Math.floor(share * 100))} %`

/** What one may do about it, as it is typed. */
function commandsOf({ rsin, state, findings }: Member): { text: string; command: string }[] {
  const isBehind = findings.some(({ kind }) => kind === 'behind' || kind === 'unreadable')
  const cli = 'zaakstroom organisation'
  const isStopped = state === 'suspended'
  const remove = { text: t('Verwijderen, met alles wat zij heeft'), command: `${cli} remove ${rsin} --confirm ${rsin}` }
  if (state === 'adding') return [remove] // all others refuse one that is not whole
  return [
    ...(isBehind || state === 'read-only'
      ? [{ text: t('Haar tabellen meenemen naar deze versie'), command: 'zaakstroom migrate --all' }]
      : []),
    ...(state === 'active' ? [] : [{ text: t('Weer in gebruik nemen'), command: `${cli} resume ${rsin}` }]),
    ...(isStopped ? [] : [{ text: t('Stilzetten'), command: `${cli} suspend ${rsin} --reason "…"` }]),
    { text: t('Een grens wijzigen'), command: `${cli} set ${rsin} --limit requests=128` },
    ...(state === 'active'
      ? [{ text: t('Verplaatsen naar een andere server'), command: `${cli} move ${rsin} --to postgres://…` }]
      : []),
    { text: t('Alles wat zij heeft naar bestanden brengen'), command: `${cli} export ${rsin} --to ./${rsin} --keys` },
    ...(isStopped ? [remove] : []),
  ]
}
