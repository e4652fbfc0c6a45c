// What requests about cases may do.
import Type from 'typebox'
import { pages } from '../in-pages.ts'

/** Numbers of cases: with the year of their startdatum, going on or beginning anew each year; with that of today; or as UWV makes them. */
const NUMMERINGEN = [
  'use-start-datum-year',
  'use-number-per-year',
  'use-creation-year',
  'use-uwv-identification',
] as const

export const ZAKEN = {
  zaakIdentificatieGenerator: Type.Enum(NUMMERINGEN, {
    env: 'ZAAK_IDENTIFICATIE_GENERATOR',
    default: 'use-start-datum-year',
    description:
      'how numbers of cases are made: use-start-datum-year, use-number-per-year (each year begins at 1), use-creation-year or use-uwv-identification',
    ...pages({
      group: 'Zaken',
      label: 'Nummers van nieuwe zaken',
      help: 'Hoe een zaak zijn nummer krijgt als de aanvrager er geen meegeeft. Bestaande nummers blijven.',
      choices: {
        'use-start-datum-year': 'ZAAK-, het jaar van de startdatum en een volgnummer',
        'use-number-per-year': 'ZAAK-, het jaar van de startdatum en een volgnummer dat elk jaar bij 1 begint',
        'use-creation-year': 'ZAAK-, het jaar van vandaag en een volgnummer',
        'use-uwv-identification': 'zoals bij UWV',
      },
    }),
  }),
  zaakEigenschapWaardeValidation: Type.Boolean({
    env: 'ZAAK_EIGENSCHAP_WAARDE_VALIDATION',
    default: false,
    description: 'true: the value of a zaakeigenschap has to fit the specificatie of its eigenschap',
    ...pages({
      group: 'Zaken',
      label: 'Waarden van eigenschappen controleren',
      help: 'De waarde van een eigenschap moet passen bij de specificatie in het zaaktype, anders wordt hij geweigerd.',
    }),
  }),
  typeRequirements: Type.Enum(['warn', 'refuse'] as const, {
    env: 'TYPE_REQUIREMENTS',
    default: 'warn',
    description:
      'what becomes of a status, resultaat or closing before which the type asks an eigenschap, a document or the end of the procesobject that the case does not have: warn (X-Warning) or refuse (400, but by zaken.geforceerd-bijwerken)',
    ...pages({
      group: 'Zaken',
      label: 'Wat een zaaktype vraagt voor een status of resultaat',
      help: 'Eigenschappen en documenten die een zaaktype noemt bij een statustype of resultaattype, en de einddatum die bij het afsluiten bekend moet zijn.',
      choices: {
        warn: 'wat ontbreekt staat als waarschuwing in het antwoord (X-Warning)',
        refuse: 'wat ontbreekt wordt geweigerd, behalve met geforceerd bijwerken',
      },
    }),
  }),
  rolNnpIdTakesKvk: Type.Boolean({
    env: 'ROL_NNP_ID_TAKES_KVK',
    default: false,
    description: 'true: innNnpId of a rol may be a KVK number (eight digits) beside an RSIN, as forms send it',
    ...pages({
      group: 'Zaken',
      label: 'KVK-nummer als innNnpId van een rol',
      help: 'Formulieren sturen soms een KVK-nummer van acht cijfers waar het RSIN van een niet-natuurlijk persoon hoort. Aan: het wordt bewaard zoals het komt. Uit: het wordt geweigerd.',
    }),
  }),
  notesOfClosedZaken: Type.Boolean({
    env: 'NOTES_OF_CLOSED_ZAKEN',
    default: false,
    description:
      'true: zaaknotities, substatussen, contactmomenten and verzoeken of a closed case ask for no zaken.geforceerd-bijwerken, as in Open Zaak',
    ...pages({
      group: 'Zaken',
      label: 'Notities en contacten bij afgesloten zaken',
      help: 'Notities, substatussen, contactmomenten en verzoeken bij een zaak die is afgesloten. Uit: dat vraagt het recht geforceerd bijwerken. Aan: bijwerken is genoeg, zoals in Open Zaak. Bij een gearchiveerde zaak kan het nooit.',
    }),
  }),
  relateWithoutRights: Type.Boolean({
    env: 'RELATE_WITHOUT_RIGHTS',
    default: false,
    description:
      'true: a case may name a hoofdzaak or gerelateerde zaak on which the client has no right, or that is closed, as in Open Zaak; that case changes with it',
    ...pages({
      group: 'Zaken',
      label: 'Zaken verbinden zonder rechten op de andere zaak',
      help: 'Een hoofdzaak of gerelateerde zaak wijzigt mee als een andere zaak haar noemt. Uit: dat vraagt rechten op beide zaken. Aan: alleen op de zaak die haar noemt, zoals in Open Zaak.',
    }),
  }),
  changeArchivedZaken: Type.Boolean({
    env: 'CHANGE_ARCHIVED_ZAKEN',
    default: false,
    description:
      'true: what hangs on an archived case may be changed and deleted with zaken.geforceerd-bijwerken, where Open Zaak lets deletes, notes, contacts and besluiten through',
    ...pages({
      group: 'Zaken',
      label: 'Gearchiveerde zaken wijzigen',
      help: 'Wat bij een gearchiveerde zaak hoort: documenten, besluiten, resultaat, notities. Uit: het blijft zoals het is, voor iedereen. Aan: het wijzigt met het recht geforceerd bijwerken.',
    }),
  }),
  versionsShareDay: Type.Boolean({
    env: 'VERSIONS_SHARE_DAY',
    default: false,
    description:
      'true: a published version of a type may begin on the day on which the one before it ends, by the API, as in Open Zaak; the newer one counts on that day',
    ...pages({
      group: 'Zaken',
      label: 'Versies van typen die een dag delen',
      help: 'Een versie die begint op de dag waarop de vorige eindigt. Uit: de API weigert dat (ztc-016). Aan: het mag, zoals in Open Zaak, en op die dag geldt de nieuwe.',
    }),
  }),
  allowUnpublishedTypes: Type.Boolean({
    env: 'ALLOW_UNPUBLISHED_TYPES',
    default: false,
    description:
      'true: zaken, documenten and besluiten may be made of types that are still a concept; for test environments',
    ...pages({
      group: 'Zaken',
      label: 'Concepttypen toestaan',
      help: 'Zaken, documenten en besluiten mogen worden gemaakt van typen die nog een concept zijn. Alleen voor een testomgeving.',
    }),
  }),
  corsOrigins: Type.Optional(
    Type.String({
      env: 'CORS_ALLOWED_ORIGINS',
      minLength: 1,
      description: 'origins whose scripts may call the APIs from a browser, with commas, or *; unset: none',
      ...pages({
        group: 'Toegang tot de API’s',
        label: 'Websites waarvan scripts de API’s mogen aanroepen (CORS)',
        help: 'Adressen zoals https://formulieren.example.nl, met komma’s ertussen, of * voor alle. Leeg: geen.',
        must: 'adressen als https://example.nl, met komma’s ertussen, of *',
      }),
    }),
  ),
}
