// From the environment to the values of the settings, and what is wrong with them in words.
import { readFileSync } from 'node:fs'
import type { Static } from 'typebox'
import { Compile } from 'typebox/schema'
import { Settings as Typebox } from 'typebox/system'
import { expected } from '../database/rows.ts'
import type { InPages } from './in-pages.ts'
import { KINDS, type Kind } from './kinds.ts'
import { HEADINGS, Settings } from './settings.ts'

/** The settings as the environment has them, with the defaults. */
export type SettingValues = Static<typeof Settings>

/** What the schema of one setting says. */
export type Setting = {
  env: string
  type?: string
  default?: string | number | boolean
  description: string
  must?: string
  secret?: boolean
  kind?: Kind
  needs?: readonly string[]
  roles?: readonly string[]
  alsoRead?: string
  pages?: InPages
  minimum?: number
  maximum?: number
  enum?: string[]
}
type Group = { properties: Record<string, Setting> }

const ENTRIES = Object.entries(Settings.properties as unknown as Record<string, Setting | Group>)
const isGroup = (one: Setting | Group): one is Group => 'properties' in one

/** All settings, in the order of the schema. */
export const SETTINGS: readonly Setting[] = ENTRIES.flatMap(([, one]) =>
  isGroup(one) ? Object.values(one.properties) : one,
)

/** Those that the pages may change while the program runs, with the name that each has in `SettingValues`. */
export const CHANGEABLE: readonly (Setting & { key: keyof SettingValues; pages: InPages })[] = ENTRIES.flatMap(
  ([key, one]) => (!isGroup(one) && one.pages ? [{ ...one, pages: one.pages, key: key as keyof SettingValues }] : []),
)

const BOOLEANS: Record<string, boolean> = {
  ...{ true: true, yes: true, on: true, '1': true },
  ...{ false: false, no: false, off: false, '0': false },
}
const check = Compile(Settings)

/**
 * Reads all settings. An empty value counts as unset, since compose files write it so.
 * @returns `given`: the names that the environment has a value for. `values` are to be used when there are no faults
 */
export function readEnvironment(env: NodeJS.ProcessEnv): {
  values: SettingValues
  given: Set<string>
  faults: string[]
} {
  const faults: string[] = []
  const given = new Set<string>()
  const texts: { env: string; kind: Kind; text: string }[] = []
  const read = (setting: Setting): unknown => {
    const text = textOf(setting, env, faults)
    if (text === undefined) return setting.default
    given.add(setting.env)
    if (setting.kind) texts.push({ env: setting.env, kind: setting.kind, text })
    if (setting.type === 'boolean') return BOOLEANS[text.toLowerCase()] ?? text
    if (setting.type === 'number' && /^\d+(\.\d+)?$/.test(text)) return Number(text)
    return setting.type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text
  }
  const values: unknown = compact(ENTRIES, (one) =>
    isGroup(one) ? compact(Object.entries(one.properties), read) : read(one),
  )
  Typebox.Set({ maxErrors: Math.max(Typebox.Get().maxErrors, SETTINGS.length) }) // else it tells of eight faults
  if (!check.Check(values)) {
    for (const { instancePath, keyword, params, message } of check.Errors(values)[1]) {
      const setting = settingAt(instancePath)
      faults.push(`${setting.env} ${inWords(setting, keyword, params, message)}`)
    }
  }
  for (const { env: name, kind, text } of texts) {
    if (faults.some((fault) => fault.startsWith(`${name} `))) continue // its pattern tells more
    const wrong = KINDS[kind](text)
    if (wrong) faults.push(`${name} ${wrong}`)
  }
  return { values: values as SettingValues, given, faults }
}

export type ListedSetting = {
  env: string
  /** As text; undefined for a secret, and where there is none. */
  value: string | undefined
  from: 'environment' | 'database' | 'default'
  secret: boolean
  /** The pages may change it, as long as the environment does not say it. */
  changeable: boolean
}

/** Every setting as it is in use, to be shown: without the secrets. */
export function listSettings(env: NodeJS.ProcessEnv, given: Set<string>): ListedSetting[] {
  return SETTINGS.map(({ env: name, secret = false, alsoRead, default: standard, pages }) => {
    const text = given.has(name) ? env[name]?.trim() || (alsoRead && env[alsoRead]?.trim()) : standard?.toString()
    return {
      env: name,
      value: secret || !text ? undefined : withoutPassword(text),
      from: given.has(name) ? 'environment' : 'default',
      secret,
      changeable: pages !== undefined,
    }
  })
}

/** An address may carry a password that was never meant to be shown. */
const withoutPassword = (text: string) => text.replace(/(\w+:\/\/)[^/@\s,]*@/g, '$1…@')

/** The object of these entries without those that have no value. */
function compact<T>(entries: [string, T][], read: (one: T) => unknown): Record<string, unknown> {
  const all = entries.map(([key, one]) => [key, read(one)] as const)
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}

/** The text of a setting, or that of the file that NAME_FILE names, without the newline that editors end it with. */
function textOf(
  { env: name, secret, alsoRead }: Setting,
  env: NodeJS.ProcessEnv,
  faults: string[],
): string | undefined {
  const text = env[name]?.trim() || (alsoRead && env[alsoRead]?.trim()) || undefined
  const path = secret && env[`${name}_FILE`]?.trim()
  if (!path) return text
  if (text) faults.push(`${name} and ${name}_FILE exclude each other`)
  try {
    const content = readFileSync(path, 'utf8').trim()
    if (!content) faults.push(`${name}_FILE is empty`)
    return content || undefined
  } catch {
    faults.push(`${name}_FILE cannot be read`)
    return text
  }
}

function settingAt(path: string): Setting {
  const [key, part = ''] = path.slice(1).split('/')
  const [, one] = expected(ENTRIES.find(([name]) => name === key))
  return isGroup(one) ? expected(one.properties[part]) : one
}

/** What is wrong, by the rule and never with the value: it may be a secret. */
function inWords({ type, must }: Setting, keyword: string, params: object, message: string): string {
  const { limit, allowedValues } = params as { limit?: number; allowedValues?: string[] }
  if (must) return `must ${must}`
  if (keyword === 'type' && type === 'number') return 'must be a number'
  if (keyword === 'type') return type === 'integer' ? 'must be a whole number' : 'must be true or false'
  if (keyword === 'minimum') return `must be at least ${limit}`
  if (keyword === 'maximum') return `must be at most ${limit}`
  if (keyword === 'minLength') return `must have at least ${limit} characters`
  if (keyword === 'maxLength') return `must have at most ${limit} characters`
  return allowedValues ? `must be one of ${allowedValues.join(', ')}` : message
}

/** The settings as lines for `--help`, in groups: name, meaning, default. */
export function describeSettings(): string {
  const describe = ({ env, description, default: standard }: Setting) =>
    `  ${env.padEnd(30)} ${description}${standard === undefined ? '' : ` (${standard})`}`
  const lines = ENTRIES.flatMap(([key, one], i) => [
    ...(HEADINGS[key] ? [`${i === 0 ? '' : '\n'}  ${HEADINGS[key]}:`] : []),
    ...(isGroup(one) ? Object.values(one.properties).map(describe) : [describe(one)]),
  ])
  const inFile = SETTINGS.filter(({ secret }) => secret).map(({ env }) => `${env}_FILE`)
  return `${lines.join('\n')}\n\n  A secret may stand in a file: ${inFile.join(',\n  ')}.`
}
