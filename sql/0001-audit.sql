-- What all components share: the order of confidentiality, and the audit trail. Every change of the APIs leaves one row
-- here, in its own transaction, so that the trail can never miss a change nor tell of one that was rolled back.

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
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint audit_uuid_unique unique,
  bron text not null,
  applicatie_id text not null default '', applicatie_weergave text not null default '',
  gebruikers_id text not null default '', gebruikers_weergave text not null default '',
  actie text not null,
  resultaat integer not null,
  hoofd_object text not null, hoofd_object_uuid uuid not null,
  resource text not null, resource_url text not null, resource_weergave text not null default '',
  toelichting text not null default '', logrecord_id text not null default '',
  aanmaakdatum timestamptz not null default now(),
  oud jsonb, nieuw jsonb,
  request_id text not null default '',
  origin jsonb
);
create index audit_hoofd_object_uuid_id_idx on audit (hoofd_object_uuid, id);
comment on table audit is 'Audit trail: one row for every change, written in the transaction of that change.';
comment on column audit.id is 'Internal key; order of the trail. Lines that were taken over are below 0, in the order of their source.';
comment on column audit.bron is 'Component: ac, zrc, ztc, drc or brc.';
comment on column audit.applicatie_id is 'uuid of the application that made the change.';
comment on column audit.applicatie_weergave is 'Its label at that moment.';
comment on column audit.gebruikers_id is 'Claim user_id of the token.';
comment on column audit.gebruikers_weergave is 'Claim user_representation of the token.';
comment on column audit.resultaat is 'HTTP status of the answer.';
comment on column audit.hoofd_object is 'URL of the main object.';
comment on column audit.hoofd_object_uuid is 'uuid of the main object: the trail is read by it.';
comment on column audit.resource is 'Kind of the changed object.';
comment on column audit.resource_url is 'URL of the changed object.';
comment on column audit.resource_weergave is 'The changed object for people.';
comment on column audit.toelichting is 'Header X-Audit-Toelichting.';
comment on column audit.logrecord_id is 'Header X-NLX-Logrecord-ID.';
comment on column audit.aanmaakdatum is 'When the change was made.';
comment on column audit.oud is 'The object before the change, with numbers of persons sealed in their places.';
comment on column audit.nieuw is 'The object after the change, sealed as well.';
comment on column audit.request_id is 'Header X-Request-ID of the request, or the id that it was given.';
comment on column audit.origin is 'Where the request came from: issuer and organisation of its token, and peer, delegator and grant of FSC. Empty: a token that the client made itself.';

-- The keys that something in this database was sealed with, each with a value that tells whether a process has the right one, and the
-- processes that run: a new key seals when all of them have it, and an old one is retired when none of them seals with it.

create table data_key (
  id text constraint data_key_pkey primary key,
  sealed bytea not null,
  created_at timestamptz not null default now(), used_at timestamptz, retired_at timestamptz
);
comment on table data_key is 'Keys that this database was written with.';
comment on column data_key.id is 'Its name in DATA_KEYS; secret-key: SECRET_KEY.';
comment on column data_key.sealed is 'A known text, sealed with it.';
comment on column data_key.created_at is 'When a process brought it first.';
comment on column data_key.used_at is 'When a process began to seal with it; empty: nothing is sealed with it yet.';
comment on column data_key.retired_at is 'When nothing was sealed with it any more, and it was retired.';

create table key_holder (
  id uuid constraint key_holder_pkey primary key,
  keys text[] not null, seals text not null,
  seen_at timestamptz not null default now()
);
comment on table key_holder is 'Processes that run, with their keys.';
comment on column key_holder.id is 'The process.';
comment on column key_holder.keys is 'Names of its keys.';
comment on column key_holder.seals is 'The one that it seals with.';
comment on column key_holder.seen_at is 'Its last sign of life.';

create table reseal (
  place text constraint reseal_pkey primary key,
  key text not null,
  position bigint, until bigint,
  seen bigint not null default 0, resealed bigint not null default 0,
  begun_at timestamptz not null default now(), done_at timestamptz
);
comment on table reseal is 'How far the sealing with the newest key is, by where the sealed values stand.';
comment on column reseal.place is 'The table.';
comment on column reseal.key is 'The key that all gets.';
comment on column reseal.position is 'The last row that was looked at; empty: none yet.';
comment on column reseal.until is 'The last row when it began: later ones are sealed with the newest key.';
comment on column reseal.seen is 'How many rows were looked at.';
comment on column reseal.resealed is 'How many of them were sealed anew.';
comment on column reseal.begun_at is 'When it was asked for.';
comment on column reseal.done_at is 'When it was done.';

-- Settings that are changed in the pages instead of in the environment. Every process keeps them in memory and reads them again on a
-- signal; what the environment says wins.
create table setting (
  name text constraint setting_pkey primary key,
  value text not null,
  changed_at timestamptz not null default now()
);
comment on table setting is 'Settings that were given a value in the pages.';
comment on column setting.name is 'Its name in the environment, such as JWT_EXPIRY.';
comment on column setting.value is 'Its value, written as in the environment.';
comment on column setting.changed_at is 'When it was changed last.';

create function notify_setting_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('zaakstroom_settings', '');
  return null;
end;
$$;
create trigger setting_changed after insert or update or delete or truncate on setting
  for each statement execute function notify_setting_change();

create table idempotency_key (
  applicatie_uuid uuid not null,
  key text not null constraint idempotency_key_key_check check (length(key) between 1 and 255),
  fingerprint bytea not null constraint idempotency_key_fingerprint_check check (length(fingerprint) = 32),
  status smallint,
  answer text,
  made jsonb,
  created_at timestamptz not null default now(),
  constraint idempotency_key_pkey primary key (applicatie_uuid, key)
);
create index idempotency_key_created_at_idx on idempotency_key (created_at);
comment on table idempotency_key is 'Requests that came with an Idempotency-Key, each written in the transaction of its change, with what a repetition of it gets. Removed after IDEMPOTENCY_KEY_HOURS.';
comment on column idempotency_key.applicatie_uuid is 'The application that sent it: keys of others are other keys.';
comment on column idempotency_key.key is 'What the client called it.';
comment on column idempotency_key.fingerprint is 'SHA-256 of the method, the address and the body.';
comment on column idempotency_key.status is 'HTTP status of a refusal, and else 200; empty while other servers are asked.';
comment on column idempotency_key.answer is 'What `mutate` gave back as JSON, or the body of a refusal; empty when it was too large.';
comment on column idempotency_key.made is 'Members of that which the database made.';
comment on column idempotency_key.created_at is 'When it was kept.';

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
