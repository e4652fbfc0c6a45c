import type { Line } from './line.ts'

let counter = 0

export const autorisaties: Line[] = [
  {
    resource: 'applicatie',
    path: '/autorisaties/api/v1/applicaties',
    given: async () => ({
      clientIds: [`conform-${++counter}`],
      label: 'Portaal',
      autorisaties: [{ component: 'ztc', scopes: ['catalogi.lezen'] }],
    }),
    rights: () => [{ component: 'ac', scopes: ['autorisaties.lezen', 'autorisaties.bijwerken'] }],
    list: ['GET', 'POST'],
    one: ['GET', 'PUT', 'PATCH', 'DELETE'],
    kanaal: 'autorisaties',
  },
]
