-- Autorisaties: rights for a catalogue as a whole and for a type in all its versions, and names for two rules.
-- An operator notices nothing: only a new table.

create table catalogus_autorisatie (
  id bigint generated always as identity primary key,
  applicatie_id bigint not null references applicatie on delete cascade,
  component text not null check (component in ('zrc', 'drc', 'brc')),
  catalogus_id bigint not null references catalogus on delete cascade,
  type text not null default '',
  scopes text[] not null,
  max_vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding
);
create index on catalogus_autorisatie (applicatie_id);
create index on catalogus_autorisatie (catalogus_id);
comment on table catalogus_autorisatie is 'A right of an application that names no version of a type, so that types and versions made later fall under it.';
comment on column catalogus_autorisatie.id is 'Internal key; also the order in the API.';
comment on column catalogus_autorisatie.applicatie_id is 'The application.';
comment on column catalogus_autorisatie.component is 'zrc (zaaktypen), drc (informatieobjecttypen) or brc (besluittypen).';
comment on column catalogus_autorisatie.catalogus_id is 'The catalogue.';
comment on column catalogus_autorisatie.type is 'identificatie of a zaaktype, omschrijving of another type: all its versions. Empty: every type of the catalogue.';
comment on column catalogus_autorisatie.scopes is 'Scopes, such as documenten.lezen.';
comment on column catalogus_autorisatie.max_vertrouwelijkheidaanduiding is 'Highest confidentiality that the right reaches (inclusive).';

create view autorisatie_type as
  select 'zrc' as component, id, uuid, catalogus_id, identificatie as sleutel from zaaktype
  union all
  select 'drc', id, uuid, catalogus_id, omschrijving from informatieobjecttype
  union all
  select 'brc', id, uuid, catalogus_id, omschrijving from besluittype;
comment on view autorisatie_type is 'The types that rights can be about, with what versions of one type have in common (sleutel).';

create trigger catalogus_autorisatie_gewijzigd after insert or update or delete or truncate on catalogus_autorisatie
  for each statement execute function meld_autorisatie_wijziging();

-- A type that comes, goes or changes its name changes what such a right reaches.
create trigger zaaktype_telt_voor_autorisaties after insert or delete or truncate or update of catalogus_id, identificatie on zaaktype
  for each statement execute function meld_autorisatie_wijziging();
create trigger informatieobjecttype_telt_voor_autorisaties after insert or delete or truncate or update of catalogus_id, omschrijving on informatieobjecttype
  for each statement execute function meld_autorisatie_wijziging();
create trigger besluittype_telt_voor_autorisaties after insert or delete or truncate or update of catalogus_id, omschrijving on besluittype
  for each statement execute function meld_autorisatie_wijziging();

alter table applicatie_client rename constraint applicatie_client_pkey to applicatie_client_id_uniek;
