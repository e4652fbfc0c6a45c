-- Autorisaties: which applications may use the APIs, how they sign their tokens, and what they may do. A right names one
-- version of a type, or (catalogus_autorisatie) a type in all its versions or all types of a catalogue.

create table applicatie (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint applicatie_uuid_uniek unique,
  label text not null,
  heeft_alle_autorisaties boolean not null default false,
  alleen_is_gereed_voor_publicatie boolean not null default false,
  created_at timestamptz not null default now()
);
comment on table applicatie is 'An application that may use the APIs (Autorisaties API, Applicatie).';
comment on column applicatie.id is 'Internal key.';
comment on column applicatie.uuid is 'Last part of its URL.';
comment on column applicatie.label is 'Name for people.';
comment on column applicatie.heeft_alle_autorisaties is 'True: may do everything; then it has no autorisaties (ac-002).';
comment on column applicatie.alleen_is_gereed_voor_publicatie is 'True: reads only documents with isGereedVoorPublicatie (Autorisaties 1.1.0).';
comment on column applicatie.created_at is 'When it was made.';

create table applicatie_client (
  client_id text constraint applicatie_client_id_uniek primary key
    constraint applicatie_client_client_id_check check (length(client_id) between 1 and 50),
  applicatie_id bigint not null references applicatie on delete cascade,
  volgorde integer not null default 0
);
create index applicatie_client_applicatie_id_idx on applicatie_client (applicatie_id);
comment on table applicatie_client is 'Client ids of an application; unique over all applications (ac-001).';
comment on column applicatie_client.client_id is 'The client_id claim of its tokens.';
comment on column applicatie_client.applicatie_id is 'The application.';
comment on column applicatie_client.volgorde is 'Position in clientIds.';

-- Elsewhere a client id may stand in two applications, and then has the rights of both.
create table applicatie_client_more (
  client_id text not null references applicatie_client on delete cascade on update cascade,
  applicatie_id bigint not null references applicatie on delete cascade,
  volgorde integer not null default 0,
  primary key (client_id, applicatie_id)
);
create index applicatie_client_more_applicatie on applicatie_client_more (applicatie_id);
comment on table applicatie_client_more is 'Further applications of a client id, as they were taken over: the client has their rights too.';
comment on column applicatie_client_more.client_id is 'The client id, with its secrets at its first application.';
comment on column applicatie_client_more.applicatie_id is 'A further application.';
comment on column applicatie_client_more.volgorde is 'Position in clientIds of that application.';

create view applicatie_client_all as
  select client_id, applicatie_id, volgorde from applicatie_client
  union all
  select client_id, applicatie_id, volgorde from applicatie_client_more;
comment on view applicatie_client_all is 'The client ids of an application, those included that have another application too.';
comment on column applicatie_client_all.client_id is 'The client id.';
comment on column applicatie_client_all.applicatie_id is 'An application that has it.';
comment on column applicatie_client_all.volgorde is 'Position in clientIds of that application.';

create table applicatie_secret (
  id bigint generated always as identity primary key,
  client_id text not null references applicatie_client on delete cascade on update cascade,
  geheim bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz
);
create index applicatie_secret_client_id_idx on applicatie_secret (client_id);
comment on table applicatie_secret is 'Signing secrets of a client id. Two may be valid at once, for rotation.';
comment on column applicatie_secret.id is 'Internal key.';
comment on column applicatie_secret.client_id is 'The client id that signs with it.';
comment on column applicatie_secret.geheim is 'The secret, encrypted with SECRET_KEY (AES-256-GCM).';
comment on column applicatie_secret.created_at is 'When it was made.';
comment on column applicatie_secret.expires_at is 'From this moment on it is not accepted; empty: no end.';

create table autorisatie (
  id bigint generated always as identity primary key,
  applicatie_id bigint not null references applicatie on delete cascade,
  component text not null
    constraint autorisatie_component_check check (component in ('ac', 'nrc', 'zrc', 'ztc', 'drc', 'brc', 'kc', 'cmc', 'vrc')),
  scopes text[] not null,
  type_url text not null default '',
  type_uuid uuid,
  max_vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding
);
create index autorisatie_applicatie_id_idx on autorisatie (applicatie_id);
create index autorisatie_type_uuid_idx on autorisatie (type_uuid);
comment on table autorisatie is 'A right of an application: scopes in one component, for one type and up to one confidentiality.';
comment on column autorisatie.id is 'Internal key; also the order in the API.';
comment on column autorisatie.applicatie_id is 'The application.';
comment on column autorisatie.component is 'ac, nrc, zrc, ztc, drc, brc, kc, cmc or vrc.';
comment on column autorisatie.scopes is 'Scopes, such as documenten.lezen.';
comment on column autorisatie.type_url is 'zaaktype, informatieobjecttype or besluittype as the client wrote it; empty where the component has none.';
comment on column autorisatie.type_uuid is 'The uuid of that type when it is one of ours: rights compare this, not the text of the URL.';
comment on column autorisatie.max_vertrouwelijkheidaanduiding is 'Highest confidentiality that the right reaches (inclusive).';

create table catalogus_autorisatie (
  id bigint generated always as identity primary key,
  applicatie_id bigint not null references applicatie on delete cascade,
  component text not null constraint catalogus_autorisatie_component_check check (component in ('zrc', 'drc', 'brc')),
  catalogus_id bigint not null references catalogus on delete cascade,
  type text not null default '',
  scopes text[] not null,
  max_vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding
);
create index catalogus_autorisatie_applicatie_id_idx on catalogus_autorisatie (applicatie_id);
create index catalogus_autorisatie_catalogus_id_idx on catalogus_autorisatie (catalogus_id);
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
comment on column autorisatie_type.component is 'zrc (zaaktypen), drc (informatieobjecttypen) or brc (besluittypen).';
comment on column autorisatie_type.id is 'Key of the type in its own table.';
comment on column autorisatie_type.uuid is 'Last part of its URL.';
comment on column autorisatie_type.catalogus_id is 'Its catalogue.';
comment on column autorisatie_type.sleutel is 'What all versions of one type have in common: identificatie of a zaaktype, omschrijving of another type.';

-- Every process keeps the rights of its clients in memory and drops them on this signal.
create function notify_autorisatie_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('zaakstroom_autorisaties', '');
  return null;
end $$;
create trigger applicatie_changed after insert or update or delete or truncate on applicatie
  for each statement execute function notify_autorisatie_change();
create trigger applicatie_client_changed after insert or update or delete or truncate on applicatie_client
  for each statement execute function notify_autorisatie_change();
create trigger applicatie_client_more_changed after insert or update or delete or truncate on applicatie_client_more
  for each statement execute function notify_autorisatie_change();
create trigger applicatie_secret_changed after insert or update or delete or truncate on applicatie_secret
  for each statement execute function notify_autorisatie_change();
create trigger autorisatie_changed after insert or update or delete or truncate on autorisatie
  for each statement execute function notify_autorisatie_change();
create trigger catalogus_autorisatie_changed after insert or update or delete or truncate on catalogus_autorisatie
  for each statement execute function notify_autorisatie_change();

-- A type that comes, goes or changes its name changes what such a right reaches.
create trigger zaaktype_counts_for_autorisaties after insert or delete or truncate or update of catalogus_id, identificatie
  on zaaktype
  for each statement execute function notify_autorisatie_change();
create trigger informatieobjecttype_counts_for_autorisaties after insert or delete or truncate or update of catalogus_id, omschrijving
  on informatieobjecttype
  for each statement execute function notify_autorisatie_change();
create trigger besluittype_counts_for_autorisaties after insert or delete or truncate or update of catalogus_id, omschrijving
  on besluittype
  for each statement execute function notify_autorisatie_change();
