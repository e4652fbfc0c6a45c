// The NL API Design Rules (https://logius-standaarden.github.io/API-Design-Rules/) as far as an OpenAPI document shows
// whether they are kept, for the linter Spectral. Every rule has the name that the design rules give it; what follows a
// colon tells parts of one rule apart. The rules of OpenAPI itself come with the linter.
import { ownPackages } from '../own-packages.ts'

const packages = await ownPackages('spectral')
const { pattern, schema, truthy } = packages('@stoplight/spectral-functions')
const { oas } = packages('@stoplight/spectral-rulesets')
const { Spectral } = packages('@stoplight/spectral-core')

/** What the linter is given and gives, as far as we use it. */
type Check = { field?: string; function: unknown; functionOptions?: object }
type RuleDefinition = { severity: 'error'; message: string; given: string; then: Check | Check[] }
type Linter = {
  setRuleset(rules: object): void
  run(
    document: Record<string, unknown>,
  ): Promise<{ code: string | number; message: string; path: (string | number)[] }[]>
}

/** A linter without rules. */
export const openLinter = (): Linter => new Spectral()

const responses = (statuses: string) => `$.paths[*][*].responses[?(@property.match(/^${statuses}$/))]`
const requires = (...names: string[]) => ({ function: schema, functionOptions: { schema: { required: names } } })
const error = 'error' as const

function rule(message: string, given: string, check: Check | Check[]): RuleDefinition {
  // biome-ignore lint/suspicious/noThenProperty: what the linter calls it
  return { severity: error, message, given, then: check }
}

export const adr: { extends: unknown; rules: Record<string, unknown> } = {
  extends: [[oas, 'off']],
  rules: {
    // core/publish-openapi: what is published is a valid document
    'oas3-schema': error,
    'operation-operationId': error,
    'operation-operationId-unique': error,
    'operation-operationId-valid-in-url': error,
    'operation-parameters': error,
    'operation-success-response': error,
    'operation-tag-defined': error,
    'openapi-tags-uniqueness': error,
    'path-params': error,
    'path-declarations-must-exist': error,
    'path-keys-no-trailing-slash': error,
    'path-not-include-query': error,
    'no-$ref-siblings': error,
    'typed-enum': error,
    'duplicated-entry-in-enum': error,
    'array-items': error,
    'oas3-server-variables': error,
    'oas3-server-trailing-slash': error,
    'oas3-api-servers': error,
    'oas3-valid-media-example': error,
    'oas3-valid-schema-example': error,
    'oas3-unused-component': error,

    'core/doc-openapi': rule('The document is written in OpenAPI 3 or later.', '$', {
      field: 'openapi',
      function: pattern,
      functionOptions: { match: '^3\\.\\d+\\.\\d+$' },
    }),
    'core/doc-openapi-contact': rule('The document says whom to ask: {{error}}.', '$.info', [
      { field: 'contact', function: truthy },
      { field: 'contact', ...requires('name', 'url', 'email') },
    ]),
    'core/semver': rule('The version of the API is a semantic version.', '$.info', {
      field: 'version',
      function: pattern,
      functionOptions: {
        match: '^(0|[1-9]\\d*)(\\.(0|[1-9]\\d*)){2}(-[\\w-]+(\\.[\\w-]+)*)?(\\+[\\w-]+(\\.[\\w-]+)*)?$',
      },
    }),
    'core/uri-version': rule('The address of the API ends in its major version, and no more of it.', '$.servers[*]', {
      field: 'url',
      function: pattern,
      functionOptions: { match: '/v\\d+$' },
    }),
    'core/transport/tls': rule('The API is reached by https.', '$.servers[*]', {
      field: 'url',
      function: pattern,
      functionOptions: { match: '^https://' },
    }),
    'core/no-trailing-slash': rule('A path does not end in a slash.', '$.paths', {
      field: '@key',
      function: pattern,
      functionOptions: { notMatch: './$' },
    }),
    'core/path-segments-kebab-case': rule(
      'What a path is made of is in kebab-case; the last part may begin with an underscore.',
      '$.paths',
      {
        field: '@key',
        function: pattern,
        functionOptions: { match: '^/?((/[a-z0-9]+(-[a-z0-9]+)*|/\\{[^}]+\\})*)(/_[a-z0-9]+(-[a-z0-9]+)*)?$' },
      },
    ),
    'core/http-methods': rule('Operations are GET, POST, PUT, PATCH and DELETE.', '$.paths[*]', {
      field: '@key',
      function: pattern,
      functionOptions: { match: '^(get|post|put|patch|delete|parameters|summary|description)$' },
    }),
    'core/query-keys-camel-case': rule(
      '{{value}} is not in camelCase.',
      "$.paths[*][*].parameters[?(@.in == 'query')]",
      { field: 'name', function: pattern, functionOptions: { match: '^[a-z][a-z0-9]*([A-Z][a-z0-9]*)*$' } },
    ),
    'core/version-header': rule('Every answer has the header API-Version.', responses('\\d{3}'), {
      field: 'headers',
      function: anyCase,
      functionOptions: { name: 'API-Version' },
    }),
    'core/error-handling/problem-details': rule('A refusal is an application/problem+json.', responses('[45]\\d\\d'), {
      field: 'content',
      ...requires('application/problem+json'),
    }),
    'core/error-handling/problem-details:members': rule(
      'A refusal has a status, a title and a detail: {{error}}.',
      `${responses('[45]\\d\\d')}.content[application/problem+json].schema`,
      { function: members, functionOptions: { names: ['status', 'title', 'detail'] } },
    ),
    'core/error-handling/invalid-input': rule(
      'An operation that takes anything can answer 400.',
      '$.paths[*][get,head,post,put,patch,delete]',
      { field: 'responses', ...requires('400') },
    ),
    'core/date-time/timezone': rule(
      'A moment has a time zone, a time of the day has none.',
      '$..[?(@ && @.type && @.format)]',
      { field: 'format', function: pattern, functionOptions: { notMatch: '^(date-time-local|time)$' } },
    ),
    'core/date-time/date-omit-time-portion': rule(
      '{{property}} is a date.',
      '$..properties[?(@property.match(/[dD]atum$/))]',
      { function: format, functionOptions: { format: 'date' } },
    ),
  },
}

/** Headers are the same in capitals or not. */
function anyCase(headers: object | undefined, { name }: { name: string }) {
  const names = Object.keys(headers ?? {}).map((one) => one.toLowerCase())
  return names.includes(name.toLowerCase()) ? [] : [{ message: `${name} is missing` }]
}

/** Properties of a schema, also those of the schemas that it is made of. */
function members(target: Schema, { names }: { names: string[] }) {
  const all = new Set<string>()
  const collect = (one: Schema) => {
    for (const name of Object.keys(one.properties ?? {})) all.add(name)
    for (const part of one.allOf ?? []) collect(part)
  }
  collect(target)
  return names.filter((name) => !all.has(name)).map((name) => ({ message: `${name} is missing` }))
}

function format(target: Schema, { format }: { format: string }) {
  return target.format === format ? [] : [{ message: `its format is ${target.format}` }]
}

type Schema = { format?: string; properties?: object; allOf?: Schema[] }
