// What a case can be about: the shape of objectIdentificatie for each objectType.
import Type, { type TObject } from 'typebox'
import { documentedAs } from '../http/documented.ts'
import { OptionalText, Text } from '../http/input.ts'
import { BETROKKENEN, NatuurlijkPersoon, NietNatuurlijkPersoon, Part } from './betrokkenen.ts'

const huisnummer = Type.Integer({ minimum: 0, maximum: 99_999 })
const adres = {
  wplWoonplaatsNaam: Text(80),
  gorOpenbareRuimteNaam: Text(80),
  aoaPostcode: OptionalText(7),
  aoaHuisnummer: huisnummer,
  aoaHuisletter: OptionalText(1),
  aoaHuisnummertoevoeging: OptionalText(4),
}
const TerreinGebouwdObject = Type.Object({
  identificatie: Text(100),
  adresAanduidingGrp: Part(
    Type.Object({
      numIdentificatie: OptionalText(100),
      oaoIdentificatie: OptionalText(100),
      aoaIdentificatie: OptionalText(100),
      ...adres,
      ogoLocatieAanduiding: OptionalText(100),
    }),
  ),
})
const WozObject = Type.Object({
  wozObjectNummer: Text(100),
  aanduidingWozObject: Part(
    Type.Object({ aoaIdentificatie: OptionalText(100), ...adres, locatieOmschrijving: OptionalText(1000) }),
  ),
})
const Onroerend = Type.Object({ kadastraleIdentificatie: Text(100), kadastraleAanduiding: Text(1000) })

/** null: an object of this kind is named by its URL only. */
export const OBJECTTYPEN: Record<string, TObject | null> = {
  adres: Type.Object({
    identificatie: OptionalText(100),
    wplWoonplaatsNaam: Text(80),
    gorOpenbareRuimteNaam: Text(80),
    huisnummer,
    huisletter: OptionalText(1),
    huisnummertoevoeging: OptionalText(4),
    postcode: OptionalText(7),
  }),
  besluit: null,
  buurt: Type.Object({
    buurtCode: Text(2),
    buurtNaam: Text(40),
    gemGemeenteCode: Text(4),
    wykWijkCode: Text(2),
  }),
  enkelvoudig_document: null,
  gemeente: Type.Object({ gemeenteNaam: Text(80), gemeenteCode: Text(4) }),
  gemeentelijke_openbare_ruimte: Type.Object({ identificatie: Text(100), openbareRuimteNaam: Text(80) }),
  huishouden: Type.Object({ nummer: Text(12), isGehuisvestIn: Part(TerreinGebouwdObject) }),
  inrichtingselement: Type.Object({
    type: Type.Enum([
      'bak',
      'bord',
      'installatie',
      'kast',
      'mast',
      'paal',
      'sensor',
      'straatmeubilair',
      'waterinrichtingselement',
      'weginrichtingselement',
    ]),
    identificatie: Text(100),
    naam: OptionalText(500),
  }),
  kadastrale_onroerende_zaak: Onroerend,
  kunstwerkdeel: Type.Object({
    type: Type.Enum([
      'keermuur',
      'overkluizing',
      'duiker',
      'faunavoorziening',
      'vispassage',
      'bodemval',
      'coupure',
      'ponton',
      'voorde',
      'hoogspanningsmast',
      'gemaal',
      'perron',
      'sluis',
      'strekdam',
      'steiger',
      'stuw',
    ]),
    identificatie: Text(100),
    naam: Text(80),
  }),
  maatschappelijke_activiteit: Type.Object({ kvkNummer: Text(8), handelsnaam: Text(200) }),
  medewerker: BETROKKENEN.medewerker,
  natuurlijk_persoon: BETROKKENEN.natuurlijk_persoon,
  niet_natuurlijk_persoon: BETROKKENEN.niet_natuurlijk_persoon,
  openbare_ruimte: Type.Object({
    identificatie: Text(100),
    wplWoonplaatsNaam: Text(80),
    gorOpenbareRuimteNaam: Text(80),
  }),
  organisatorische_eenheid: BETROKKENEN.organisatorische_eenheid,
  pand: Type.Object({ identificatie: Text(100) }),
  spoorbaandeel: Type.Object({
    type: Type.Enum(['breedspoor', 'normaalspoor', 'smalspoor', 'spoorbaan']),
    identificatie: Text(100),
    naam: OptionalText(500),
  }),
  status: null,
  terreindeel: Type.Object({ type: Text(40), identificatie: Text(100), naam: OptionalText(500) }),
  terrein_gebouwd_object: TerreinGebouwdObject,
  vestiging: BETROKKENEN.vestiging,
  waterdeel: Type.Object({
    typeWaterdeel: Type.Enum(['zee', 'waterloop', 'watervlakte', 'greppel_droge_sloot']),
    identificatie: Text(100),
    naam: OptionalText(500),
  }),
  wegdeel: Type.Object({ type: Text(100), identificatie: Text(100), naam: OptionalText(500) }),
  wijk: Type.Object({ wijkCode: Text(2), wijkNaam: Text(40), gemGemeenteCode: Text(4) }),
  woonplaats: Type.Object({ identificatie: Text(100), woonplaatsNaam: Text(80) }),
  woz_deelobject: Type.Object({ nummerWozDeelObject: Text(6), isOnderdeelVan: Part(WozObject) }),
  woz_object: WozObject,
  woz_waarde: Type.Object({ waardepeildatum: Text(9), isVoor: Part(WozObject) }),
  zakelijk_recht: Type.Object({
    identificatie: Text(100),
    avgAard: Text(1000),
    heeftBetrekkingOp: Part(Onroerend),
    heeftAlsGerechtigde: Part(
      Type.Object({ natuurlijkPersoon: Part(NatuurlijkPersoon), nietNatuurlijkPersoon: Part(NietNatuurlijkPersoon) }),
    ),
  }),
  overige: Type.Object({
    overigeData: Type.Unsafe<unknown>(documentedAs({}, { type: 'object', additionalProperties: true })),
  }),
}
export const OBJECT_TYPES = Object.keys(OBJECTTYPEN)
