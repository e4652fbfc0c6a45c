// Notificatie settings: where notifications go, how often they are tried, and whether that works.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EXTERNAL } from '../../core/outbox.ts'
import { toProblem } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { SETS, schedule } from '../../notificaties/backoff.ts'
import { NoService, type Stage } from '../../notificaties/kanalen.ts'
import { receiverAnswers } from '../../notificaties/resend.ts'
import {
  followService,
  type NotificationSettings,
  readModus,
  readSettings,
  SLUG,
  saveSettings,
} from '../../notificaties/settings.ts'
import { saveService } from '../../services/register.ts'
import { mutateFromPage } from '../frame/change.ts'
import { type FormFaults, type FormValues, formFaultsOf, throwFormFaults } from '../frame/form.ts'
import { redirectWith } from '../frame/page.ts'
import { localeOf, t, words } from '../language/language.ts'
import { STAGE_WORDS, stepsOf } from './notificatie-labels.ts'
import { outageLines } from './outage.ts'

const PATH = '/configuratie/notificaties'
const title = () => t('Notificatiescomponentconfiguratie')
const NOTHING_CHANGED = new Error('nothing changed')

type RetryFields = Pick<NotificationSettings, 'maxRetries' | 'backoff' | 'backoffMax' | 'baseFactor'>
/** The fields as they stand in the form: text. */
type Values = Record<(typeof FIELD_NAMES)[number], string>
const RETRY_NAMES = ['maxRetries', 'backoffSoort', 'backoff', 'backoffMax', 'baseFactor'] as const
const FIELD_NAMES = ['apiRoot', 'clientId', 'termijn', 'inOrder', 'outageCounts', ...RETRY_NAMES] as const
/** Of the dry run. They are saved nowhere. */
type Outage = { hours: string; perHour: string }
/** A weekend: Friday 17:00 to Monday 8:00. */
const WEEKEND_HOURS = '63'
const OUTAGE_COUNTS = words({
  extern: 'alleen bij de notificatiedienst',
  alle: 'bij alle ontvangers',
  geen: 'bij geen ontvanger',
})

export function registerNotificatieSettings(app: FastifyInstance): void {
  app.get(PATH, { config: { access: 'beheer', rol: 'viewer' } }, async (request, reply) => {
    const query = request.query as FormValues
    const fields = { ...toFields(await readCurrent(app.read)) }
    for (const name of [...RETRY_NAMES, 'outageCounts'] as const)
      if (query[name] !== undefined) fields[name] = textOf(query, name)
    return show(reply, fields, {}, outageOf(query))
  })

  app.post(PATH, { config: { access: 'beheer', rol: 'administrator' } }, async (request, reply) => {
    const form = (request.body ?? {}) as FormValues
    const fields = Object.fromEntries(FIELD_NAMES.map((name) => [name, textOf(form, name)])) as Values
    const actie = textOf(form, 'actie')
    if (actie === 'standaard' || actie === 'kort')
      return show(reply, { ...fields, ...retryFields(SETS[actie]) }, {}, outageOf(form))
    if (actie === 'voorbeeld') return show(reply, fields, {}, outageOf(form))
    try {
      const changed = await save(request, fields, textOf(form, 'secret'))
      if (!changed) return redirectWith(request, reply, PATH, t('Er was niets gewijzigd.'), 'info')
      return redirectWith(
        request,
        reply,
        PATH,
        t('De instellingen zijn opgeslagen. Ze gelden vanaf de volgende poging.'),
      )
    } catch (error) {
      return show(reply.code(400), fields, formFaultsOf(toProblem(error)), outageOf(form))
    }
  })

  app.post(`${PATH}/testbericht`, { config: { access: 'beheer', rol: 'operator' } }, async (request, reply) => {
    const results = await withService(() => app.own.kanalen.test())
    if (!results) return redirectWith(request, reply, PATH, noService(), 'fout')
    const fault = results.find(({ outcome }) => outcome === 'failed')
    await mutateFromPage(request, async (m) => {
      m.audit({ handeling: 'testbericht-versturen', soort: 'notificatiedienst', nieuw: { stappen: results } })
      if (!fault) await receiverAnswers(m, EXTERNAL)
    })
    if (!fault)
      return redirectWith(request, reply, `${PATH}#test`, t('Het testbericht is aangekomen. Wat wacht gaat nu weg.'))
    const step = STAGE_WORDS[fault.stage].name
    return redirectWith(
      request,
      reply,
      `${PATH}#test`,
      t`Het testbericht is niet aangekomen. Mislukte stap: ${step}.`,
      'fout',
    )
  })

  app.post(`${PATH}/kanalen`, { config: { access: 'beheer', rol: 'administrator' } }, async (request, reply) => {
    const results = await withService(() => app.own.kanalen.register())
    if (!results) return redirectWith(request, reply, PATH, noService(), 'fout')
    await mutateFromPage(request, async (m) =>
      m.audit({ handeling: 'kanalen-registreren', soort: 'notificatiedienst', nieuw: { kanalen: results } }),
    )
    const failed = results.filter(({ gelukt }) => !gelukt).length
    const notice = failed ? t`${failed} van de ${results.length} kanalen zijn niet geregistreerd.` : ''
    return redirectWith(
      request,
      reply,
      `${PATH}#kanalen`,
      notice || t('Alle kanalen zijn geregistreerd.'),
      failed ? 'fout' : 'goed',
    )
  })

  async function show(reply: FastifyReply, fields: Values, faults: FormFaults, outage: Outage) {
    const fault: FormFaults = {}
    const retry = readRetry(fields, fault)
    const now = await readCurrent(app.read)
    const mode = await readModus(app.read)
    const receivers = { external: mode !== 'ingebouwd' && now.dienst !== null, subscribers: mode !== 'extern' }
    const dryRun = Object.keys(fault).length === 0 && (await outageOutcome(fields, retry, outage, receivers))
    const test = await latest<{ stappen: Stage[] }>('testbericht-versturen')
    const kanalen = await latest<{ kanalen: { naam: string; gelukt: boolean; reden: string }[] }>('kanalen-registreren')
    return reply.page('notificatie-settings', {
      title: title(),
      fields,
      outageCounts: Object.entries(OUTAGE_COUNTS),
      faults,
      hasSecret: now.dienst?.hasSecret ?? false,
      hasService: now.dienst !== null,
      mode,
      outage,
      dryRun,
      scheduleFaults: Object.values(fault),
      schema: Object.keys(fault).length === 0 ? schema(retry) : [],
      test: test && { ...test, stappen: stepsOf(test.nieuw.stappen) },
      kanalen: kanalen && { ...kanalen, kanalen: kanalen.nieuw.kanalen },
      withoutAddress: app.parts.config.publicUrl === undefined,
    })
  }

  /** The dry run of an outage, by the fields as they stand in the form. */
  async function outageOutcome(
    fields: Values,
    retry: RetryFields,
    outage: Outage,
    { external, subscribers }: { external: boolean; subscribers: boolean },
  ) {
    const faults: FormFaults = {}
    const hours = readNumber(outage.hours, { min: 1, max: 1440 }, 'hours', faults)
    const perHour =
      outage.perHour === ''
        ? undefined
        : readNumber(outage.perHour, { min: 0, max: 10_000_000, decimalen: true }, 'perHour', faults)
    const outageCounts = fields.outageCounts as NotificationSettings['outageCounts']
    if (!(outageCounts in OUTAGE_COUNTS) || Object.keys(faults).length > 0)
      return { faults: Object.values(faults), hours, lines: [] }
    const limits = await app.read
      .selectFrom('notificatieSettings')
      .select(['blockAfterHours', 'blockFromCount'])
      .executeTakeFirstOrThrow()
    const { notificationDaysRetained: daysRetained, notificationsConcurrency } = app.parts.config
    const lines = await outageLines(
      app.read,
      { ...retry, ...limits, outageCounts, daysRetained },
      { hours, perHour, external: external ? notificationsConcurrency : undefined, subscribers },
    )
    return { faults: [], hours, lines }
  }

  /** What the last test or registration came to: its audit record tells. */
  async function latest<T>(handeling: string) {
    const row = await app.read
      .selectFrom('beheerAudit')
      .where('handeling', '=', handeling)
      .orderBy('id', 'desc')
      .select(['tijdstip', 'gebruiker', 'nieuw'])
      .limit(1)
      .executeTakeFirst()
    return row && { ...row, nieuw: row.nieuw as T }
  }

  async function save(request: FastifyRequest, fields: Values, secret: string): Promise<boolean> {
    const faults: FormFaults = {}
    const retry = readRetry(fields, faults)
    const termijn = readNumber(fields.termijn, { min: 0.1, max: 300, decimalen: true }, 'termijn', faults)
    const { apiRoot, clientId } = fields
    const outageCounts = fields.outageCounts as NotificationSettings['outageCounts']
    if (!(outageCounts in OUTAGE_COUNTS)) faults.outageCounts = t('Kies een van de drie mogelijkheden.')
    if (apiRoot !== '') Object.assign(faults, urlFault(apiRoot))
    if (/\p{Cc}/u.test(clientId) || clientId.length > 255)
      faults.clientId = t('Vul ten hoogste 255 tekens in, zonder regeleinden.')
    if (secret.length > 1000 || /\p{Cc}/u.test(secret)) faults.secret = t('Vul ten hoogste 1000 tekens in.')
    const now = await readCurrent(app.read)
    // Another way to identify ourselves, from a configuration file, stays until a client id is filled in here.
    const otherwise = now.dienst && now.dienst.authenticatie !== 'zgw' && clientId === '' ? now.dienst : undefined
    if (apiRoot !== '' && !otherwise) {
      if (clientId === '') faults.clientId ??= t('Vul het client-ID in dat de notificatiedienst voor ons kent.')
      if (secret === '' && !now.dienst?.hasSecret) faults.secret ??= t('Vul het secret in dat bij het client-ID hoort.')
    }
    throwFormFaults(faults)
    try {
      await mutateFromPage(request, async (m) => {
        const oud = await readCurrent(m.read)
        const slug = oud.dienst?.slug ?? (await unusedSlug(m.read))
        if (apiRoot !== '') {
          const changed = await saveService(m, app.parts.box, {
            label: oud.dienst?.label ?? t('Notificaties'),
            slug,
            soort: 'nrc',
            apiRoot,
            authenticatie: otherwise ? (otherwise.authenticatie as 'geen' | 'api_key') : 'zgw',
            ...(otherwise?.header && { header: otherwise.header }),
            ...(!otherwise && { clientId }),
            ...(secret !== '' && { secret }),
            gebruikersId: oud.dienst?.gebruikersId ?? '',
            gebruikersWeergave: oud.dienst?.gebruikersWeergave ?? '',
            timeoutMs: Math.round(termijn * 1000),
          })
          if (changed) await followService(m, slug)
        }
        await saveSettings(m, {
          ...retry,
          dienst: apiRoot === '' ? null : slug,
          inOrder: fields.inOrder !== '',
          outageCounts,
        })
        const [voor, na] = [toAudit(oud), toAudit(await readCurrent(m.read))]
        if (secret === '' && JSON.stringify(voor) === JSON.stringify(na)) throw NOTHING_CHANGED
        m.audit({
          handeling: 'notificaties-instellen',
          soort: 'notificatie-instelling',
          weergave: 'Notificatiescomponentconfiguratie',
          oud: voor,
          nieuw: { ...na, ...(secret !== '' && { secret: 'gewijzigd' }) },
        })
      })
      return true
    } catch (error) {
      if (error === NOTHING_CHANGED) return false
      throw error
    }
  }
}

const noService = () => t('Er is nog geen notificatiedienst. Vul eerst de API-root in en sla op.')

async function withService<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NoService) return undefined
    throw error
  }
}

type Current = Awaited<ReturnType<typeof readCurrent>>

async function readCurrent(db: ReadDb) {
  const { dienst: slug, ...instellingen } = await readSettings(db)
  const row = await db
    .selectFrom('service')
    .where('slug', '=', slug ?? '')
    .selectAll()
    .executeTakeFirst()
  if (!row) return { ...instellingen, dienst: null }
  const { sealedSecret, ...dienst } = row
  return { ...instellingen, dienst: { ...dienst, hasSecret: sealedSecret !== null } }
}

function toFields({ dienst, ...instellingen }: Current): Values {
  return {
    apiRoot: dienst?.apiRoot ?? '',
    clientId: dienst?.clientId ?? '',
    termijn: numberText((dienst?.timeoutMs ?? 10_000) / 1000),
    inOrder: instellingen.inOrder ? 'true' : '',
    outageCounts: instellingen.outageCounts,
    ...retryFields(instellingen),
  }
}

function retryFields({ maxRetries, backoff, backoffMax, baseFactor }: RetryFields) {
  const getal = typeof backoff === 'number' && backoff > 0
  return {
    maxRetries: String(maxRetries),
    backoffSoort: getal ? 'getal' : backoff === true ? 'aan' : 'uit',
    backoff: numberText(getal ? (backoff as number) : SETS.standaard.backoff),
    backoffMax: String(backoffMax),
    baseFactor: String(baseFactor),
  }
}

function toAudit({ dienst, ...instellingen }: Current) {
  const { maxRetries, backoff, backoffMax, baseFactor, inOrder, outageCounts } = instellingen
  return {
    apiRoot: dienst?.apiRoot ?? null,
    clientId: dienst?.clientId ?? null,
    timeoutMs: dienst?.timeoutMs ?? null,
    maxRetries,
    backoff,
    backoffMax,
    baseFactor,
    inOrder,
    outageCounts,
  }
}

/** Not that of a service of another kind. */
async function unusedSlug(db: ReadDb): Promise<string> {
  const taken = await db
    .selectFrom('service')
    .where('slug', '=', SLUG)
    .where('kind', '!=', 'nrc')
    .select('id')
    .executeTakeFirst()
  return taken ? `${SLUG}-beheer` : SLUG
}

/** The settings of the retries; what is wrong with them is added to `fouten`. */
function readRetry(fields: Values, faults: FormFaults): RetryFields {
  const { backoffSoort } = fields
  if (!['getal', 'aan', 'uit'].includes(backoffSoort)) faults.backoffSoort = t('Kies een van de drie mogelijkheden.')
  return {
    maxRetries: readNumber(fields.maxRetries, { min: 0, max: 100 }, 'maxRetries', faults),
    backoff:
      backoffSoort === 'getal'
        ? readNumber(fields.backoff, { min: 0.1, max: 1_000_000, decimalen: true }, 'backoff', faults)
        : backoffSoort === 'aan',
    backoffMax: readNumber(fields.backoffMax, { min: 1, max: 31_536_000 }, 'backoffMax', faults),
    baseFactor: readNumber(fields.baseFactor, { min: 1, max: 1000 }, 'baseFactor', faults),
  }
}

const NAMES: Record<string, string> = words({
  maxRetries: 'Notification delivery max retries',
  backoff: 'Notification delivery retry backoff',
  backoffMax: 'Notification delivery retry backoff max',
  baseFactor: 'Notification delivery base factor',
  termijn: 'Termijn',
  hours: 'Uren weg',
  perHour: 'Berichten per uur',
})

function readNumber(
  text: string,
  { min, max, decimalen = false }: { min: number; max: number; decimalen?: boolean },
  name: string,
  faults: FormFaults,
): number {
  const value = (decimalen ? /^\d{1,12}([.,]\d{1,3})?$/ : /^\d{1,12}$/).test(text)
    ? Number(text.replace(',', '.'))
    : NaN
  if (value >= min && value <= max) return value
  const kind = decimalen ? t('getal') : t('geheel getal')
  const { format } = new Intl.NumberFormat(localeOf())
  faults[name] = t`${NAMES[name]}: vul een ${kind} in van ${format(min)} tot en met ${format(max)}.`
  return min
}
const numberText = (value: number) => String(value).replace('.', ',')

function urlFault(text: string): FormFaults {
  const plain = /^https?:\/\/[^/?#@\s\p{Cc}]+(\/[^?#\s\p{Cc}]*)?$/iu
  if (text.length <= 1000 && plain.test(text) && URL.canParse(text)) return {}
  return {
    apiRoot: t(
      'Vul een volledig adres in dat begint met https:// of http://, zonder gebruikersnaam, wachtwoord, vraagteken of hekje. Bijvoorbeeld https://notificaties.example.nl/api/v1/.',
    ),
  }
}

/** What the settings come down to, when the first attempt is made now and every one fails. */
function schema(retry: RetryFields): { poging: number; wacht: number; na: number; moment: string }[] {
  const first = { retry: 0, delay: 0, at: 0 }
  return [first, ...schedule(retry)].map(({ retry, delay, at }) => ({
    poging: retry + 1,
    wacht: delay,
    na: at,
    moment: new Date(Date.now() + at * 1000).toISOString(),
  }))
}

const outageOf = (form: FormValues): Outage => ({
  hours: textOf(form, 'hours') || WEEKEND_HOURS,
  perHour: textOf(form, 'perHour'),
})

function textOf(form: FormValues, name: string): string {
  return String([form[name]].flat().at(-1) ?? '').trim()
}
