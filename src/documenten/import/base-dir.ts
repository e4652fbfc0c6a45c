import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { type Config, ConfigError } from '../../config.ts'
import type { FieldCode } from '../../core/codes.ts'
import { checkBaseDir } from './bestandspad.ts'

const APPLICATION = fileURLToPath(new URL('../../..', import.meta.url))

/** What is wrong with IMPORT_DOCUMENTEN_BASE_DIR, as the code and reason of a refused upload; undefined: nothing. */
export function importBaseDirFault(config: Config): { code: FieldCode; reden: string } | undefined {
  const code = checkBaseDir(config.importBaseDir, [
    { name: 'application', dir: APPLICATION },
    { name: 'data', dir: config.dataDir },
    { name: 'database', dir: join(config.dataDir, 'postgres'), below: true },
    { name: 'storage', dir: config.documentenDir, below: true },
  ])
  return code && { code, reden: REASONS[code] }
}

/**
 * At start-up: a directory that would give away files of the service itself stops the program. One that is not there may
 * still be mounted; until then uploads are refused.
 */
export function requireImportBaseDir(config: Config, log: Logger, level: 'warn' | 'debug' = 'warn'): void {
  const fault = importBaseDirFault(config)
  if (fault?.code === 'import-dir-forbidden')
    throw new ConfigError(['IMPORT_DOCUMENTEN_BASE_DIR is, contains or lies in a directory of the service itself'])
  if (fault)
    log[level](
      { setting: 'IMPORT_DOCUMENTEN_BASE_DIR', fault: fault.code },
      'documents cannot be imported: no directory',
    )
}

const REASONS = {
  'import-dir-not-found': 'De importmap bestaat niet: zie IMPORT_DOCUMENTEN_BASE_DIR.',
  'import-dir-not-dir': 'De importmap is geen map: zie IMPORT_DOCUMENTEN_BASE_DIR.',
  'import-dir-forbidden': 'De importmap valt samen met een map van de dienst zelf: zie IMPORT_DOCUMENTEN_BASE_DIR.',
}
