-- Other services that this one talks to, and the other side of relations with them, which we keep in step there.

create table service (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint service_uuid_unique unique,
  label text not null constraint service_label_check check (length(label) between 1 and 100),
  slug text not null constraint service_slug_unique unique constraint service_slug_check check (slug ~ '^[-a-zA-Z0-9_]{1,100}$'),
  kind text not null constraint service_kind_check check (kind in ('nrc', 'zrc', 'ztc', 'drc', 'brc', 'ac', 'orc')),
  api_root text not null
    constraint service_api_root_unique unique constraint service_api_root_check check (api_root ~ '^https?://[^/?#@]+/([^?#]*/)?$'),
  authenticatie text not null default 'geen'
    constraint service_authenticatie_check check (authenticatie in ('geen', 'zgw', 'api_key', 'oauth2')),
  client_id text not null default '', header text not null default '',
  sealed_secret bytea,
  gebruikers_id text not null default '', gebruikers_weergave text not null default '',
  timeout_ms integer not null default 10000 constraint service_timeout_ms_check check (timeout_ms between 100 and 300000),
  created_at timestamptz not null default now(),
  token_url text not null default '', token_scope text not null default '', certificaat text not null default '',
  certificate_key bytea,
  ca text not null default '',
  constraint service_authenticatie_complete check (case authenticatie
    when 'zgw' then client_id <> '' and sealed_secret is not null
    when 'api_key' then header <> '' and sealed_secret is not null
    when 'oauth2' then client_id <> '' and token_url <> '' and sealed_secret is not null
    else sealed_secret is null end),
  constraint service_certificaat_complete check ((certificaat <> '') = (certificate_key is not null))
);
comment on table service is 'Other services (APIs) that this one may talk to; nothing else is ever called.';
comment on column service.uuid is 'Constant name, also what the secret is bound to.';
comment on column service.label is 'Name for people.';
comment on column service.slug is 'Name for configuration files.';
comment on column service.kind is 'Kind of API: nrc, zrc, ztc, drc, brc, ac or orc (any other).';
comment on column service.api_root is 'Where its API begins, with a slash at the end. URLs below it belong to this service.';
comment on column service.authenticatie is 'How we identify ourselves: geen, zgw (a JWT of our own), api_key (a header) or oauth2 (client credentials).';
comment on column service.client_id is 'Our client id there (zgw, oauth2).';
comment on column service.header is 'Name of the header that carries the key (api_key).';
comment on column service.sealed_secret is 'Secret (zgw, oauth2) or key (api_key), sealed with a key of the ring.';
comment on column service.gebruikers_id is 'Claim user_id of our tokens.';
comment on column service.gebruikers_weergave is 'Claim user_representation of our tokens.';
comment on column service.timeout_ms is 'Milliseconds that a call may take, from connecting to the last byte of the answer.';
comment on column service.certificate_key is 'Private key of that certificate (PEM); sealed with a key of the ring.';
comment on column service.ca is 'Certificates that vouch for the service, instead of the usual ones (PEM); empty: the usual ones.';

-- A change that needs another server is committed first, since that server looks here whether it is true, and recorded
-- (audit trail, notification) when that server has done its part. In between stands a row here, for a job to end what a
-- process left.
create table pending_mirror (
  id bigint generated always as identity primary key,
  kind text not null constraint pending_mirror_kind_check check (kind in ('create', 'delete')),
  actor jsonb not null, changes jsonb not null, changed_rows jsonb not null,
  begun_at timestamptz not null default now()
);
comment on table pending_mirror is 'Changes that wait for another server to do its part. Rows live as long as one call to it; a job ends those of a process that died.';
comment on column pending_mirror.kind is 'create: our rows are there, and go when the other side refuses; delete: our rows are gone, and come back then.';
comment on column pending_mirror.actor is 'Who made the change, as audit records name him.';
comment on column pending_mirror.changes is 'The changes as they will be recorded.';
comment on column pending_mirror.changed_rows is 'What undoes it: [{"table", "uuid"}] for create, [{"table", "row"}] for delete.';
comment on column pending_mirror.begun_at is 'When it began.';

create table mirror (
  id bigint generated always as identity primary key,
  kind text not null
    constraint mirror_kind_check check (kind in ('zaakbesluit', 'objectinformatieobject', 'objectcontactmoment', 'objectverzoek')),
  source_table text not null,
  source_uuid uuid not null,
  list_url text not null,
  content jsonb not null,
  url text not null default '',
  pending_mirror_id bigint references pending_mirror,
  released boolean not null default false
);
create index mirror_source_uuid_idx on mirror (source_uuid);
create index mirror_pending_mirror_id_idx on mirror (pending_mirror_id) where pending_mirror_id is not null;
comment on table mirror is 'The other side of a relation of ours, at another server: made and removed there by us.';
comment on column mirror.kind is 'Kind of resource at the other side.';
comment on column mirror.source_table is 'Our table that holds the relation.';
comment on column mirror.source_uuid is 'Our row in it.';
comment on column mirror.list_url is 'URL of the list at the other side that it is posted to.';
comment on column mirror.content is 'What is posted: it also tells ours from others in that list.';
comment on column mirror.url is 'Its URL; empty until the other side said it.';
comment on column mirror.pending_mirror_id is 'The change that waits for it; empty: none.';
comment on column mirror.released is 'Whether our side is gone for good: a job removes it there, then here.';

-- A log of requests to other services: what was asked, and what came of it. Never a body or a secret.
create table outgoing_request (
  id bigint generated always as identity primary key,
  begun_at timestamptz not null,
  service text not null, method text not null, host text not null, path text not null,
  status integer,
  outcome text not null,
  ms integer not null,
  request_id text not null default ''
);
create index outgoing_request_begun_at_idx on outgoing_request (begun_at);
create index outgoing_request_service_idx on outgoing_request (service, id);
comment on table outgoing_request is 'Requests to other services, for a while. Deliveries of notifications are in delivery_attempt.';
comment on column outgoing_request.id is 'Number, about in the order of their ends.';
comment on column outgoing_request.begun_at is 'When it began.';
comment on column outgoing_request.service is 'Root of the service.';
comment on column outgoing_request.method is 'Method.';
comment on column outgoing_request.host is 'Host and port.';
comment on column outgoing_request.path is 'Path and query; numbers of nine digits and the values of secrets are covered.';
comment on column outgoing_request.status is 'Status of the answer; empty when none came.';
comment on column outgoing_request.outcome is 'answered, or why no answer came.';
comment on column outgoing_request.ms is 'Milliseconds that it took.';
comment on column outgoing_request.request_id is 'Id of the request to us that it was done for; empty when there is none.';
