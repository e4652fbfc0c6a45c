-- Autorisaties: which applications may use the APIs, how they sign their tokens, and what they may do. A right names one
-- version of a type, or (catalogus_autorisatie) a type in all its versions or all types of a catalogue.

create table applicatie (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint applicatie_uuid_unique unique,
  label text not null,
  heeft_alle_autorisaties boolean not null default false, alleen_is_gereed_voor_publicatie boolean not null default false,
  created_at timestamptz not null default now()
);
comment on table applicatie is 'An application that may use the APIs (Autorisaties API, Applicatie).';
comment on column applicatie.label is 'Name for people.';
comment on column applicatie.heeft_alle_autorisaties is 'True: may do everything; then it has no autorisaties (ac-002).';
comment on column applicatie.alleen_is_gereed_voor_publicatie is 'True: reads only documents with isGereedVoorPublicatie (Autorisaties 1.1.0).';

create table applicatie_client (
  client_id text constraint applicatie_client_id_unique primary key
    constraint applicatie_client_client_id_check check (length(client_id) between 1 and 50),
  applicatie_id bigint not null references applicatie on delete cascade,
  place integer not null default 0
);
create index applicatie_client_applicatie_id_idx on applicatie_client (applicatie_id);
comment on table applicatie_client is 'Client ids of an application; unique over all applications (ac-001).';
comment on column applicatie_client.client_id is 'The client_id claim of its tokens.';
comment on column applicatie_client.place is 'Position in clientIds.';

-- Elsewhere a client id may stand in two applications, and then has the rights of both.
create table applicatie_client_more (
  client_id text not null references applicatie_client on delete cascade on update cascade,
  applicatie_id bigint not null references applicatie on delete cascade,
  place integer not null default 0,
  primary key (client_id, applicatie_id)
);
create index applicatie_client_more_applicatie on applicatie_client_more (applicatie_id);
comment on table applicatie_client_more is 'Further applications of a client id, as they were taken over: the client has their rights too.';
comment on column applicatie_client_more.client_id is 'The client id, with its secrets at its first application.';
comment on column applicatie_client_more.applicatie_id is 'A further application.';
comment on column applicatie_client_more.place is 'Position in clientIds of that application.';

create view applicatie_client_all as
  select client_id, applicatie_id, place from applicatie_client
  union all
  select client_id, applicatie_id, place from applicatie_client_more;
comment on view applicatie_client_all is 'The client ids of an application, those included that have another application too.';
comment on column applicatie_client_all.applicatie_id is 'An application that has it.';

create table applicatie_secret (
  id bigint generated always as identity primary key,
  client_id text not null references applicatie_client on delete cascade on update cascade,
  sealed_secret bytea not null,
  created_at timestamptz not null default now(), expires_at timestamptz, last_signed_at timestamptz
);
create index applicatie_secret_client_id_idx on applicatie_secret (client_id);
comment on table applicatie_secret is 'Signing secrets of a client id. Two may be valid at once, for rotation.';
comment on column applicatie_secret.client_id is 'The client id that signs with it.';
comment on column applicatie_secret.sealed_secret is 'The secret, sealed (AES-256-GCM) with a key of the ring.';
comment on column applicatie_secret.expires_at is 'From this moment on it is not accepted; empty: no end.';
comment on column applicatie_secret.last_signed_at is 'When a token that the client signed with it was taken last, some minutes late. Empty: never.';

-- Tokens of an identity provider (RFC 7519), beside those that clients make themselves.

create table token_issuer (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint token_issuer_uuid_unique unique,
  label text not null,
  issuer text not null constraint token_issuer_issuer_unique unique,
  discovery_url text not null default '', jwks_url text not null default '',
  fixed_keys jsonb,
  audiences text[] not null constraint token_issuer_audiences_check check (cardinality(audiences) > 0),
  algorithms text[] not null constraint token_issuer_algorithms_check
    check (cardinality(algorithms) > 0 and algorithms <@ array['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256',
      'ES384', 'ES512', 'EdDSA']),
  client_claims text[] not null constraint token_issuer_client_claims_check check (cardinality(client_claims) > 0),
  user_claims text[] not null default '{}', user_name_claims text[] not null default '{}',
  organisation_claim text not null default '',
  max_lifetime_seconds integer not null default 21600
    constraint token_issuer_max_lifetime_seconds_check check (max_lifetime_seconds between 60 and 86400),
  leeway_seconds integer not null default 30 constraint token_issuer_leeway_seconds_check check (leeway_seconds between 0 and 300),
  required_scopes text[] not null default '{}',
  requires_certificate boolean not null default false,
  created_at timestamptz not null default now(),
  constraint token_issuer_source_check check (
    (discovery_url <> '')::integer + (jwks_url <> '')::integer + (fixed_keys is not null)::integer <= 1)
);
comment on table token_issuer is 'Identity providers whose tokens are taken. Without discovery_url, jwks_url and fixed_keys the keys are found below the issuer.';
comment on column token_issuer.uuid is 'Last part of its address in the pages.';
comment on column token_issuer.label is 'Name for people.';
comment on column token_issuer.issuer is 'The claim iss of its tokens, exactly.';
comment on column token_issuer.discovery_url is 'Its discovery document, when that is not at the usual place below the issuer.';
comment on column token_issuer.jwks_url is 'Its keys (RFC 7517), when it has no discovery document.';
comment on column token_issuer.fixed_keys is 'Its keys as they were entered: nothing is fetched then.';
comment on column token_issuer.audiences is 'A token has to name one of these in its claim aud.';
comment on column token_issuer.algorithms is 'What its tokens may be signed with. Never HS or none.';
comment on column token_issuer.client_claims is 'Claims with the client id; the first that a token has counts.';
comment on column token_issuer.user_claims is 'Claims with the id of the user, for the audit trail; the first that a token has counts. Empty: none.';
comment on column token_issuer.user_name_claims is 'Claims with the name of the user, in the same way.';
comment on column token_issuer.organisation_claim is 'Claim with the organisation of the client, for the audit trail and the log. Empty: none.';
comment on column token_issuer.max_lifetime_seconds is 'Longest that a token may still live.';
comment on column token_issuer.leeway_seconds is 'Difference of clocks that is forgiven.';
comment on column token_issuer.required_scopes is 'A token has to have one of these in scope, scp or roles. Empty: no such rule.';
comment on column token_issuer.requires_certificate is 'True: only tokens that are bound to the client certificate of the connection (RFC 8705).';

-- Apart from the issuer, since it changes by itself. A row holds the keys that were fetched last, whatever happened since.
create table token_issuer_keys (
  issuer_id bigint constraint token_issuer_keys_pkey primary key references token_issuer on delete cascade,
  keys jsonb,
  fetched_at timestamptz, refresh_at timestamptz, asked_at timestamptz, answered_at timestamptz,
  failure text not null default ''
);
comment on table token_issuer_keys is 'The public keys of an issuer as they were fetched last, for all processes.';
comment on column token_issuer_keys.keys is 'The keys (a JWKS); empty: never fetched.';
comment on column token_issuer_keys.fetched_at is 'When they were fetched.';
comment on column token_issuer_keys.refresh_at is 'From when on they are fetched anew.';
comment on column token_issuer_keys.asked_at is 'When they were asked for last, by whichever process: the next time is 30 seconds later at the earliest.';
comment on column token_issuer_keys.answered_at is 'When that ended, with keys or without.';
comment on column token_issuer_keys.failure is 'Why fetching failed the last time; empty: it did not.';

create table applicatie_issuer_client (
  id bigint generated always as identity primary key,
  issuer_id bigint not null references token_issuer on delete cascade,
  client_id text not null constraint applicatie_issuer_client_client_id_check check (length(client_id) between 1 and 255),
  applicatie_id bigint not null references applicatie on delete cascade,
  created_at timestamptz not null default now(), last_used_at timestamptz,
  constraint applicatie_issuer_client_unique unique (issuer_id, client_id)
);
create index applicatie_issuer_client_applicatie_id_idx on applicatie_issuer_client (applicatie_id);
comment on table applicatie_issuer_client is 'Clients as an issuer knows them, and the application whose rights they have. Apart from client ids with a secret: neither can act as the other.';
comment on column applicatie_issuer_client.client_id is 'The client id in its tokens.';
comment on column applicatie_issuer_client.last_used_at is 'When a token of it was taken last, some minutes late. Empty: never.';

-- Our own token endpoint (RFC 6749, 4.4): what clients show there beside secrets, and what we sign with.

create table applicatie_client_key (
  client_id text constraint applicatie_client_key_pkey primary key references applicatie_client on delete cascade on update cascade,
  keys jsonb, jwks_url text not null default '',
  created_at timestamptz not null default now(),
  constraint applicatie_client_key_source_check check ((keys is null) = (jwks_url <> ''))
);
comment on table applicatie_client_key is 'Public keys of client ids, with which they show who they are at our token endpoint (private_key_jwt, RFC 7523).';
comment on column applicatie_client_key.client_id is 'The client id.';
comment on column applicatie_client_key.keys is 'Its keys (a JWKS). Empty: they are at jwks_url.';
comment on column applicatie_client_key.jwks_url is 'Where its keys are.';

create table oauth_assertion (
  digest bytea constraint oauth_assertion_pkey primary key,
  expires_at timestamptz not null
);
create index oauth_assertion_expires_at_idx on oauth_assertion (expires_at);
comment on table oauth_assertion is 'Assertions that were used at our token endpoint, until they expire: none is taken twice.';
comment on column oauth_assertion.digest is 'SHA-256 of the client id and the claim jti.';
comment on column oauth_assertion.expires_at is 'When it expires. The row goes after that.';

create table oauth_signing_key (
  kid text constraint oauth_signing_key_pkey primary key,
  algorithm text not null constraint oauth_signing_key_algorithm_check check (algorithm in ('EdDSA', 'ES256')),
  public_key jsonb not null, private_key bytea not null,
  created_at timestamptz not null default now(), signs_from timestamptz not null, remove_at timestamptz
);
comment on table oauth_signing_key is 'Keys that our token endpoint signs with, or did. All are published; the newest that may sign does.';
comment on column oauth_signing_key.kid is 'Its name: the thumbprint of the public key (RFC 7638).';
comment on column oauth_signing_key.algorithm is 'What it signs with: TOKEN_ENDPOINT at the time.';
comment on column oauth_signing_key.public_key is 'The public key (a JWK).';
comment on column oauth_signing_key.private_key is 'The private key (a JWK), sealed (AES-256-GCM) with a key of the ring.';
comment on column oauth_signing_key.signs_from is 'From when on it signs: others that check our tokens know it by then.';
comment on column oauth_signing_key.remove_at is 'When it goes: after the last token that it signed has run out. Empty: there is no newer one.';

create table autorisatie (
  id bigint generated always as identity primary key,
  applicatie_id bigint not null references applicatie on delete cascade,
  component text not null
    constraint autorisatie_component_check check (component in ('ac', 'nrc', 'zrc', 'ztc', 'drc', 'brc', 'kc', 'cmc', 'vrc')),
  scopes text[] not null,
  type_url text not null default '', type_uuid uuid,
  max_vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding
);
create index autorisatie_applicatie_id_idx on autorisatie (applicatie_id);
create index autorisatie_type_uuid_idx on autorisatie (type_uuid);
comment on table autorisatie is 'A right of an application: scopes in one component, for one type and up to one confidentiality.';
comment on column autorisatie.id is 'Internal key; also the order in the API.';
comment on column autorisatie.component is 'ac, nrc, zrc, ztc, drc, brc, kc, cmc or vrc.';
comment on column autorisatie.type_url is 'zaaktype, informatieobjecttype or besluittype as the client wrote it; empty where the component has none.';
comment on column autorisatie.type_uuid is 'The uuid of that type when it is one of ours: rights compare this, not the text of the URL.';

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
comment on column catalogus_autorisatie.component is 'zrc (zaaktypen), drc (informatieobjecttypen) or brc (besluittypen).';
comment on column catalogus_autorisatie.type is 'identificatie of a zaaktype, omschrijving of another type: all its versions. Empty: every type of the catalogue.';

create view autorisatie_type as
  select 'zrc' as component, id, uuid, catalogus_id, identificatie as key from zaaktype
  union all
  select 'drc', id, uuid, catalogus_id, omschrijving from informatieobjecttype
  union all
  select 'brc', id, uuid, catalogus_id, omschrijving from besluittype;
comment on view autorisatie_type is 'The types that rights can be about, with what versions of one type have in common (key).';
comment on column autorisatie_type.component is 'zrc (zaaktypen), drc (informatieobjecttypen) or brc (besluittypen).';
comment on column autorisatie_type.id is 'Key of the type in its own table.';
comment on column autorisatie_type.catalogus_id is 'Its catalogue.';
comment on column autorisatie_type.key is 'What all versions of one type have in common: identificatie of a zaaktype, omschrijving of another type.';

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
create trigger applicatie_secret_changed after insert or delete or truncate or update of client_id, sealed_secret, expires_at on applicatie_secret
  for each statement execute function notify_autorisatie_change();
create trigger applicatie_issuer_client_changed after insert or delete or truncate or update of issuer_id, client_id, applicatie_id
  on applicatie_issuer_client
  for each statement execute function notify_autorisatie_change();
create trigger autorisatie_changed after insert or update or delete or truncate on autorisatie
  for each statement execute function notify_autorisatie_change();
create trigger catalogus_autorisatie_changed after insert or update or delete or truncate on catalogus_autorisatie
  for each statement execute function notify_autorisatie_change();

-- A type that comes, goes or changes its name changes what such a right reaches.
create trigger zaaktype_counts_for_autorisaties after insert or delete or truncate or update of catalogus_id, identificatie on zaaktype
  for each statement execute function notify_autorisatie_change();
create trigger informatieobjecttype_counts_for_autorisaties after insert or delete or truncate or update of catalogus_id, omschrijving
  on informatieobjecttype
  for each statement execute function notify_autorisatie_change();
create trigger besluittype_counts_for_autorisaties after insert or delete or truncate or update of catalogus_id, omschrijving on besluittype
  for each statement execute function notify_autorisatie_change();

-- Every process keeps issuers and keys in memory too.
create function notify_token_issuer_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('zaakstroom_token_issuers', '');
  return null;
end $$;
create trigger token_issuer_changed after insert or update or delete or truncate on token_issuer
  for each statement execute function notify_token_issuer_change();
create trigger token_issuer_keys_changed after insert or delete or truncate or update of answered_at on token_issuer_keys
  for each statement execute function notify_token_issuer_change();
