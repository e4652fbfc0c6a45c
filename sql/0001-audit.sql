-- What all components share: the order of confidentiality, and the audit trail. Every change of the APIs leaves one row
-- here, in its own transaction, so that the trail can never miss a change nor tell of one that was rolled back.

-- What tables and columns mean, for whoever looks with \d+ in psql: pairs of a column and its meaning. What columns mean that are called
-- the same wherever they stand is said once, by name, in describe_rest, and a column of a view says what the column of its table says.
create function describe(place regclass, meaning text, variadic columns text[]) returns void language plpgsql as $$
begin
  execute format('comment on %s %s is %L', (select case relkind when 'v' then 'view' else 'table' end from pg_class where oid = place), place, meaning);
  for n in 1 .. cardinality(columns) by 2 loop
    execute format('comment on column %s.%I is %L', place, columns[n], columns[n + 1]);
  end loop;
end $$;
comment on function describe is 'Comments a table or view, and columns of it.';

-- RFC 9562, version 7. A random one has its place anywhere in an index: in a table of millions each is on a page of its own, which is
-- read for it, and logged whole when it is the first change since a checkpoint. PostgreSQL 18 has uuidv7().
create function uuid_v7() returns uuid language plpgsql volatile parallel safe as $$
declare
  moment text := lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0');
begin
  return left(moment, 8) || '-' || right(moment, 4) || '-7' || substr(gen_random_uuid()::text, 16);
end $$;
comment on function uuid_v7 is 'A new uuid, in order of time.';

create function describe_rest() returns void language plpgsql as $$
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
      ('begin_geldigheid', 'First day of validity; empty: as the case type.'), ('begindatum_versie', 'First day of this version.'),
      ('beschrijving', 'Description.'), ('besluitcategorie', 'Category.'), ('besluittype_id', 'The decision type.'),
      ('betalingsindicatie', 'How far costs were paid.'), ('brondatum_einddatum_bekend', 'Whether the date is known when the case ends.'),
      ('bronorganisatie', 'RSIN.'), ('by_url', 'Whether the relation names one version, by its URL.'), ('catalogus_id', 'The catalogue.'),
      ('certificaat', 'Client certificate that we show (PEM); empty: none.'), ('changed_at', 'When it was last changed.'),
      ('client_id', 'The client id.'), ('concept', 'True until it is published; only published types are used.'),
      ('contact_persoon', 'URL of the contact person.'), ('contactpersoon_beheer_emailadres', 'E-mail address of the contact person.'),
      ('contactpersoon_beheer_naam', 'Contact person.'), ('contactpersoon_beheer_telefoonnummer', 'Phone number of the contact person.'),
      ('contactpersoonnaam', 'Name of the contact person.'), ('created_at', 'When it was made.'), ('definitie', 'Definition.'),
      ('doel', 'Purpose.'), ('doelgroep', 'For whom: betrokkenen, intern or empty.'), ('draft_id', 'The upload.'),
      ('einddatum_gepland', 'Planned end.'), ('einde_geldigheid', 'Last day of validity; empty: as the case type.'),
      ('emailadres', 'E-mail address.'), ('enkelvoudiginformatieobject_id', 'The document.'), ('faxnummer', 'Fax number.'),
      ('handeling_behandelaar', 'What the handler does.'), ('handeling_initiator', 'What the initiator does.'), ('id', 'Internal key.'),
      ('import_id', 'The import.'), ('indicatie_intern_of_extern', 'Whether cases come from inside or outside.'),
      ('indicatie_machtiging', 'gemachtigde, machtiginggever or empty.'),
      ('informatieobject_url', 'The document when it stands elsewhere.'), ('informatieobjectcategorie', 'Category.'),
      ('informatieobjecttype_id', 'The document type.'), ('informeren', 'Whether the initiator is told.'),
      ('inhoud_is_vervallen', 'Whether the content is no longer valid (1.5).'), ('issuer_id', 'The issuer.'),
      ('laatste_betaaldatum', 'Moment of the last payment.'), ('link', 'URL where the document can be read.'),
      ('max_vertrouwelijkheidaanduiding', 'Highest confidentiality that the right reaches (inclusive).'),
      ('notitie_type', 'intern or extern.'), ('omschrijving', 'Name.'), ('omschrijving_generiek', 'Generic name.'),
      ('omschrijving_voorwaarden', 'The conditions.'), ('ondertekening_datum', 'Day of signature.'),
      ('ondertekening_soort', 'Kind of signature.'), ('onderwerp', 'Subject.'), ('ontvangstdatum', 'Day of receipt.'),
      ('opschorting_en_aanhouding_mogelijk', 'Whether cases may be suspended.'), ('procesobjectaard', 'Nature of the process object.'),
      ('processobject_objecttype', 'Type of the process object.'), ('processobject_registratie', 'Register of the process object.'),
      ('processobjectaard', 'Kind of the process object.'), ('publicatiedatum', 'Day of publication.'),
      ('publicatietekst', 'Text of that publication.'), ('publicatietermijn', 'How long the publication stands (duration).'),
      ('reactietermijn', 'Term for objections (duration).'), ('referentieproces_link', 'URL of the reference process.'),
      ('referentieproces_naam', 'Name of the reference process.'), ('relatie_omschrijving', 'What the object is to the case.'),
      ('relatieomschrijving', 'What the object is to the case.'), ('resultaattype_id', 'The outcome.'),
      ('richting', 'inkomend, intern or uitgaand.'), ('roltoelichting', 'Explanation.'), ('rsin', 'RSIN of the owner.'),
      ('scopes', 'Scopes, such as documenten.lezen.'), ('specificatie_kardinaliteit', 'How many values: a number, or N.'),
      ('specificatie_waardenverzameling', 'Values to choose from; empty: free.'), ('statustekst', 'Text for the initiator.'),
      ('statustoelichting', 'Explanation.'), ('taal', 'Language, ISO 639-2/B.'), ('takeover_id', 'The takeover.'),
      ('telefoonnummer', 'Phone number.'), ('toelichting', 'Explanation.'), ('token_scope', 'Scope that is asked for (oauth2).'),
      ('token_url', 'Where a token is asked (oauth2).'), ('trefwoord', 'Key words.'), ('trefwoorden', 'Key words.'),
      ('uiterlijke_einddatum_afdoening', 'Legal deadline.'), ('uiterlijke_reactiedatum', 'Last day on which objections can be made.'),
      ('uuid', 'Last part of its URL.'), ('verantwoordelijke', 'Who answers for the type.'),
      ('verantwoordingsrelatie', 'Relations to accounting.'), ('verlenging_duur', 'By how much (ISO 8601); empty: not prolonged.'),
      ('verlenging_mogelijk', 'Whether the term of cases may be extended.'),
      ('vernietigingsdatum', 'When the document is to be destroyed.'), ('verschijningsvorm', 'Appearance.'),
      ('versiedatum', 'Date of this version.'), ('vertrouwelijkheidaanduiding', 'Confidentiality.'), ('verzenddatum', 'Day of sending.'),
      ('zaak_id', 'The case.'), ('zaaktype_id', 'The version of the case type.'), ('zaaktype_url', 'Zaaktype elsewhere.')
    ) as word(name, meaning) on word.name = a.attname
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'v') and col_description(c.oid, a.attnum) is null
      and coalesce(col_description(of_table.attrelid, of_table.attnum), word.meaning) is not null
  loop
    execute format('comment on column %s.%I is %L', bare.place, bare.name, bare.meaning);
  end loop;
end $$;
comment on function describe_rest is 'Comments the columns that have no comment yet and mean what their name means everywhere.';

create function today(zone text) returns date language sql stable as $$ select (now() at time zone zone)::date $$;
comment on function today is 'The day that it is in this time zone.';

create type vertrouwelijkheidaanduiding as enum
  ('openbaar', 'beperkt_openbaar', 'intern', 'zaakvertrouwelijk', 'vertrouwelijk', 'confidentieel', 'geheim', 'zeer_geheim');
comment on type vertrouwelijkheidaanduiding is 'Confidentiality, low to high: comparisons follow the order of the standard.';

create function place_in_alphabet(vertrouwelijkheidaanduiding) returns smallint language sql immutable parallel safe as $$
  select case $1
    when 'beperkt_openbaar' then 1 when 'confidentieel' then 2 when 'geheim' then 3 when 'intern' then 4
    when 'openbaar' then 5 when 'vertrouwelijk' then 6 when 'zaakvertrouwelijk' then 7 else 8 end::smallint
$$;
comment on function place_in_alphabet is 'The order of the names of confidentiality, which existing clients know.';

-- Durations are terms: ISO 8601, not negative. One function language plpgsql, so that its text is not put in the place of each call
-- and read, planned and compiled anew with every statement: that was a sixth of what the insert of a case costs.
create function is_term(term text) returns boolean language plpgsql immutable strict parallel safe as $$
begin
  return case
    when term ~ '^P(?=.)(\d{1,3}Y)?(\d{1,4}M)?(\d{1,6}D)?(T(?=.)(\d{1,2}H)?(\d{1,2}M)?(\d{1,2}(\.\d{1,6})?S)?)?$'
    then timestamp '2000-01-01' + term::interval <= timestamp '2500-01-01'
    else false
  end;
end $$;
comment on function is_term(text) is 'Whether it is a normalised ISO 8601 duration of at most five hundred years; empty for no term at all, which a check lets pass. The same reading as src/http/duration.ts.';

-- Terms of archiving reach five hundred years, since the selectielijst has some of 110; all others a hundred. Constraints call it, also
-- while pg_restore has no search path.
create function is_term(term text, years integer) returns boolean language plpgsql immutable strict parallel safe
set search_path from current as $$
begin
  return case
    when is_term(term) then timestamp '2000-01-01' + term::interval <= timestamp '2000-01-01' + make_interval(years => years)
    else false
  end;
end $$;
comment on function is_term(text, integer) is 'The same of at most so many years. The bounds are those of MAX_YEARS in src/http/duration.ts.';

create table audit (
  id bigint generated always as identity, aanmaakdatum timestamptz not null default now(),
  uuid uuid not null default gen_random_uuid(), hoofd_object_uuid uuid not null, resource_uuid uuid,
  resultaat integer not null,
  bron text not null, actie text not null, resource text not null, resource_weergave text not null default '',
  applicatie_id text not null default '', applicatie_weergave text not null default '',
  gebruikers_id text not null default '', gebruikers_weergave text not null default '',
  toelichting text not null default '', logrecord_id text not null default '', request_id text not null default '',
  packed bytea not null, made jsonb, origin jsonb,
  constraint audit_pkey primary key (hoofd_object_uuid, id)
);
create unique index audit_taken_over_unique on audit (uuid) where id < 0;
-- The trail over all objects, by moment: rows come in the order of time, so that a few pages of such an index serve millions.
create index audit_aanmaakdatum_idx on audit using brin (aanmaakdatum) with (pages_per_range = 32, autosummarize = on);
select describe('audit', 'Audit trail: one row for every change, written in the transaction of that change.',
  'id', 'Internal key; order of the trail. Lines that were taken over are below 0, in the order of their source.',
  'bron', 'Component: ac, zrc, ztc, drc or brc.', 'applicatie_id', 'uuid of the application that made the change.',
  'applicatie_weergave', 'Its label at that moment.', 'gebruikers_id', 'Claim user_id of the token.',
  'gebruikers_weergave', 'Claim user_representation of the token.', 'resultaat', 'HTTP status of the answer.',
  'hoofd_object_uuid', 'uuid of the main object: the trail is read by it.', 'resource', 'Kind of the changed object.',
  'resource_uuid', 'uuid of the changed object; empty where one of another product has none.',
  'resource_weergave', 'The changed object for people.', 'toelichting', 'Header X-Audit-Toelichting.',
  'logrecord_id', 'Header X-NLX-Logrecord-ID.', 'aanmaakdatum', 'When the change was made.',
  'packed', 'URLs of the main and the changed object, and that one before and after the change, as JSON with numbers of persons sealed, deflated: src/core/audit-contents.ts.',
  'made', 'Members of the object after the change that the database made.',
  'request_id', 'Header X-Request-ID of the request, or the id that it was given.',
  'origin', 'Where the request came from: issuer and organisation of its token, and peer, delegator and grant of FSC. Empty: a token that the client made itself.');

-- The log of processing (Logboek Dataverwerkingen): who did what with which cases and persons, also by reading. What still has to go to
-- the collector stands in `verwerking_spool`, so that a line is never written twice.

create table verwerking (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(), ms integer not null default 0,
  activiteit text not null, handeling text not null,
  client_id text not null, applicatie_weergave text not null,
  gebruikers_id text not null, gebruikers_weergave text not null,
  zaken uuid[] not null, objecten uuid[] not null,
  betrokkenen jsonb, lookups bytea[],
  trace_id bytea not null, parent_span_id bytea,
  request_id text not null
);
select describe('verwerking', 'Log of processing: a line for each act that touched a case or a person, once it is settled.',
  'at', 'When it began.',
  'ms', 'How long it took, in milliseconds.',
  'activiteit', 'URL of the processing activity in the register: that of the zaaktype, its catalogus, or the installation.',
  'handeling', 'What was done: method and route of a read, or the changes.',
  'client_id', 'Client id of the token; empty for the pages and for jobs.',
  'applicatie_weergave', 'Label of the application at that moment.',
  'gebruikers_id', 'Claim user_id of the token, without what may be a number of a person.',
  'gebruikers_weergave', 'Claim user_representation of the token, as well.',
  'zaken', 'uuids of the cases. The uuid of zeros: all, as in a snapshot.',
  'objecten', 'uuids of documents, besluiten and parts of cases.',
  'betrokkenen', 'Who it was about: an object for each person, with the number sealed.',
  'lookups', 'HMAC of each of these numbers: what a person is found by.',
  'trace_id', 'The trace of the request.',
  'parent_span_id', 'What led to it within that trace; empty: nobody told.',
  'request_id', 'Header X-Request-ID of the request, or the id that it was given.');

create table verwerking_block (
  first_id bigint not null, last_id bigint constraint verwerking_block_pkey primary key,
  zaken uuid[] not null, objecten uuid[] not null, lookups bytea[] not null
);
create index verwerking_block_idx on verwerking_block using gin (zaken, objecten, lookups);
select describe('verwerking_block', 'What lines of `verwerking` that were settled together are about: they are found by it, so that each case is indexed once for all of them.',
  'first_id', 'The first of the lines.', 'last_id', 'The last of them; no line of another block lies between.',
  'zaken', 'Cases in any of them.', 'objecten', 'As well.', 'lookups', 'As well.');

create table verwerking_unsettled (
  id bigint generated always as identity constraint verwerking_unsettled_pkey primary key, at timestamptz not null default now(),
  lines integer not null, content text not null
);
alter table verwerking_unsettled alter column content set storage external;
select describe('verwerking_unsettled', 'Acts as they were written, changes in their own transaction; a worker makes lines of `verwerking` of them within a second.',
  'at', 'When they were written.', 'lines', 'How many acts.', 'content', 'JSON, with numbers of persons sealed.');

-- Nothing is looked for by values that statistics tell of: those of 30,000 lists of cases would be gathered each minute.
do $$ begin
  execute (select string_agg(format('alter table %s alter %I set statistics 1', attrelid::regclass, attname), ';') from pg_attribute
    where attrelid in ('verwerking'::regclass, 'verwerking_block'::regclass) and attnum > 0);
end $$;

create table verwerking_spool (first_id bigint not null, last_id bigint constraint verwerking_spool_pkey primary key);
select describe('verwerking_spool', 'Lines of `verwerking` that the collector has not confirmed, from one to another.',
  'first_id', 'The first of them.', 'last_id', 'The last of them.');

-- The keys that something in this database was sealed with, each with a value that tells whether a process has the right one, and the
-- processes that run: a new key seals when all of them have it, and an old one is retired when none of them seals with it.

create table data_key (
  id text constraint data_key_pkey primary key,
  sealed bytea not null,
  created_at timestamptz not null default now(), used_at timestamptz, retired_at timestamptz
);
select describe('data_key', 'Keys that this database was written with.',
  'id', 'Its name in DATA_KEYS; secret-key: SECRET_KEY.', 'sealed', 'A known text, sealed with it.',
  'created_at', 'When a process brought it first.',
  'used_at', 'When a process began to seal with it; empty: nothing is sealed with it yet.',
  'retired_at', 'When nothing was sealed with it any more, and it was retired.');

create table key_holder (
  id uuid constraint key_holder_pkey primary key,
  keys text[] not null, seals text not null,
  seen_at timestamptz not null default now()
);
select describe('key_holder', 'Processes that run, with their keys.',
  'id', 'The process.', 'keys', 'Names of its keys.', 'seals', 'The one that it seals with.', 'seen_at', 'Its last sign of life.');

create table reseal (
  place text constraint reseal_pkey primary key,
  key text not null,
  position bigint, until bigint, seen bigint not null default 0, resealed bigint not null default 0,
  begun_at timestamptz not null default now(), done_at timestamptz
);
select describe('reseal', 'How far the sealing with the newest key is, by where the sealed values stand.',
  'place', 'The table.', 'key', 'The key that all gets.',
  'position', 'The last row that was looked at, of the audit trail the block before which all was; empty: none yet.',
  'until', 'The last row (or block) when it began: later ones are sealed with the newest key.', 'seen', 'How many rows were looked at.',
  'resealed', 'How many of them were sealed anew.', 'begun_at', 'When it was asked for.', 'done_at', 'When it was done.');

-- Settings that are changed in the pages instead of in the environment. Every process keeps them in memory and reads them again on a
-- signal; what the environment says wins.
create table setting (
  name text constraint setting_pkey primary key,
  value text not null,
  changed_at timestamptz not null default now()
);
select describe('setting', 'Settings that were given a value in the pages.',
  'name', 'Its name in the environment, such as JWT_EXPIRY.', 'value', 'Its value, written as in the environment.',
  'changed_at', 'When it was changed last.');

create table sealed_setting (
  name text constraint sealed_setting_pkey primary key,
  sealed bytea not null
);
select describe('sealed_setting', 'Secret settings that were given a value in the pages.',
  'name', 'Its name in the environment, such as SMTP_PASSWORD.', 'sealed', 'Its value, sealed with a key of the ring.');

create table idempotency_key (
  applicatie_uuid uuid not null,
  key text not null constraint idempotency_key_key_check check (length(key) between 1 and 255),
  fingerprint bytea not null constraint idempotency_key_fingerprint_check check (length(fingerprint) = 32),
  status smallint, answer text, made jsonb, created_at timestamptz not null default now(),
  constraint idempotency_key_pkey primary key (applicatie_uuid, key)
);
create index idempotency_key_created_at_idx on idempotency_key (created_at);
select describe('idempotency_key', 'Requests that came with an Idempotency-Key, each written in the transaction of its change, with what a repetition of it gets. Removed after IDEMPOTENCY_KEY_HOURS.',
  'applicatie_uuid', 'The application that sent it: keys of others are other keys.', 'key', 'What the client called it.',
  'fingerprint', 'SHA-256 of the method, the address and the body.',
  'status', 'HTTP status of a refusal, and else 200; empty while other servers are asked.',
  'answer', 'What `mutate` gave back as JSON, or the body of a refusal; empty when it was too large.',
  'made', 'Members of that which the database made.', 'created_at', 'When it was kept.');

create function remove_keys(term interval, most_of_one bigint, portion integer) returns integer language sql as $$
  with crowded as materialized (
    select applicatie_uuid, count(*) - most_of_one as beyond from idempotency_key group by 1 having count(*) > most_of_one
  ), old as materialized (
    (select applicatie_uuid, key from idempotency_key where created_at < now() - term order by created_at limit portion)
    union
    select k.applicatie_uuid, k.key from crowded c cross join lateral (
      select applicatie_uuid, key from idempotency_key i where i.applicatie_uuid = c.applicatie_uuid
      order by created_at limit least(c.beyond, portion)) k
  ), removed as (
    delete from idempotency_key i using old o where i.applicatie_uuid = o.applicatie_uuid and i.key = o.key returning 1
  ) select count(*)::integer from removed
$$;
comment on function remove_keys is 'Removes a portion of the keys whose term is over, and of those beyond what one application may have, the oldest first. Returns how many.';
