// Endpoints that do several things at once: every scope that one of these things asks for is taken away in turn, from all rights (the
// gate of the route) and from the rights on the types of the case only. Each scope that is enough by itself is tried as well.
import t from 'tap'
import {
  givenBesluittype,
  givenCatalogus,
  givenClient,
  givenInformatieobjecttype,
  givenZaaktype,
  testApp,
  uuidOf,
} from './app.ts'
import { CRS, givenResultaattype, zaakBody } from './zaken/given.ts'

const drc = (...names: string[]) => names.map((name) => `drc:documenten.${name}`).join('|')
const zrc = (...names: string[]) => names.map((name) => `zrc:zaken.${name}`).join('|')
const brc = (...names: string[]) => names.map((name) => `brc:besluiten.${name}`).join('|')

const ALL = [
  ...['lezen', 'aanmaken', 'bijwerken', 'geforceerd-bijwerken', 'verwijderen', 'heropenen', 'statussen.toevoegen'].map(
    (name) => `zrc:zaken.${name}`,
  ),
  ...['lezen', 'aanmaken', 'bijwerken', 'geforceerd-bijwerken', 'verwijderen', 'lock', 'geforceerd-unlock'].map(
    (name) => `drc:documenten.${name}`,
  ),
  ...['lezen', 'aanmaken', 'bijwerken', 'verwijderen'].map((name) => `brc:besluiten.${name}`),
]

/** What hangs on rights: `gate` is asked before anything is looked at, `object` when the case and its state are known. */
type Together = {
  path: string
  gate: string[]
  state: 'none' | 'open' | 'with a status' | 'closed'
  object: string[]
  body(zaak: string): object
}

t.test('an endpoint that does several things asks for each scope of each of them', async (t) => {
  const wrong: string[] = []
  let cases = 0
  const same = (what: string, found: unknown, expected: unknown) => {
    cases++
    if (JSON.stringify(found) !== JSON.stringify(expected)) wrong.push(`${what}: ${JSON.stringify(found)}`)
  }
  const test = await testApp(t)
  const catalogus = await givenCatalogus(test)
  const informatieobjecttype = await givenInformatieobjecttype(test, { catalogus })
  const besluittype = await givenBesluittype(test, { catalogus })
  const zaaktype = await givenZaaktype(test, {
    catalogus,
    identificatie: 'SAMEN',
    besluittypen: [besluittype],
    informatieobjecttypen: [informatieobjecttype],
    statustypen: ['Begin', 'Eind'],
  })
  const own: Record<string, string> = { zrc: zaaktype, drc: informatieobjecttype, brc: besluittype }
  const other: Record<string, string> = {
    zrc: await givenZaaktype(test, { catalogus, identificatie: 'ANDERS' }),
    drc: await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Anders' }),
    brc: await givenBesluittype(test, { catalogus, omschrijving: 'Anders' }),
  }
  const { statustypen } = (await test.call('GET', zaaktype)).body
  const read = await Promise.all(statustypen.map(async (url: string) => (await test.call('GET', url)).body))
  const [begin, eind] = [false, true].map((is) => read.find(({ isEindstatus }) => isEindstatus === is).url)
  const resultaattype = await givenResultaattype(test, zaaktype, { afleidingswijze: 'afgehandeld' })
  let second = 0
  const status = (statustype: string) => ({
    statustype,
    datumStatusGezet: new Date(Date.UTC(2026, 2, 3) + 1000 * second++).toISOString(),
  })
  const document = {
    informatieobjecttype,
    bronorganisatie: '000000000',
    creatiedatum: '2026-03-01',
    titel: 't',
    auteur: 'a',
    taal: 'nld',
    inhoud: 'eA==',
  }

  const aanmaken = zrc('aanmaken')
  const bijwerken = zrc('bijwerken', 'geforceerd-bijwerken')
  const zetten = zrc('aanmaken', 'statussen.toevoegen', 'heropenen')
  const more = zrc('statussen.toevoegen', 'heropenen')
  const changes: [string, (zaak: string) => object][] = [
    ['zaak_opschorten', () => ({ zaak: { opschorting: { indicatie: true, reden: 'r' } }, status: status(begin) })],
    ['zaak_verlengen', () => ({ zaak: { verlenging: { reden: 'r', duur: 'P5D' } }, status: status(begin) })],
    ['zaak_bijwerken', () => ({ zaak: { omschrijving: 'o' }, rollen: [], status: status(begin) })],
    ['zaak_afsluiten', () => ({ zaak: {}, resultaat: { resultaattype }, status: status(eind) })],
  ]
  const register = (zaak: string) => ({ enkelvoudiginformatieobject: document, zaakinformatieobject: { zaak } })
  const process = (zaak: string) => ({
    besluit: {
      besluittype,
      verantwoordelijkeOrganisatie: '517439943',
      datum: '2026-03-02',
      ingangsdatum: '2026-03-03',
      ...(zaak && { zaak }),
    },
    besluitinformatieobjecten: [],
  })
  const koppelen = zrc('aanmaken', 'bijwerken', 'geforceerd-bijwerken')
  const TOGETHER: Together[] = [
    {
      path: '/zaken/api/v1/zaak_registreren',
      gate: [aanmaken, bijwerken],
      state: 'none',
      object: [],
      body: () => ({ zaak: zaakBody(zaaktype), rollen: [], status: status(begin) }),
    },
    ...changes.flatMap(([name, body]) => {
      const common = { path: `/zaken/api/v1/${name}`, gate: [bijwerken, zetten], body }
      return [
        { ...common, state: 'open' as const, object: [] },
        { ...common, state: 'with a status' as const, object: [more] },
        // A closed case has its resultaat already, so it is not closed with one again.
        ...(name === 'zaak_afsluiten'
          ? []
          : [{ ...common, state: 'closed' as const, object: [zrc('geforceerd-bijwerken'), zrc('heropenen')] }]),
      ]
    }),
    ...(['open', 'closed'] as const).map((state) => ({
      path: '/documenten/api/v1/document_registreren',
      gate: [drc('aanmaken'), koppelen],
      state,
      object: state === 'closed' ? [zrc('geforceerd-bijwerken')] : [],
      body: register,
    })),
    ...(['none', 'open', 'closed'] as const).map((state) => ({
      path: '/besluiten/api/v1/besluit_verwerken',
      gate: [brc('aanmaken')],
      state,
      object: state === 'closed' ? [zrc('geforceerd-bijwerken')] : [],
      body: process,
    })),
  ]

  const clients = new Map<string, Promise<string>>()
  /** A client with these scopes on the types of the case, and those on other types. */
  const client = (scopes: string[], elsewhere: string[] = []): Promise<string> => {
    const key = JSON.stringify([scopes, elsewhere])
    const made = clients.get(key)
    if (made) return made
    const rights = ([own, other] as const).flatMap((types, at) =>
      Object.entries(types).map(([component, typeUrl]) => ({
        component,
        scopes: (at === 0 ? scopes : elsewhere)
          .filter((scope) => scope.startsWith(`${component}:`))
          .map((scope) => scope.slice(component.length + 1)),
        typeUrl,
        typeUuid: uuidOf(typeUrl),
        ...(component !== 'brc' && { max: 'zeer_geheim' }),
      })),
    )
    const given = rights.filter(({ scopes }) => scopes.length > 0)
    const id = givenClient(test, `samen-${clients.size}`, given)
    clients.set(key, id)
    return id
  }
  const givenZaakIn = async (state: Together['state']): Promise<string> => {
    if (state === 'none') return ''
    const { url } = (await test.call('POST', '/zaken/api/v1/zaken', zaakBody(zaaktype), CRS)).body
    if (state === 'with a status') await test.call('POST', '/zaken/api/v1/statussen', { zaak: url, ...status(begin) })
    if (state === 'closed') {
      await test.call('POST', '/zaken/api/v1/resultaten', { zaak: url, resultaattype })
      await test.call('POST', '/zaken/api/v1/statussen', { zaak: url, ...status(eind) })
    }
    return url
  }
  const objects = async () =>
    await test.database.sql`
      select (select count(*) from zaak) as zaken, (select count(*) from status) as statussen,
        (select count(*) from zaak where omschrijving <> '' or opschorting_indicatie) as gewijzigd,
        (select count(*) from enkelvoudiginformatieobject) as documenten, (select count(*) from besluit) as besluiten`
  const without = (scopes: string) => ALL.filter((scope) => !scopes.split('|').includes(scope))

  for (const { path, gate, state, object, body } of TOGETHER) {
    const zaak = await givenZaakIn(state)
    const byCase = /\/zaak_(?!registreren)/.test(path)
    const send = async (as: string, to: string, values: object) =>
      test.call('POST', byCase ? `${path}/${uuidOf(to)}` : path, values, { as, ...CRS })
    const name = `${path} of a case: ${state}`
    const before = await objects()
    for (const group of gate) {
      const nowhere = 'https://example.com/00000000-0000-4000-8000-000000000000'
      const refused = await send(await client(without(group)), nowhere, {})
      same(`${name}: the gate asks for ${group}`, refused.status, 403)
    }
    for (const group of [...gate, ...object]) {
      const refused = await send(await client(without(group), ALL), zaak, body(zaak))
      same(`${name}: ${group} on another type ${refused.text}`, refused.status, 403)
    }
    same(`${name}: what is refused changes nothing`, await objects(), before)
    // One scope of each group is enough, whichever it is.
    const groups = [...gate, ...object]
    for (const [index, group] of groups.entries())
      for (const scope of group.split('|')) {
        const held = [...new Set([scope, ...groups.filter((_, at) => at !== index).map((g) => g.split('|').at(-1)!)])]
        const fits = groups.every((g) => g.split('|').some((one) => held.includes(one)))
        const on = await givenZaakIn(state)
        const answer = await send(await client(held), on, body(on))
        same(`${name} with ${held} ${answer.text}`, answer.status < 300, fits)
      }
  }
  t.strictSame(wrong, [])
  t.ok(cases > 100, `${cases} cases`)
})
