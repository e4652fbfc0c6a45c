// Stylesheets: the stylesheets and the script of the pages, put together once at the start and served from memory under names that
// change with their content. Nothing comes from elsewhere.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { notFound } from '../../core/problem.ts'

const COMPONENTS = [
  '@utrecht/component-library-css/dist/html.css',
  '@nl-design-system-candidate/skip-link-css/skip-link.css',
  '@nl-design-system-candidate/data-badge-css/data-badge.css',
]
const THEME = '@nl-design-system-unstable/voorbeeld-design-tokens/dist/theme.css'
const THEME_CLASS = 'voorbeeld-theme'
/** The highest, 11, is the default: it holds up every start by a tenth of a second to save one kilobyte. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }

type File = { name: string; type: string; plain: Buffer; gzip: Buffer; br: Buffer }
export type Style = {
  /** Names to put behind `/beheer/bestanden/`, in the order in which a page needs them. */
  css: string[]
  js: string
  passkey: string
  /** Classes on the root element under which the design tokens count. */
  themeClass: string
}

/**
 * Puts the files together and serves them.
 * @param theme a stylesheet of the municipality with NL Design System tokens, and the class that they stand under
 */
export async function registerStylesheet(
  app: FastifyInstance,
  theme: { css?: string; className?: string },
): Promise<Style> {
  ourFiles ??= makeOurFiles()
  const { css, js, passkey } = await ourFiles
  const files = [
    css,
    js,
    passkey,
    ...(theme.css ? [await toFile('thema', 'css', await readFile(theme.css, 'utf8'))] : []),
  ]
  const byName = new Map(files.map((file) => [file.name, file]))
  app.get<{ Params: { naam: string } }>(
    '/bestanden/:naam',
    { config: { access: 'beheer', rol: 'iedereen' }, logLevel: 'warn' },
    async (request, reply) => {
      const file = byName.get(request.params.naam)
      if (!file) throw notFound()
      const accepted = String(request.headers['accept-encoding'] ?? '')
      const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : undefined
      if (encoding) reply.header('content-encoding', encoding)
      return reply
        .headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' })
        .type(file.type)
        .send(file[encoding ?? 'plain'])
    },
  )
  return {
    css: files.filter(({ name }) => name.endsWith('.css')).map(({ name }) => name),
    js: js.name,
    passkey: passkey.name,
    themeClass: [THEME_CLASS, theme.className].filter(Boolean).join(' '), // its tokens over ours, which may be more
  }
}

/** The same for all applications of this process: the tests make hundreds. */
let ourFiles: Promise<OurFiles> | undefined
type OurFiles = { css: File; js: File; passkey: File }

async function makeOurFiles(): Promise<OurFiles> {
  const own = await readFile(new URL('../assets/beheer.css', import.meta.url), 'utf8')
  const script = await readFile(new URL('../assets/beheer.js', import.meta.url), 'utf8')
  const components = (await Promise.all(COMPONENTS.map(readPackageFile))).map(withoutSourceMap).join('\n')
  const tokens = onlyUsed(await readPackageFile(THEME), components + own)
  return {
    css: await toFile('beheer', 'css', `${components}\n${tokens}\n${own}`),
    js: await toFile('beheer', 'js', script),
    passkey: await toFile('passkey', 'js', await readFile(new URL('../assets/passkey.js', import.meta.url), 'utf8')),
  }
}

async function toFile(name: string, kind: 'css' | 'js', text: string): Promise<File> {
  const plain = Buffer.from(text)
  const hash = createHash('sha256').update(plain).digest('hex').slice(0, 12)
  return {
    name: `${name}-${hash}.${kind}`,
    type: kind === 'css' ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
    plain,
    gzip: await promisify(gzip)(plain),
    br: await promisify(brotliCompress)(plain, BROTLI),
  }
}

async function readPackageFile(path: string): Promise<string> {
  return readFile(fileURLToPath(import.meta.resolve(path)), 'utf8')
}

const withoutSourceMap = (css: string) =>
  css.replace(/\/\*# sourceMappingURL=.*?\*\//g, '').replace('@charset "UTF-8";', '')

/**
 * Of the tokens of a theme those that the stylesheet uses, directly or through other tokens: a tenth of them. Its typefaces are
 * left out, which we do not ship: that of the system counts, unless the theme of the municipality names one.
 */
function onlyUsed(theme: string, css: string): string {
  const tokens = new Map(
    [...theme.matchAll(/^\s*(--[\w-]+):\s*(.*?);/gm)].map(([, name = '', value = '']) => [name, value]),
  )
  const used = new Set<string>()
  const collect = (text: string) => {
    for (const [, name = ''] of text.matchAll(/var\(\s*(--[\w-]+)/g)) {
      const value = tokens.get(name)
      if (value === undefined || used.has(name) || name.endsWith('font-family')) continue
      used.add(name)
      collect(value)
    }
  }
  collect(css)
  return `.${THEME_CLASS} {\n${[...used].map((name) => `${name}: ${tokens.get(name)};`).join('\n')}\n}`
}
