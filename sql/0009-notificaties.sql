-- Other services that this one talks to, and the delivery of notifications to one of them.

create table dienst (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint dienst_uuid_uniek unique,
  label text not null check (length(label) between 1 and 100),
  slug text not null constraint dienst_slug_uniek unique check (slug ~ '^[-a-zA-Z0-9_]{1,100}$'),
  soort text not null check (soort in ('nrc', 'zrc', 'ztc', 'drc', 'brc', 'ac', 'orc')),
  api_root text not null constraint dienst_api_root_uniek unique check (api_root ~ '^https?://[^/?#@]+/([^?#]*/)?$'),
  authenticatie text not null default 'geen' check (authenticatie in ('geen', 'zgw', 'api_key')),
  client_id text not null default '',
  header text not null default '',
  geheim bytea,
  gebruikers_id text not null default '',
  gebruikers_weergave text not null default '',
  termijn_ms integer not null default 10000 check (termijn_ms between 100 and 300000),
  gemaakt_op timestamptz not null default now(),
  constraint dienst_authenticatie_volledig check (case authenticatie
    when 'zgw' then client_id <> '' and geheim is not null
    when 'api_key' then header <> '' and geheim is not null
    else geheim is null end)
);
comment on table dienst is 'Other services (APIs) that this one may talk to; nothing else is ever called.';
comment on column dienst.id is 'Internal key.';
comment on column dienst.uuid is 'Constant name, also what the secret is bound to.';
comment on column dienst.label is 'Name for people.';
comment on column dienst.slug is 'Name for configuration files.';
comment on column dienst.soort is 'Kind of API: nrc, zrc, ztc, drc, brc, ac or orc (any other).';
comment on column dienst.api_root is 'Where its API begins, with a slash at the end. URLs below it belong to this service.';
comment on column dienst.authenticatie is 'How we identify ourselves: geen, zgw (a JWT of our own) or api_key (a header).';
comment on column dienst.client_id is 'Our client id there (zgw).';
comment on column dienst.header is 'Name of the header that carries the key (api_key).';
comment on column dienst.geheim is 'Secret (zgw) or key (api_key), encrypted with SECRET_KEY.';
comment on column dienst.gebruikers_id is 'Claim user_id of our tokens.';
comment on column dienst.gebruikers_weergave is 'Claim user_representation of our tokens.';
comment on column dienst.termijn_ms is 'Milliseconds that a call may take, from connecting to the last byte of the answer.';
comment on column dienst.gemaakt_op is 'When it was made.';
