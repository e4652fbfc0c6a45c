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
  client_id text not null default '', header text not null default '', sealed_secret bytea,
  gebruikers_id text not null default '', gebruikers_weergave text not null default '',
  timeout_ms integer not null default 10000 constraint service_timeout_ms_check check (timeout_ms between 100 and 300000),
  created_at timestamptz not null default now(),
  token_url text not null default '', token_scope text not null default '', certificaat text not null default '',
  certificate_key bytea, ca text not null default '',
  constraint service_authenticatie_complete check (case authenticatie
    when 'zgw' then client_id <> '' and sealed_secret is not null
    when 'api_key' then header <> '' and sealed_secret is not null
    when 'oauth2' then client_id <> '' and token_url <> '' and sealed_secret is not null
    else sealed_secret is null end),
  constraint service_certificaat_complete check ((certificaat <> '') = (certificate_key is not null))
);
select describe('service', 'Other services (APIs) that this one may talk to; nothing else is ever called.',
  'uuid', 'Constant name, also what the secret is bound to.', 'label', 'Name for people.', 'slug', 'Name for configuration files.',
  'kind', 'Kind of API: nrc, zrc, ztc, drc, brc, ac or orc (any other).',
  'api_root', 'Where its API begins, with a slash at the end. URLs below it belong to this service.',
  'authenticatie', 'How we identify ourselves: geen, zgw (a JWT of our own), api_key (a header) or oauth2 (client credentials).',
  'client_id', 'Our client id there (zgw, oauth2).', 'header', 'Name of the header that carries the key (api_key).',
  'sealed_secret', 'Secret (zgw, oauth2) or key (api_key), sealed with a key of the ring.', 'gebruikers_id', 'Claim user_id of our tokens.',
  'gebruikers_weergave', 'Claim user_representation of our tokens.',
  'timeout_ms', 'Milliseconds that a call may take, from connecting to the last byte of the answer.',
  'certificate_key', 'Private key of that certificate (PEM); sealed with a key of the ring.',
  'ca', 'Certificates that vouch for the service, instead of the usual ones (PEM); empty: the usual ones.');

-- A change that needs another server is committed first, since that server looks here whether it is true, and recorded
-- (audit trail, notification) when that server has done its part. In between stands a row here, for a job to end what a
-- process left.
create table pending_mirror (
  id bigint generated always as identity primary key,
  kind text not null constraint pending_mirror_kind_check check (kind in ('create', 'delete')),
  actor jsonb not null, changes jsonb not null, changed_rows jsonb not null,
  begun_at timestamptz not null default now()
);
select describe('pending_mirror', 'Changes that wait for another server to do its part. Rows live as long as one call to it; a job ends those of a process that died.',
  'kind', 'create: our rows are there, and go when the other side refuses; delete: our rows are gone, and come back then.',
  'actor', 'Who made the change, as audit records name him.', 'changes', 'The changes as they will be recorded.',
  'changed_rows', 'What undoes it: [{"table", "uuid"}] for create, [{"table", "row"}] for delete.', 'begun_at', 'When it began.');

create table mirror (
  id bigint generated always as identity primary key,
  kind text not null
    constraint mirror_kind_check check (kind in ('zaakbesluit', 'objectinformatieobject', 'objectcontactmoment', 'objectverzoek')),
  source_table text not null, source_uuid uuid not null, list_url text not null,
  content jsonb not null, url text not null default '',
  pending_mirror_id bigint references pending_mirror,
  released boolean not null default false
);
create index mirror_source_uuid_idx on mirror (source_uuid);
create index mirror_pending_mirror_id_idx on mirror (pending_mirror_id) where pending_mirror_id is not null;
select describe('mirror', 'The other side of a relation of ours, at another server: made and removed there by us.',
  'kind', 'Kind of resource at the other side.', 'source_table', 'Our table that holds the relation.', 'source_uuid', 'Our row in it.',
  'list_url', 'URL of the list at the other side that it is posted to.',
  'content', 'What is posted: it also tells ours from others in that list.', 'url', 'Its URL; empty until the other side said it.',
  'pending_mirror_id', 'The change that waits for it; empty: none.',
  'released', 'Whether our side is gone for good: a job removes it there, then here.');

-- A log of requests to other services: what was asked, and what came of it. Never a body or a secret.
create table outgoing_request (
  id bigint generated always as identity primary key,
  begun_at timestamptz not null,
  service text not null, method text not null, host text not null, path text not null,
  status integer, outcome text not null, ms integer not null,
  request_id text not null default ''
);
create index outgoing_request_begun_at_idx on outgoing_request (begun_at);
create index outgoing_request_service_idx on outgoing_request (service, id);
select describe('outgoing_request', 'Requests to other services, for a while. Deliveries of notifications are in delivery_attempt.',
  'id', 'Number, about in the order of their ends.', 'begun_at', 'When it began.', 'service', 'Root of the service.', 'method', 'Method.',
  'host', 'Host and port.', 'path', 'Path and query; numbers of nine digits and the values of secrets are covered.',
  'status', 'Status of the answer; empty when none came.', 'outcome', 'answered, or why no answer came.',
  'ms', 'Milliseconds that it took.', 'request_id', 'Id of the request to us that it was done for; empty when there is none.');
