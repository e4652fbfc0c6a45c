// What an example zaaktype is: bodies of the API without addresses, related by name.
type Named = { omschrijving: string }

export type Example = {
  key: string
  title: string
  /** Who would begin with it, for the page where it is chosen. */
  summary: string
  documenttypen: (Named & { informatieobjectcategorie: string; vertrouwelijkheidaanduiding: string })[]
  besluittypen: (Named & {
    besluitcategorie: string
    reactietermijn: string
    publicatieIndicatie: boolean
    publicatietekst?: string
    informatieobjecttypen: string[]
  })[]
  /** In the order in which they are made: those that others refer to come first. */
  zaaktypen: ExampleZaaktype[]
}

export type ExampleZaaktype = {
  /** Members of the API that need nothing else. */
  zaaktype: Record<string, unknown> & { identificatie: string; omschrijving: string }
  /** Procestype of the national selectielijst of 2020: the last part of its address. */
  procestype: string
  besluittypen: string[]
  /** Identificaties of zaaktypen that may follow. */
  vervolg: string[]
  statustypen: (Named & { informeren?: boolean; statustekst?: string; doorlooptijd?: string })[]
  roltypen: (Named & { omschrijvingGeneriek: string })[]
  eigenschappen: { naam: string; definitie: string; specificatie: Record<string, unknown>; status?: string }[]
  documenten: { naam: string; richting: 'inkomend' | 'intern' | 'uitgaand'; status?: string }[]
  resultaattypen: (Named & {
    /** Generic name in the selectielijst. */
    generiek: keyof typeof GENERIC
    /** Last part of the address of the klasse, where it is known. */
    klasse?: string
    archiefnominatie: 'vernietigen' | 'blijvend_bewaren'
    archiefactietermijn: string | null
  })[]
}

/** Where the national selectielijst is served. */
export const ROOT = 'https://selectielijst.openzaak.nl/api/v1/'
/** Generic outcomes: the last part of their addresses there. */
export const GENERIC = {
  Afgebroken: 'ce8cf476-0b59-496f-8eee-957a7c6e2506',
  Afgewezen: 'e6a0c939-3404-45b0-88e3-76c94fb80ea7',
  Gegrond: '3a0a9c3c-0847-4e7e-b7d9-765b9434094c',
  Geweigerd: '1f750958-431c-4916-bc01-af5d3a753b41',
  Ingetrokken: 'a6a0bd73-262a-401a-b629-9c4a908c69b5',
  Toegekend: 'fb65d251-1518-4185-865f-b8bdcfad07b1',
  Vastgesteld: '43ac0469-e0c0-4985-a6ce-8ec285d2df47',
  Verleend: 'f7d2dc14-1b71-4179-aed3-4e7abcfbeb0d',
} as const

/** What nearly every zaaktype of a municipality has. */
export const USUAL = {
  vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
  indicatieInternOfExtern: 'extern',
  handelingInitiator: 'aanvragen',
  handelingBehandelaar: 'behandelen',
  opschortingEnAanhoudingMogelijk: true,
  verlengingMogelijk: false,
  publicatieIndicatie: false,
  productenOfDiensten: [],
}
/** The specificatie of an eigenschap that holds one text. @param lengte in characters, at most */
export const tekst = (lengte: number, more: object = {}) => ({
  formaat: 'tekst',
  lengte: String(lengte),
  kardinaliteit: '1',
  ...more,
})
