// How settings that may be changed in the pages are shown there.

/** Under which heads the pages show settings, in this order. */
export const SETTING_GROUPS = [
  'Zaken',
  'Selectielijst',
  'Bewaren',
  'Notificaties',
  'Toegang tot de API’s',
  'Imports',
  'Inloggen',
  'Meldingen',
  'Onderdelen',
] as const

/** How the pages show a setting that can be changed there. */
export type InPages = {
  group: (typeof SETTING_GROUPS)[number]
  label: string
  help: string
  /** What a text has to be, after "Vul … in". */
  must?: string
  /** Values of an enum in words. */
  choices?: Record<string, string>
}
/** To spread into the schema of a setting: makes it one that the pages may change while the program runs. */
export const pages = (inPages: InPages) => ({ pages: inPages })
