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
  state text not null default 'active' check (state in ('active', 'read-only', 'suspended', 'moving', 'adding')),
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
  fields text[] not null default '{}',
  account text not null default ''
);
create index organisation_change_rsin_idx on organisation_change (rsin, id);
create table organisation_figures (
  organisation_id bigint primary key references organisation on delete cascade,
  asked_at timestamptz not null,
  fault text not null default '',
  fault_since timestamptz,
  read_at timestamptz,
  figures jsonb
);
-- Accounts of the centre. Columns and names are those of sql/0011-beheer.sql, so that the same statements sign in both kinds.
create table beheer_account (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() unique,
  gebruikersnaam text not null, naam text not null default '', email text not null default '',
  password_hash text, password_given boolean not null default false,
  totp_secret bytea, totp_step bigint, totp_since timestamptz,
  actief boolean not null default true,
  failed_attempts integer not null default 0, failed_since timestamptz, failed_last timestamptz, last_sign_in_at timestamptz,
  sees_centre boolean not null default false
);
create unique index beheer_account_gebruikersnaam_unique on beheer_account (lower(gebruikersnaam));
create table beheer_sign_in_attempt (
  key bytea primary key,
  account_id bigint references beheer_account on delete cascade,
  count integer not null, open_at timestamptz not null, forget_at timestamptz not null
);
create index beheer_sign_in_attempt_forget_at on beheer_sign_in_attempt (forget_at);
create table membership (
  account_id bigint not null references beheer_account on delete cascade,
  organisation_id bigint not null references organisation on delete cascade,
  rol text not null,
  may_repair boolean not null default false,
  max_vertrouwelijkheidaanduiding text not null,
  stamp uuid not null default gen_random_uuid(),
  primary key (account_id, organisation_id)
);
create table switch_code (
  key bytea primary key,
  account_id bigint not null references beheer_account on delete cascade,
  from_id bigint not null references organisation on delete cascade,
  to_id bigint not null references organisation on delete cascade,
  from_stamp uuid not null,
  session_until timestamptz not null,
  expires_at timestamptz not null
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
comment on column organisation.state is 'active; read-only: changes are refused; suspended: all is refused; moving: all has to wait a moment; adding: it is not whole yet.';
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
comment on column organisation_change.rsin is 'Of which organisation; it may be gone. Empty: of an account alone.';
comment on column organisation_change.at is 'When.';
comment on column organisation_change.actor is 'The command, or the account of a person.';
comment on column organisation_change.action is 'add, set, suspend, resume, reseal, move, export, migrate, remove; of an account: account-add and the like.';
comment on column organisation_change.fields is 'Names of what changed; never values.';
comment on column organisation_change.account is 'Name of the account of the centre that it is about; it may be gone.';
comment on table organisation_figures is 'What workers read of each organisation last, once a minute, for the page of the centre.';
comment on column organisation_figures.organisation_id is 'Of which organisation.';
comment on column organisation_figures.asked_at is 'When a worker took it upon itself to read them.';
comment on column organisation_figures.fault is 'Why they could not be read: away (its database does not answer) or unreadable (its tables are not there, or in use); empty: they were.';
comment on column organisation_figures.fault_since is 'Since when that is so.';
comment on column organisation_figures.read_at is 'When they were read.';
comment on column organisation_figures.figures is 'The figures (Figures of src/organisations/figures.ts).';
comment on table beheer_account is 'People of the centre. Columns mean what they mean in the table of that name of an organisation.';
comment on column beheer_account.totp_secret is 'Secret of the one-time codes, sealed with the keys of the installation.';
comment on column beheer_account.sees_centre is 'Whether it may see the page about all organisations.';
comment on table beheer_sign_in_attempt is 'Attempts to sign in to accounts of the centre, over all hosts; as the table of that name of an organisation.';
comment on table membership is 'In which organisations an account of the centre has a role.';
comment on column membership.account_id is 'Whose role.';
comment on column membership.organisation_id is 'In which organisation.';
comment on column membership.rol is 'One of the roles that accounts of an organisation have.';
comment on column membership.may_repair is 'Has the role hersteller beside it.';
comment on column membership.max_vertrouwelijkheidaanduiding is 'Cases and documents above it are not shown.';
comment on column membership.stamp is 'A session counts while its account in the organisation carries this; a new one ends all.';
comment on table switch_code is 'Codes with which somebody who is signed in goes on at another organisation: once, for half a minute.';
comment on column switch_code.key is 'SHA-256 of the code.';
comment on column switch_code.account_id is 'Who goes.';
comment on column switch_code.from_id is 'Where from; the form has to come from a host of it.';
comment on column switch_code.to_id is 'Where to.';
comment on column switch_code.from_stamp is 'Stamp of its role there when it was made: with another one, or none, it does not count.';
comment on column switch_code.session_until is 'When the session there ends at the latest: the next one ends then too.';
comment on column switch_code.expires_at is 'When it ends at the latest.';
