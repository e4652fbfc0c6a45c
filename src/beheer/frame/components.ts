// components: which pages belong to a component that may be switched off (`src/config/settings/components.ts`).
import type { FastifyRequest } from 'fastify'
import { notFound } from '../../core/problem.ts'
import { t } from '../language/language.ts'

const PAGES = [
  ['/zaken', 'zakenApi'],
  ['/betrokkenen', 'zakenApi'],
  ['/besluiten', 'besluitenApi'],
  ['/documenten', 'documentenApi'],
  ['/imports', 'documentenApi'],
  ['/catalogi', 'catalogiApi'],
] as const

/** Whether the component of a page is on. @param path counts from /beheer */
export function isOn({ server }: FastifyRequest, path: string): boolean {
  const component = PAGES.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))?.[1]
  return component === undefined || server.parts.config[component]
}

/** @throws Problem 404 for a page of a component that is off */
export async function requireComponent(request: FastifyRequest): Promise<void> {
  const path = (request.routeOptions.url ?? '').replace(/^\/beheer/, '')
  if (!isOn(request, path))
    throw notFound(t('Dit onderdeel staat uit. Een administrator zet het aan bij Configuratie, onder Onderdelen.'))
}
