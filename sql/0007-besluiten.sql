-- Besluiten: decisions and the documents in which they are laid down. The zaak of a decision, and its documents, are ours or
-- stand at another server; then the row has the URL.

create table besluit (
  id bigint generated always as identity primary key, uuid uuid not null default uuid_v7() constraint besluit_uuid_unique unique,
  identificatie text not null, verantwoordelijke_organisatie text not null,
  besluittype_id bigint references besluittype,
  besluittype_url text, besluittype_catalogus_url text not null default '',
  zaak_id bigint constraint besluit_zaak_exists references zaak,
  zaak_url text, datum date not null,
  toelichting text not null default '', bestuursorgaan text not null default '',
  ingangsdatum date not null, vervaldatum date,
  vervalreden text not null default '' constraint besluit_vervalreden_check
      check (vervalreden in ('', 'tijdelijk', 'ingetrokken_overheid', 'ingetrokken_belanghebbende')),
  publicatiedatum date, verzenddatum date, uiterlijke_reactiedatum date,
  duplicate integer not null default 0,
  constraint besluit_identificatie_unique unique (identificatie, verantwoordelijke_organisatie, duplicate),
  constraint besluit_one_type check (num_nonnulls(besluittype_id, besluittype_url) = 1),
  constraint besluit_one_zaak check (num_nonnulls(zaak_id, zaak_url) <= 1)
);
create index besluit_besluittype_id_id_idx on besluit (besluittype_id, id);
create index besluit_verantwoordelijke_organisatie_id_idx on besluit (verantwoordelijke_organisatie, id);
create index besluit_zaak_id_idx on besluit (zaak_id) where zaak_id is not null;
create index besluit_datum_id_idx on besluit (datum, id);
create index besluit_zaak_url_idx on besluit (zaak_url) where zaak_url is not null;
select describe('besluit', 'A decision (Besluiten API, Besluit). When it is taken in a zaak, a zaakbesluit stands beside it (brc-006).',
  'id', 'Internal key; order of lists, newest first.',
  'identificatie', 'Number; unique together with verantwoordelijke_organisatie, and never changes (brc-002).',
  'verantwoordelijke_organisatie', 'RSIN of the organisation that answers for it; never changes.',
  'besluittype_id', 'The version of the decision type, when that is one of ours; never changes (brc-001).',
  'besluittype_url', 'The decision type when it stands elsewhere.',
  'besluittype_catalogus_url', 'Catalogue of a decision type elsewhere, as its register said when the decision was made.',
  'zaak_id', 'The case in which it was taken, if that is one of ours. A case with decisions is not deleted: the reference does not cascade.',
  'zaak_url', 'The case in which it was taken, if that stands elsewhere.', 'datum', 'Day on which it was taken.',
  'bestuursorgaan', 'Who took it.', 'ingangsdatum', 'Day from which it holds.', 'vervaldatum', 'Day on which it lapses.',
  'vervalreden', 'Why it lapses.', 'verzenddatum', 'Day on which it was sent.',
  'duplicate', '0, or the place among decisions that were taken over with the same number.');

create table besluitinformatieobject (
  id bigint generated always as identity primary key,
  uuid uuid not null default uuid_v7() constraint besluitinformatieobject_uuid_unique unique,
  besluit_id bigint not null references besluit on delete cascade,
  enkelvoudiginformatieobject_id bigint references enkelvoudiginformatieobject,
  informatieobject_url text,
  constraint besluitinformatieobject_unique unique (besluit_id, enkelvoudiginformatieobject_id),
  constraint besluitinformatieobject_one_document check (num_nonnulls(enkelvoudiginformatieobject_id, informatieobject_url) = 1)
);
create index besluitinformatieobject_enkelvoudiginformatieobject_id_idx on besluitinformatieobject (enkelvoudiginformatieobject_id);
create unique index besluitinformatieobject_elsewhere_unique on besluitinformatieobject (besluit_id, informatieobject_url)
  where informatieobject_url is not null;
create index besluitinformatieobject_informatieobject_url_idx on besluitinformatieobject (informatieobject_url)
  where informatieobject_url is not null;
select describe('besluitinformatieobject', 'That a decision is laid down in a document (Besluiten API, BesluitInformatieObject); an objectinformatieobject stands beside it (brc-005).',
  'id', 'Internal key; order of lists.', 'besluit_id', 'The decision; gone with it (brc-009).',
  'enkelvoudiginformatieobject_id', 'The document, when it is one of ours.');

create sequence besluit_nummer;
comment on sequence besluit_nummer is 'Numbers of generated identificaties of besluiten; it never goes back, so a number never returns.';

create function besluit_identificatie(day date) returns text language sql volatile as $$
  select 'BESLUIT-' || to_char(day, 'YYYY') || '-' || lpad(n::text, greatest(10, length(n::text)), '0')
  from nextval('besluit_nummer') n
$$;
comment on function besluit_identificatie is 'The next generated identificatie, for a besluit of this day.';

-- A number may be taken already, when decisions came from elsewhere with theirs.
create function skip_besluitnummers(day date) returns void language plpgsql volatile as $$
declare
  highest bigint;
begin
  select max(substring(identificatie from '^BESLUIT-\d{4}-(\d{10,18})$')::bigint) into highest
  from besluit where identificatie like 'BESLUIT-' || to_char(day, 'YYYY') || '-%';
  perform nextval('besluit_nummer')
  from generate_series(1, least(coalesce(highest, 0) - (select last_value from besluit_nummer), 10000000));
end $$;
comment on function skip_besluitnummers is 'Moves the sequence of generated numbers past the numbers that besluiten of this year have.';

-- Whom a line in the log of processing is about.

create function persons_of(zaken uuid[], rollen uuid[]) returns table (zaak uuid, rol uuid, lookup bytea, person jsonb)
language sql stable as $$
  with involved as (
    select z.uuid as zaak, r.uuid as rol, coalesce(r.inp_bsn_lookup, r.anp_identificatie_lookup, r.inp_a_nummer_lookup) as lookup,
      r.betrokkene_identificatie as person, r.authenticatie_context -> 'representee' as representee
    from rol r join zaak z on z.id = r.zaak_id
    where r.id = any(array(select q.id from zaak y join rol q on q.zaak_id = y.id where y.uuid = any(zaken)
        union all select id from rol where uuid = any(rollen)))
      and (r.inp_bsn_lookup is not null or r.anp_identificatie_lookup is not null or r.inp_a_nummer_lookup is not null
        or r.authenticatie_context is not null)
  )
  select zaak, rol, lookup, jsonb_build_object('inpBsn', nullif(person -> 'inpBsn', '""'), 'anpIdentificatie', nullif(person -> 'anpIdentificatie', '""'),
      'inpA_nummer', nullif(person -> 'inpA_nummer', '""')) from involved where lookup is not null
  union all select zaak, rol, null, jsonb_build_object('identifier', representee -> 'identifier') from involved where representee ->> 'identifier' <> ''
  union all select z.uuid, null, null, jsonb_build_object('inpBsn', o.object_identificatie -> 'inpBsn')
    from zaak z join zaakobject o on o.zaak_id = z.id where z.uuid = any(zaken) and o.object_identificatie ->> 'inpBsn' <> ''
$$;
comment on function persons_of is 'Who is involved in these cases, and who these rollen are; `lookup` is empty for those that nobody is found by.';
