// Which APIs answer. An installation that keeps its types, or its besluiten, elsewhere switches that component off.
import Type from 'typebox'
import { pages } from '../in-pages.ts'

const api = (env: string, name: string, help: string) =>
  Type.Boolean({
    env,
    default: true,
    description: `false: the ${name} API answers 404 \`api-disabled\` everywhere, and its pages and jobs rest; what is stored stays`,
    ...pages({ group: 'Onderdelen', label: `${name} API`, help }),
  })

export const COMPONENTS = {
  zakenApi: api(
    'ZAKEN_API_ENABLED',
    'Zaken',
    'Nee: de API antwoordt overal 404 met code api-disabled, en de pagina’s over zaken verdwijnen. Wat er is, blijft bewaard.',
  ),
  documentenApi: api(
    'DOCUMENTEN_API_ENABLED',
    'Documenten',
    'Nee: de API antwoordt 404 met code api-disabled, de pagina’s over documenten en imports verdwijnen, en een lopende import wacht.',
  ),
  catalogiApi: api(
    'CATALOGI_API_ENABLED',
    'Catalogi',
    'Nee: de API antwoordt 404 met code api-disabled en de pagina’s over typen verdwijnen. Zaken en documenten gebruiken de typen die er zijn nog wel.',
  ),
  besluitenApi: api(
    'BESLUITEN_API_ENABLED',
    'Besluiten',
    'Nee: de API antwoordt 404 met code api-disabled. Wat er is, blijft bewaard.',
  ),
  autorisatiesApi: api(
    'AUTORISATIES_API_ENABLED',
    'Autorisaties',
    'Nee: de API antwoordt 404 met code api-disabled. Applicaties en hun rechten gelden nog steeds, en blijven hier te wijzigen.',
  ),
}
