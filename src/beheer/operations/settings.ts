// Settings: the whole configuration, with where each value comes from, and a form for what may change while the service runs.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CHANGEABLE } from '../../config/environment.ts'
import { SETTING_GROUPS } from '../../config/in-pages.ts'
import { type Config, withStored } from '../../config.ts'
import type { ReadDb } from '../../database/database.ts'
import { expected } from '../../database/rows.ts'
import { fixedElsewhere } from '../../operations/process-settings.ts'
import { isConfirmedOrAsked } from '../accounts/confirm.ts'
import { mutateFromPage, type PageMutation } from '../frame/change.ts'
import { type FormFaults, type FormValues, formFaultsOf, throwFormFaults } from '../frame/form.ts'
import { redirectWith } from '../frame/page.ts'
import { localeOf, t, words } from '../language/language.ts'

/** What is set in the pages elsewhere, and where. */
const ELSEWHERE = words(
  [
    { name: 'Notificaties: dienst, herhalingen en bewaren', path: '/configuratie/notificaties' },
    { name: 'Meldingen: mailserver en webhook', path: '/meldingen/instellingen' },
    { name: 'Andere diensten', path: '/diensten' },
    { name: 'Applicaties, geheimen en rechten', path: '/applicaties' },
    { name: 'Accounts', path: '/accounts' },
  ],
  'name',
)
const PATH = '/configuratie'
/** Settings of how people sign in: a copied cookie may not change them. */
const SIGN_IN = ['BEHEER_TOTP_REQUIRED']
/** Characters of a value; more is refused, since half a list says something else. */
const LONGEST = 10_000

type Changeable = (typeof CHANGEABLE)[number]

export function registerSettings(app: FastifyInstance): void {
  const { parts } = app
  const access = { access: 'beheer', rol: 'administrator' } as const

  app.get(PATH, { config: access }, async (_request, reply) => reply.page('settings', await page()))

  app.post(PATH, { config: access }, async (request, reply) => {
    const form = (request.body ?? {}) as FormValues
    // What a form says that stood there is held against what stands there when it is saved.
    const isAboutSignIn = SIGN_IN.some((env) => env in form && form[env] !== form[`was.${env}`])
    if (isAboutSignIn && !(await isConfirmedOrAsked(request, reply))) return reply
    try {
      const changed = await saveSettings(request, form)
      if (changed === 0) return redirectWith(request, reply, PATH, t('Er was niets gewijzigd.'), 'info')
      const what = changed === 1 ? t('Een instelling is') : t`${changed} instellingen zijn`
      return redirectWith(request, reply, PATH, t`${what} gewijzigd. Dat geldt vanaf nu, zonder herstart.`)
    } catch (error) {
      const faults = formFaultsOf(error)
      return reply.code(400).page('settings', await page(form, faults))
    }
  })

  async function page(form: FormValues = {}, faults: FormFaults = {}) {
    const groups = SETTING_GROUPS.filter((group) => group !== 'Meldingen')
    return {
      title: t('Configuratie'),
      faults: { ...(await storedFaults(app, groups)), ...faults },
      groups: await Promise.all(groups.map(async (group) => [group, await settingFields(app, group, form)] as const)),
      fixed: parts.config.listed
        .filter(({ changeable }) => !changeable)
        .sort((one, other) => Number(other.from === 'environment') - Number(one.from === 'environment')),
      differences: parts.shared?.differences() ?? [],
      elsewhere: ELSEWHERE,
    }
  }
}

/** What is wrong with values that are stored, by their setting: their default counts. */
export async function storedFaults(
  { parts, read }: FastifyInstance,
  groups: readonly (typeof SETTING_GROUPS)[number][],
): Promise<FormFaults> {
  const stored = await readRows(read)
  const { faults } = withStored(parts.config, stored)
  return Object.fromEntries(
    CHANGEABLE.flatMap((setting) =>
      faults.has(setting.env) && groups.includes(setting.pages.group)
        ? [[setting.env, t`Wat hier is opgeslagen telt niet, en de standaard geldt. ${mustBe(setting)}`]]
        : [],
    ),
  )
}

/** The fields of the settings of a group, with what stands in a form. */
export async function settingFields(
  app: FastifyInstance,
  group: (typeof SETTING_GROUPS)[number],
  form: FormValues = {},
) {
  const [stored, fixed] = [await readRows(app.read), await fixedElsewhere(app.reader.sql)]
  return CHANGEABLE.filter(({ pages }) => pages.group === group).map((setting) => {
    const now = stored.get(setting.env) ?? ''
    const { value, from } = expected(app.parts.config.listed.find(({ env }) => env === setting.env))
    return {
      setting,
      value: textOf(form, setting.env) ?? now,
      was: textOf(form, `was.${setting.env}`) ?? now,
      /** Not of the stored one when that is wrong: what counts. */
      effective: inWords(setting, value),
      byDefault: inWords(setting, setting.default?.toString()),
      origin: from,
      /** Processes whose environment fixes it: what is set here does not count there. */
      fixedBy: fixed.get(setting.env) ?? [],
      choices: choicesOf(setting),
    }
  })
}

/**
 * Saves the settings that a form has.
 * @param also what is saved with them, in the same change; it gets the settings as they are from then on
 * @param renewed secrets that are given anew, or forgotten, in `also`
 * @returns how many settings were changed
 * @throws Problem 400 with what is wrong, per field
 */
export async function saveSettings(
  request: FastifyRequest,
  form: FormValues,
  also?: (m: PageMutation, config: Config) => Promise<number>,
  renewed: ReadonlySet<string> = new Set(),
): Promise<number> {
  const { parts } = request.server
  const given = new Set(parts.config.listed.flatMap(({ env, from }) => (from === 'environment' ? env : [])))
  const asked = CHANGEABLE.flatMap((setting) => {
    const [to, was] = [textOf(form, setting.env), textOf(form, `was.${setting.env}`)]
    return given.has(setting.env) || to === undefined || to === was ? [] : [{ setting, to, was }]
  })
  if (asked.length === 0 && !also) return 0
  const { faults } = withStored(
    parts.config,
    new Map(asked.filter(({ to }) => to !== '').map(({ setting, to }) => [setting.env, to])),
  )
  const length = new Intl.NumberFormat(localeOf()).format
  throwFormFaults(
    Object.fromEntries(
      asked.flatMap(({ setting, to }) =>
        to.length > LONGEST
          ? [[setting.env, t`Dit zijn ${length(to.length)} tekens; er passen er ten hoogste ${length(LONGEST)}.`]]
          : [],
      ),
    ),
  )
  throwFormFaults(
    Object.fromEntries(
      asked.flatMap(({ setting }) => (faults.has(setting.env) ? [[setting.env, mustBe(setting)]] : [])),
    ),
  )
  const others = await mutateFromPage(request, async (m) => {
    await m.sql`lock table setting in share row exclusive mode`
    await requireMailPassword(m, asked, renewed)
    const stored = await readRows(m.read)
    const changedSince = asked.filter(({ setting, was }) => (stored.get(setting.env) ?? '') !== (was ?? ''))
    throwFormFaults(
      Object.fromEntries(
        changedSince.map(({ setting }) => {
          const now = inWords(setting, stored.get(setting.env) ?? setting.default?.toString())
          return [
            setting.env,
            t`Iemand anders heeft dit intussen gewijzigd: het is nu “${now}”. Open de pagina opnieuw.`,
          ]
        }),
      ),
    )
    if (asked.length > 0) m.signal('zaakstroom_settings')
    for (const { setting, to } of asked) {
      const before = stored.get(setting.env)
      if (to === '') await m.trx.deleteFrom('setting').where('name', '=', setting.env).execute()
      else
        await m.sql`
        insert into setting (name, value) values (${setting.env}, ${to})
        on conflict (name) do update set value = excluded.value, changed_at = excluded.changed_at`
      const [from, now] = [before, to || undefined].map((text) => inWords(setting, text ?? setting.default?.toString()))
      m.audit({
        handeling: 'instelling-wijzigen',
        soort: 'instelling',
        id: setting.env,
        weergave: `${setting.pages.label}: van “${from}” naar “${now}”`,
        oud: { waarde: from },
        nieuw: { waarde: now },
      })
    }
    return (await also?.(m, await configAfter(m, parts.config))) ?? 0
  })
  await parts.settings.refresh() // the signal comes too, but it may come after the next page
  return asked.length + others
}

/** What the password of the mail server was given for. */
const MAIL_SERVER = new Set(['SMTP_HOST', 'SMTP_PORT', 'SMTP_SECURITY'])

/** A password that is kept goes to no other server than it was given for, whichever page names that. @throws Problem 400 */
async function requireMailPassword(
  m: PageMutation,
  asked: readonly { setting: Changeable }[],
  renewed: ReadonlySet<string>,
): Promise<void> {
  const moved = asked.filter(({ setting }) => MAIL_SERVER.has(setting.env))
  if (moved.length === 0 || renewed.has('SMTP_PASSWORD')) return
  const kept = await m.trx
    .selectFrom('sealedSetting')
    .select('name')
    .where('name', '=', 'SMTP_PASSWORD')
    .executeTakeFirst()
  if (!kept) return
  const fault = t(
    'Vul bij Meldingen het wachtwoord van de mailserver opnieuw in, of verwijder het daar: de mailserver is gewijzigd.',
  )
  throwFormFaults(Object.fromEntries([...moved.map(({ setting }) => [setting.env, fault]), ['SMTP_PASSWORD', fault]]))
}

/** The settings with those that are stored now. */
async function configAfter(m: PageMutation, config: Config): Promise<Config> {
  // A setting that was emptied is stored no more, and has its default again.
  const defaults = Object.fromEntries(CHANGEABLE.map(({ key, default: standard }) => [key, standard]))
  const fixed = new Set(config.listed.flatMap(({ env, from }) => (from === 'environment' ? env : [])))
  const open = CHANGEABLE.flatMap(({ env, key }) => (fixed.has(env) ? [] : [[key, defaults[key]] as const]))
  return withStored({ ...config, ...Object.fromEntries(open) }, await readRows(m.read)).config
}

async function readRows(db: ReadDb): Promise<Map<string, string>> {
  const rows = await db.selectFrom('setting').select(['name', 'value']).execute()
  return new Map(rows.map(({ name, value }) => [name, value]))
}

/** What a form says of a field; undefined when it has no such field. */
function textOf(form: FormValues, name: string): string | undefined {
  const value = [form[name]].flat().at(-1)
  return value?.replaceAll('\0', '').toWellFormed().trim()
}

/** A value, written as in the environment, as people read it. */
function inWords({ type, pages }: Changeable, text: string | undefined): string {
  if (text === undefined || text === '') return t('leeg')
  if (type === 'boolean') return ['true', 'yes', 'on', '1'].includes(text.toLowerCase()) ? t('ja') : t('nee')
  return pages.choices?.[text] ? t(pages.choices[text]) : text
}

function choicesOf(setting: Changeable): [string, string][] | undefined {
  const values = setting.type === 'boolean' ? ['true', 'false'] : setting.enum
  if (!values) return undefined
  const standard = inWords(setting, setting.default?.toString())
  return [
    ['', t`Standaard (${standard})`],
    ...values.map((value): [string, string] => [value, inWords(setting, value)]),
  ]
}

/** What a value has to be, by the bounds of the setting. */
function mustBe({ type, minimum, maximum, pages }: Changeable): string {
  if (type !== 'integer') return pages.must ? t`Vul ${t(pages.must)} in.` : t('Kies een van de mogelijkheden.')
  const format = new Intl.NumberFormat(localeOf()).format
  const bounds =
    maximum === undefined
      ? t`van ten minste ${format(minimum!)}`
      : t`van ${format(minimum!)} tot en met ${format(maximum)}`
  return t`Vul een geheel getal in ${bounds}, of laat het leeg voor de standaard.`
}
