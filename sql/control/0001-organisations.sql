-- The organisations of one installation. Their own tables stand elsewhere: in a schema each, of this database or another.
create table organisation (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() unique,
  rsin text not null unique check (rsin ~ '^\d{9}$'),
  name text not null check (name <> ''),
  server text not null,
  schema text not null,
  sealed bytea not null,
  limits jsonb not null default '{}',
  state text not null default 'active' check (state in ('active', 'read-only', 'suspended', 'moving')),
  reason text not null default '',
  version text not null default '',
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  unique (server, schema)
);
create table organisation_host (
  host text primary key check (host = lower(host)),
  organisation_id bigint not null references organisation on delete cascade,
  position int not null,
  unique (organisation_id, position)
);
create table organisation_change (
  id bigint generated always as identity primary key,
  rsin text not null,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  fields text[] not null default '{}'
);

comment on table organisation is 'Organisations that this installation serves.';
comment on column organisation.id is 'Its number.';
comment on column organisation.uuid is 'Its name in addresses and files.';
comment on column organisation.rsin is 'Its RSIN.';
comment on column organisation.name is 'What people call it.';
comment on column organisation.server is 'Host, port and database where its tables are; says which organisations share one.';
comment on column organisation.schema is 'Schema of its tables; the queue stands in one beside it.';
comment on column organisation.sealed is 'Address of the database, keys and settings of its own, sealed with the keys of the installation.';
comment on column organisation.limits is 'Its bounds, by name.';
comment on column organisation.state is 'active; read-only: changes are refused; suspended: all is refused; moving: all has to wait a moment.';
comment on column organisation.reason is 'Why it is not active, for the people of the centre.';
comment on column organisation.version is 'The version of the program that brought its schema along last.';
comment on column organisation.created_at is 'When it was added.';
comment on column organisation.changed_at is 'When this row changed last.';
comment on table organisation_host is 'Host names of organisations: by them a request is for one.';
comment on column organisation_host.host is 'Host name without port, in lower case.';
comment on column organisation_host.organisation_id is 'Whose it is.';
comment on column organisation_host.position is 'Its place among those of the organisation; the first one is in links.';
comment on table organisation_change is 'What the centre changed of organisations.';
comment on column organisation_change.id is 'Its number.';
comment on column organisation_change.rsin is 'Of which organisation; it may be gone.';
comment on column organisation_change.at is 'When.';
comment on column organisation_change.actor is 'The command, or the account of a person.';
comment on column organisation_change.action is 'add, set, suspend, resume, reseal, move, export, migrate, remove.';
comment on column organisation_change.fields is 'Names of what changed; never values.';
