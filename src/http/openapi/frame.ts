// What the pages for client developers share, those at /docs and /ref/fouten: frame and style, without a script.
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Nothing but our own style may be loaded. */
export const CSP =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export type Page = { plain: Buffer; gzip: Buffer; hash: string }

export function toPage(text: string): Page {
  const plain = Buffer.from(text)
  return { plain, gzip: gzipSync(plain), hash: createHash('sha256').update(plain).digest('hex').slice(0, 8) }
}

/** Compressed for who takes it. */
export function send(request: FastifyRequest, reply: FastifyReply, { plain, gzip }: Page): FastifyReply {
  const zipped = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  if (zipped) reply.header('content-encoding', 'gzip')
  const vary = [reply.getHeader('vary'), 'accept-encoding'].filter(Boolean).join(', ') // beside that of CORS
  return reply.header('vary', vary).send(zipped ? gzip : plain)
}

/** What is shown, as HTML. */
export const text = (value: unknown) =>
  String(value ?? '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
/** Our descriptions have names between backquotes. */
export const prose = (value: unknown) => text(value).replace(/`([^`]+)`/g, '<code>$1</code>')

/**
 * A whole page.
 * @param up from the page to the folder /docs/, which has the style
 * @param home where the link in the head leads, and what it says
 */
export function frame(
  title: string,
  up: string,
  body: string,
  [home, name]: [string, string] = [up || './', "API's"],
): string {
  return `<!doctype html>
<html lang="nl">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(title)} | Zaakstroom</title>
<link rel="stylesheet" href="${up}${STYLE_NAME}">
<link rel="icon" href="data:,">
</head>
<body>
<a class="overslaan" href="#inhoud">Naar de inhoud</a>
<header><a href="${home}">Zaakstroom: ${name}</a></header>
<main id="inhoud" tabindex="-1">
<h1>${text(title)}</h1>
${body}
</main>
</body>
</html>
`
}

const STYLE = `:root{color-scheme:light dark;--tekst:#1a2433;--vlak:#fff;--lijn:#c9d0da;--zacht:#4a5768;--link:#1a4b9c;--kop:#14284b}
@media (prefers-color-scheme:dark){:root{--tekst:#e6ebf2;--vlak:#10182a;--lijn:#47536a;--zacht:#b3bfd0;--link:#9cc0ff}}
*{box-sizing:border-box}
body{margin:0;font:1rem/1.5 system-ui,sans-serif;color:var(--tekst);background:var(--vlak)}
header{background:var(--kop);padding:.9rem 1.5rem}header a{color:#fff;font-weight:700;text-decoration:none}
main{max-width:70rem;padding:1rem 1.5rem 4rem}main:focus{outline:0}
a{color:var(--link)}:focus-visible{outline:3px solid #d97706;outline-offset:2px}
.overslaan{position:absolute;left:-99rem}.overslaan:focus{left:1rem;top:.5rem;background:#fff;color:#14284b;padding:.4rem .8rem}
h1,h2{line-height:1.25}h2{margin-top:2rem}
.tabel{overflow-x:auto;margin:.75rem 0}table{border-collapse:collapse;width:100%}caption{text-align:left;font-weight:700;padding:.3rem 0}
th,td{text-align:left;vertical-align:top;padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--lijn)}tbody th{font-weight:400}
pre{overflow-x:auto;border:1px solid var(--lijn);border-radius:4px;padding:.5rem .75rem;margin:.4rem 0}
details{border:1px solid var(--lijn);border-radius:4px;margin:.4rem 0;padding:0 .75rem}
summary{padding:.6rem 0;cursor:pointer;overflow-wrap:anywhere}code{overflow-wrap:anywhere}
.methode{display:inline-block;min-width:4.5rem;font-weight:700}.zacht{color:var(--zacht)}
.inhoud{columns:16rem;padding-left:1.2rem}`

export const STYLE_PAGE = toPage(STYLE)
/** In the folder /docs/. */
export const STYLE_NAME = `stijl-${STYLE_PAGE.hash}.css`
