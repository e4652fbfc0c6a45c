-- What all components share: the order of confidentiality, and the audit trail. Every change of the APIs leaves one row
-- here, in its own transaction, so that the trail can never miss a change nor tell of one that was rolled back.

create type vertrouwelijkheidaanduiding as enum
  ('openbaar', 'beperkt_openbaar', 'intern', 'zaakvertrouwelijk', 'vertrouwelijk', 'confidentieel', 'geheim', 'zeer_geheim');
comment on type vertrouwelijkheidaanduiding is 'Confidentiality, low to high: comparisons follow the order of the standard.';

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
create index audit_hoofd_object_uuid_id_idx on audit (hoofd_object_uuid, id);
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
