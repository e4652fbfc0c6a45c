// The settings of the program: each stands here, and only here, with its name in the environment, its bounds, its default and
// what the help and docs/settings.md say of it. The type `Config` follows from this schema. Besides what JSON Schema knows a
// setting may have:
//
//   env       its name in the environment
//   must      what a value has to do, in the words of a fault: a pattern is no message to an operator
//   kind      what a text has to be beyond that: kinds.ts judges it, at the start
//   needs     others of which one has to be set, or on: without them it does nothing, which is told (ignored.ts)
//   roles     the processes that read it, where others do nothing with it: told by those (ignored.ts)
//   secret    it may stand in a file instead, whose path is in NAME_FILE, as containers are given their secrets
//   alsoRead  another name that is in use for it
//   pages     it may be changed in the pages while the program runs, and how they name it. What has no `pages` is read once, at
//             the start: it is needed before the database is there, or belongs to one process
//
// They stand in settings/, by what they are about. Settings that belong together are an object; ../config.ts makes of it what
// the program uses.
import Type from 'typebox'
import { ACCESS } from './settings/access.ts'
import { ALERTS } from './settings/alerts.ts'
import { BACKGROUND } from './settings/background.ts'
import { COMPONENTS } from './settings/components.ts'
import { DOCUMENTEN } from './settings/documenten.ts'
import { OPERATION } from './settings/operation.ts'
import { SERVICE } from './settings/service.ts'
import { ZAKEN } from './settings/zaken.ts'

export const Settings = Type.Object({
  ...SERVICE,
  ...ACCESS,
  ...DOCUMENTEN,
  ...ZAKEN,
  ...BACKGROUND,
  ...ALERTS,
  ...OPERATION,
  ...COMPONENTS,
})

/** What the settings from one on are about, by the name that each has in the schema. */
export const HEADINGS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    'Service and database': SERVICE,
    Access: ACCESS,
    Documents: DOCUMENTEN,
    Cases: ZAKEN,
    'Notifications, feed and jobs': BACKGROUND,
    Alerts: ALERTS,
    Operation: OPERATION,
    'APIs on and off': COMPONENTS,
  }).map(([heading, settings]) => [Object.keys(settings)[0] ?? '', heading]),
)
