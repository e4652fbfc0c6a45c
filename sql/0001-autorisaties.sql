-- Who may do what, and the two records that every change leaves behind: its audit row and its notification.
-- An operator notices nothing: this is the first migration.

create type vertrouwelijkheidaanduiding as enum
  ('openbaar', 'beperkt_openbaar', 'intern', 'zaakvertrouwelijk', 'vertrouwelijk', 'confidentieel', 'geheim', 'zeer_geheim');
comment on type vertrouwelijkheidaanduiding is 'Confidentiality, low to high: comparisons follow the order of the standard.';

create table applicatie (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint applicatie_uuid_uniek unique,
  label text not null,
  heeft_alle_autorisaties boolean not null default false,
  alleen_is_gereed_voor_publicatie boolean not null default false,
  gemaakt_op timestamptz not null default now()
);
comment on table applicatie is 'An application that may use the APIs (Autorisaties API, Applicatie).';
comment on column applicatie.id is 'Internal key.';
comment on column applicatie.uuid is 'Last part of its URL.';
comment on column applicatie.label is 'Name for people.';
comment on column applicatie.heeft_alle_autorisaties is 'True: may do everything; then it has no autorisaties (ac-002).';
comment on column applicatie.alleen_is_gereed_voor_publicatie is 'True: reads only documents with isGereedVoorPublicatie (Autorisaties 1.1.0).';
comment on column applicatie.gemaakt_op is 'When it was made.';

create table applicatie_client (
  client_id text primary key check (length(client_id) between 1 and 50),
  applicatie_id bigint not null references applicatie on delete cascade,
  volgorde integer not null default 0
);
create index on applicatie_client (applicatie_id);
comment on table applicatie_client is 'Client ids of an application; unique over all applications (ac-001).';
comment on column applicatie_client.client_id is 'The client_id claim of its tokens.';
comment on column applicatie_client.applicatie_id is 'The application.';
comment on column applicatie_client.volgorde is 'Position in clientIds.';

create table applicatie_geheim (
  id bigint generated always as identity primary key,
  client_id text not null references applicatie_client on delete cascade on update cascade,
  geheim bytea not null,
  gemaakt_op timestamptz not null default now(),
  verloopt_op timestamptz
);
create index on applicatie_geheim (client_id);
comment on table applicatie_geheim is 'Signing secrets of a client id. Two may be valid at once, for rotation.';
comment on column applicatie_geheim.id is 'Internal key.';
comment on column applicatie_geheim.client_id is 'The client id that signs with it.';
comment on column applicatie_geheim.geheim is 'The secret, encrypted with SECRET_KEY (AES-256-GCM).';
comment on column applicatie_geheim.gemaakt_op is 'When it was made.';
comment on column applicatie_geheim.verloopt_op is 'From this moment on it is not accepted; empty: no end.';

create table autorisatie (
  id bigint generated always as identity primary key,
  applicatie_id bigint not null references applicatie on delete cascade,
  component text not null check (component in ('ac', 'nrc', 'zrc', 'ztc', 'drc', 'brc')),
  scopes text[] not null,
  type_url text not null default '',
  type_uuid uuid,
  max_vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding
);
create index on autorisatie (applicatie_id);
create index on autorisatie (type_uuid);
comment on table autorisatie is 'A right of an application: scopes in one component, for one type and up to one confidentiality.';
comment on column autorisatie.id is 'Internal key; also the order in the API.';
comment on column autorisatie.applicatie_id is 'The application.';
comment on column autorisatie.component is 'ac, nrc, zrc, ztc, drc or brc.';
comment on column autorisatie.scopes is 'Scopes, such as documenten.lezen.';
comment on column autorisatie.type_url is 'zaaktype, informatieobjecttype or besluittype as the client wrote it; empty where the component has none.';
comment on column autorisatie.type_uuid is 'The uuid of that type when it is one of ours: rights compare this, not the text of the URL.';
comment on column autorisatie.max_vertrouwelijkheidaanduiding is 'Highest confidentiality that the right reaches (inclusive).';

-- Every process keeps the rights of its clients in memory and drops them on this signal.
create function meld_autorisatie_wijziging() returns trigger language plpgsql as $$
begin
  perform pg_notify('zaakstroom_autorisaties', '');
  return null;
end $$;
create trigger applicatie_gewijzigd after insert or update or delete or truncate on applicatie
  for each statement execute function meld_autorisatie_wijziging();
create trigger applicatie_client_gewijzigd after insert or update or delete or truncate on applicatie_client
  for each statement execute function meld_autorisatie_wijziging();
create trigger applicatie_geheim_gewijzigd after insert or update or delete or truncate on applicatie_geheim
  for each statement execute function meld_autorisatie_wijziging();
create trigger autorisatie_gewijzigd after insert or update or delete or truncate on autorisatie
  for each statement execute function meld_autorisatie_wijziging();

create table audit (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint audit_uuid_uniek unique,
  bron text not null,
  applicatie_id text not null default '',
  applicatie_weergave text not null default '',
  gebruikers_id text not null default '',
  gebruikers_weergave text not null default '',
  actie text not null,
  resultaat integer not null,
  hoofd_object text not null,
  hoofd_object_uuid uuid not null,
  resource text not null,
  resource_url text not null,
  resource_weergave text not null default '',
  toelichting text not null default '',
  logrecord_id text not null default '',
  aanmaakdatum timestamptz not null default now(),
  oud jsonb,
  nieuw jsonb
);
create index on audit (hoofd_object_uuid, id);
comment on table audit is 'Audit trail: one row for every change, written in the transaction of that change.';
comment on column audit.id is 'Internal key; order of the trail.';
comment on column audit.uuid is 'Last part of its URL.';
comment on column audit.bron is 'Component: ac, zrc, ztc, drc or brc.';
comment on column audit.applicatie_id is 'uuid of the application that made the change.';
comment on column audit.applicatie_weergave is 'Its label at that moment.';
comment on column audit.gebruikers_id is 'Claim user_id of the token.';
comment on column audit.gebruikers_weergave is 'Claim user_representation of the token.';
comment on column audit.actie is 'create, update, partial_update or destroy.';
comment on column audit.resultaat is 'HTTP status of the answer.';
comment on column audit.hoofd_object is 'URL of the main object.';
comment on column audit.hoofd_object_uuid is 'uuid of the main object: the trail is read by it.';
comment on column audit.resource is 'Kind of the changed object.';
comment on column audit.resource_url is 'URL of the changed object.';
comment on column audit.resource_weergave is 'The changed object for people.';
comment on column audit.toelichting is 'Header X-Audit-Toelichting.';
comment on column audit.logrecord_id is 'Header X-NLX-Logrecord-ID.';
comment on column audit.aanmaakdatum is 'When the change was made.';
comment on column audit.oud is 'The object before the change.';
comment on column audit.nieuw is 'The object after the change.';

create table notificatie (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint notificatie_uuid_uniek unique,
  kanaal text not null,
  hoofd_object text not null,
  hoofd_object_uuid uuid not null,
  resource text not null,
  resource_url text not null,
  actie text not null,
  kenmerken jsonb not null,
  aanmaakdatum timestamptz not null default now(),
  status text not null default 'gepland' check (status in ('gepland', 'afgeleverd', 'mislukt'))
);
comment on table notificatie is 'Messages for the notifications service, written in the transaction of the change that they tell of.';
comment on column notificatie.id is 'Internal key; order of the changes.';
comment on column notificatie.uuid is 'Constant id of the message: goes along with every attempt.';
comment on column notificatie.kanaal is 'Channel, such as documenten.';
comment on column notificatie.hoofd_object is 'URL of the main object.';
comment on column notificatie.hoofd_object_uuid is 'uuid of the main object: messages of one object keep their order.';
comment on column notificatie.resource is 'Kind of the changed object.';
comment on column notificatie.resource_url is 'URL of the changed object.';
comment on column notificatie.actie is 'create, update, partial_update or destroy.';
comment on column notificatie.kenmerken is 'Attributes on which subscribers filter.';
comment on column notificatie.aanmaakdatum is 'When the change was made.';
comment on column notificatie.status is 'gepland (waits), afgeleverd (accepted by the receiver) or mislukt (all attempts used).';
