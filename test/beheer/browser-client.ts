// A browser without a browser: it keeps cookies and sends the forms of pages, through `inject`. For what is about requests
// and not about what one sees.
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'

/** What a form sends; as pairs where a name comes more than once. */
type Form = Record<string, string> | [name: string, value: string][]

export type PagesClient = {
  cookies: Map<string, string>
  get(url: string): Promise<LightMyRequestResponse>
  /** Sends a form with the token of the page where it stands (`van`, or else the address itself). */
  post(url: string, form?: Form, from?: string): Promise<LightMyRequestResponse>
  login(username: string, password: string): Promise<LightMyRequestResponse>
  /** Shows again who one is, as what changes how somebody signs in asks for. */
  confirm(password: string): Promise<LightMyRequestResponse>
}

/**
 * @param options.origin our address as this browser knows it
 * @param options.forwardedFor what a proxy at `remoteAddress` says of the browser's own address
 */
export function pagesClient(
  app: FastifyInstance,
  {
    origin = 'http://localhost',
    remoteAddress = '127.0.0.1',
    forwardedFor = '',
    cookies = new Map<string, string>(),
  } = {},
): PagesClient {
  const { host } = new URL(origin)
  const send = async (method: 'GET' | 'POST', url: string, form?: Form) => {
    const answer = await app.inject({
      method,
      url: url.replace(origin, ''),
      remoteAddress,
      headers: {
        host,
        origin,
        'user-agent': 'klant',
        cookie: [...cookies].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('; '),
        ...(forwardedFor && { 'x-forwarded-for': forwardedFor }),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form && { payload: new URLSearchParams(form).toString() }),
    })
    for (const { name, value, expires, maxAge } of answer.cookies) {
      if (value === '' || maxAge === 0 || (expires && expires.getTime() < Date.now())) cookies.delete(name)
      else cookies.set(name, value)
    }
    return answer
  }
  const self: PagesClient = {
    cookies,
    get: (url) => send('GET', url),
    post: async (url, form = {}, from = url) => {
      const { body } = await send('GET', from)
      const [, _csrf = ''] = /name="_csrf" value="([^"]+)"/.exec(body) ?? []
      return send('POST', url, Array.isArray(form) ? [['_csrf', _csrf], ...form] : { _csrf, ...form })
    },
    confirm: (wachtwoord) => self.post('/beheer/bevestigen', { wachtwoord }),
    login: (gebruikersnaam, wachtwoord) => self.post('/beheer/inloggen', { gebruikersnaam, wachtwoord }),
  }
  return self
}
