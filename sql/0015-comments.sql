-- What columns mean that are called the same wherever they stand. A table says of its own columns what is said nowhere else; the rest is
-- commented here, by name. A column of a view says what the column of its table says.

do $$
declare
  bare record;
begin
  for bare in
    select c.oid::regclass as place, a.attname as name, coalesce(col_description(of_table.attrelid, of_table.attnum), word.meaning) as meaning
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join (values
      ('zaak_count', 'zaak'), ('besluit_count', 'besluit'), ('enkelvoudiginformatieobject_count', 'enkelvoudiginformatieobject'),
      ('import_overview', 'import'), ('applicatie_client_all', 'applicatie_client_more'), ('zaak_part', 'zaak_part_count'),
      ('notificatie_overview', 'notificatie')
    ) as copy(name, table_name) on copy.name = c.relname
    left join pg_attribute of_table on of_table.attrelid = to_regclass(copy.table_name) and of_table.attname = a.attname and a.attname <> 'id'
    left join (values
    ('aanleiding', 'Cause.'), ('actie', 'create, update, partial_update or destroy.'),
    ('afwijkende_naam_betrokkene', 'Name to use instead.'), ('ander_objecttype', 'True: not a type of the RSGB or RGBZ.'),
    ('applicatie_id', 'The application.'), ('archiefactiedatum', 'Day on which archiefnominatie is carried out.'),
    ('archiefnominatie', 'blijvend_bewaren, vernietigen or empty.'), ('auteur', 'Author.'),
    ('begin_geldigheid', 'First day of validity; empty: as the case type.'),
    ('begindatum_versie', 'First day of this version.'), ('beschrijving', 'Description.'), ('besluitcategorie', 'Category.'),
    ('besluittype_id', 'The decision type.'), ('betalingsindicatie', 'How far costs were paid.'),
    ('brondatum_einddatum_bekend', 'Whether the date is known when the case ends.'), ('bronorganisatie', 'RSIN.'),
    ('by_url', 'Whether the relation names one version, by its URL.'), ('catalogus_id', 'The catalogue.'),
    ('certificaat', 'Client certificate that we show (PEM); empty: none.'), ('changed_at', 'When it was last changed.'),
    ('client_id', 'The client id.'), ('concept', 'True until it is published; only published types are used.'),
    ('draft_id', 'The upload.'), ('contact_persoon', 'URL of the contact person.'),
    ('contactpersoon_beheer_emailadres', 'E-mail address of the contact person.'),
    ('contactpersoon_beheer_naam', 'Contact person.'),
    ('contactpersoon_beheer_telefoonnummer', 'Phone number of the contact person.'),
    ('contactpersoonnaam', 'Name of the contact person.'), ('created_at', 'When it was made.'), ('definitie', 'Definition.'),
    ('doel', 'Purpose.'), ('doelgroep', 'For whom: betrokkenen, intern or empty.'), ('einddatum_gepland', 'Planned end.'),
    ('einde_geldigheid', 'Last day of validity; empty: as the case type.'), ('emailadres', 'E-mail address.'),
    ('enkelvoudiginformatieobject_id', 'The document.'), ('faxnummer', 'Fax number.'),
    ('handeling_behandelaar', 'What the handler does.'), ('handeling_initiator', 'What the initiator does.'),
    ('id', 'Internal key.'), ('import_id', 'The import.'),
    ('indicatie_intern_of_extern', 'Whether cases come from inside or outside.'),
    ('indicatie_machtiging', 'gemachtigde, machtiginggever or empty.'),
    ('informatieobject_url', 'The document when it stands elsewhere.'), ('informatieobjectcategorie', 'Category.'),
    ('informatieobjecttype_id', 'The document type.'), ('informeren', 'Whether the initiator is told.'),
    ('inhoud_is_vervallen', 'Whether the content is no longer valid (1.5).'), ('issuer_id', 'The issuer.'),
    ('laatste_betaaldatum', 'Moment of the last payment.'), ('link', 'URL where the document can be read.'),
    ('max_vertrouwelijkheidaanduiding', 'Highest confidentiality that the right reaches (inclusive).'),
    ('notitie_type', 'intern or extern.'), ('omschrijving', 'Name.'), ('omschrijving_generiek', 'Generic name.'),
    ('omschrijving_voorwaarden', 'The conditions.'), ('ondertekening_datum', 'Day of signature.'),
    ('ondertekening_soort', 'Kind of signature.'), ('onderwerp', 'Subject.'), ('ontvangstdatum', 'Day of receipt.'),
    ('opschorting_en_aanhouding_mogelijk', 'Whether cases may be suspended.'),
    ('procesobjectaard', 'Nature of the process object.'), ('processobject_objecttype', 'Type of the process object.'),
    ('processobject_registratie', 'Register of the process object.'), ('processobjectaard', 'Kind of the process object.'),
    ('publicatiedatum', 'Day of publication.'), ('publicatietekst', 'Text of that publication.'),
    ('publicatietermijn', 'How long the publication stands (duration).'), ('reactietermijn', 'Term for objections (duration).'),
    ('referentieproces_link', 'URL of the reference process.'), ('referentieproces_naam', 'Name of the reference process.'),
    ('relatie_omschrijving', 'What the object is to the case.'), ('relatieomschrijving', 'What the object is to the case.'),
    ('resultaattype_id', 'The outcome.'), ('richting', 'inkomend, intern or uitgaand.'), ('roltoelichting', 'Explanation.'),
    ('rsin', 'RSIN of the owner.'), ('scopes', 'Scopes, such as documenten.lezen.'),
    ('specificatie_kardinaliteit', 'How many values: a number, or N.'),
    ('specificatie_waardenverzameling', 'Values to choose from; empty: free.'), ('statustekst', 'Text for the initiator.'),
    ('statustoelichting', 'Explanation.'), ('taal', 'Language, ISO 639-2/B.'), ('takeover_id', 'The takeover.'),
    ('telefoonnummer', 'Phone number.'), ('toelichting', 'Explanation.'), ('token_scope', 'Scope that is asked for (oauth2).'),
    ('token_url', 'Where a token is asked (oauth2).'), ('trefwoord', 'Key words.'), ('trefwoorden', 'Key words.'),
    ('uiterlijke_einddatum_afdoening', 'Legal deadline.'),
    ('uiterlijke_reactiedatum', 'Last day on which objections can be made.'), ('uuid', 'Last part of its URL.'),
    ('verantwoordelijke', 'Who answers for the type.'), ('verantwoordingsrelatie', 'Relations to accounting.'),
    ('verlenging_duur', 'By how much (ISO 8601); empty: not prolonged.'),
    ('verlenging_mogelijk', 'Whether the term of cases may be extended.'),
    ('vernietigingsdatum', 'When the document is to be destroyed.'), ('verschijningsvorm', 'Appearance.'),
    ('versiedatum', 'Date of this version.'), ('vertrouwelijkheidaanduiding', 'Confidentiality.'),
    ('verzenddatum', 'Day of sending.'), ('zaak_id', 'The case.'), ('zaaktype_id', 'The version of the case type.'),
    ('zaaktype_url', 'Zaaktype elsewhere.')
    ) as word(name, meaning) on word.name = a.attname
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'v') and col_description(c.oid, a.attnum) is null
      and coalesce(col_description(of_table.attrelid, of_table.attnum), word.meaning) is not null
  loop
    execute format('comment on column %s.%I is %L', bare.place, bare.name, bare.meaning);
  end loop;
end $$;
