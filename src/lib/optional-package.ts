/** A package that only some settings need, and that was left out of this installation (`npm ci --omit=optional`). */
export class PackageMissing extends Error {}

/**
 * Loads packages that an installation may lack.
 * @param need what needs them, in words of the settings
 * @throws PackageMissing with what to install
 */
export async function loadOptional<T>(need: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const name = /Cannot find package '([^']+)'/.exec((error as Error).message)?.[1]
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND' || name === undefined) throw error
    throw new PackageMissing(`${need} needs the package ${name}, which is not installed: npm install --no-save ${name}`)
  }
}
