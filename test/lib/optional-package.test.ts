import t from 'tap'
import { explain } from '../../src/cli/explain.ts'
import { loadOptional, PackageMissing } from '../../src/lib/optional-package.ts'

t.test('a package that was left out is named with what needs it, and ends the start with 78', async (t) => {
  const name = '@zaakstroom/is-not-there'
  const error = await loadOptional('DOCUMENTEN_BACKEND=s3_storage', () => import(name)).catch((error) => error)
  t.type(error, PackageMissing)
  t.equal(explain(error).code, 78)
  t.match(explain(error).message, /^DOCUMENTEN_BACKEND=s3_storage needs the package @zaakstroom\/is-not-there/)
})

t.test('another fault of loading stays what it is', async (t) => {
  await t.rejects(
    loadOptional('tracing', () => Promise.reject(new Error('broken'))),
    /^broken$/,
  )
})
