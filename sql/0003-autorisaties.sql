-- Autorisaties: which applications may use the APIs, how they sign their tokens, and what they may do. A right names one
-- version of a type, or (catalogus_autorisatie) a type in all its versions or all types of a catalogue.

create table applicatie (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint applicatie_uuid_unique unique,
  label text not null,
  heeft_alle_autorisaties boolean not null default false, alleen_is_gereed_voor_publicatie boolean not null default false,
  created_at timestamptz not null default now()
);
select describe('applicatie', 'An application that may use the APIs (Autorisaties API, Applicatie).',
  'label', 'Name for people.', 'heeft_alle_autorisaties', 'True: may do everything; then it has no autorisaties (ac-002).',
  'alleen_is_gereed_voor_publicatie', 'True: reads only documents with isGereedVoorPublicatie (Autorisaties 1.1.0).');

create table applicatie_client (
  client_id text constraint applicatie_client_id_unique primary key
    constraint applicatie_client_client_id_check check (length(client_id) between 1 and 50),
  applicatie_id bigint not null references applicatie on delete cascade,
  place integer not null default 0
);
create index applicatie_client_applicatie_id_idx on applicatie_client (applicatie_id);
select describe('applicatie_client', 'Client ids of an application; unique over all applications (ac-001).',
  'client_id', 'The client_id claim of its tokens.', 'place', 'Position in clientIds.');

-- Elsewhere a client id may stand in two applications, and then has the rights of both.
create table applicatie_client_more (
  client_id text not null references applicatie_client on delete cascade on update cascade,
  applicatie_id bigint not null references applicatie on delete cascade,
  place integer not null default 0,
  primary key (client_id, applicatie_id)
);
create index applicatie_client_more_applicatie on applicatie_client_more (applicatie_id);
select describe('applicatie_client_more', 'Further applications of a client id, as they were taken over: the client has their rights too.',
  'client_id', 'The client id, with its secrets at its first application.', 'applicatie_id', 'A further application.',
  'place', 'Position in clientIds of that application.');

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
select describe('applicatie_secret', 'Signing secrets of a client id. Two may be valid at once, for rotation.',
  'client_id', 'The client id that signs with it.', 'sealed_secret', 'The secret, sealed (AES-256-GCM) with a key of the ring.',
  'expires_at', 'From this moment on it is not accepted; empty: no end.',
  'last_signed_at', 'When a token that the client signed with it was taken last, some minutes late. Empty: never.');

-- Tokens of an identity provider (RFC 7519), beside those that clients make themselves.

create table token_issuer (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint token_issuer_uuid_unique unique,
  label text not null,
  issuer text not null constraint token_issuer_issuer_unique unique,
  discovery_url text not null default '', jwks_url text not null default '', fixed_keys jsonb,
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
  required_scopes text[] not null default '{}', requires_certificate boolean not null default false,
  created_at timestamptz not null default now(),
  constraint token_issuer_source_check check (
    (discovery_url <> '')::integer + (jwks_url <> '')::integer + (fixed_keys is not null)::integer <= 1)
);
select describe('token_issuer', 'Identity providers whose tokens are taken. Without discovery_url, jwks_url and fixed_keys the keys are found below the issuer.',
  'uuid', 'Last part of its address in the pages.', 'label', 'Name for people.', 'issuer', 'The claim iss of its tokens, exactly.',
  'discovery_url', 'Its discovery document, when that is not at the usual place below the issuer.',
  'jwks_url', 'Its keys (RFC 7517), when it has no discovery document.',
  'fixed_keys', 'Its keys as they were entered: nothing is fetched then.',
  'audiences', 'A token has to name one of these in its claim aud.', 'algorithms', 'What its tokens may be signed with. Never HS or none.',
  'client_claims', 'Claims with the client id; the first that a token has counts.',
  'user_claims', 'Claims with the id of the user, for the audit trail; the first that a token has counts. Empty: none.',
  'user_name_claims', 'Claims with the name of the user, in the same way.',
  'organisation_claim', 'Claim with the organisation of the client, for the audit trail and the log. Empty: none.',
  'max_lifetime_seconds', 'Longest that a token may still live.', 'leeway_seconds', 'Difference of clocks that is forgiven.',
  'required_scopes', 'A token has to have one of these in scope, scp or roles. Empty: no such rule.',
  'requires_certificate', 'True: only tokens that are bound to the client certificate of the connection (RFC 8705).');

-- Apart from the issuer, since it changes by itself. A row holds the keys that were fetched last, whatever happened since.
create table token_issuer_keys (
  issuer_id bigint constraint token_issuer_keys_pkey primary key references token_issuer on delete cascade,
  keys jsonb,
  fetched_at timestamptz, refresh_at timestamptz, asked_at timestamptz, answered_at timestamptz,
  failure text not null default ''
);
select describe('token_issuer_keys', 'The public keys of an issuer as they were fetched last, for all processes.',
  'keys', 'The keys (a JWKS); empty: never fetched.', 'fetched_at', 'When they were fetched.',
  'refresh_at', 'From when on they are fetched anew.',
  'asked_at', 'When they were asked for last, by whichever process: the next time is 30 seconds later at the earliest.',
  'answered_at', 'When that ended, with keys or without.', 'failure', 'Why fetching failed the last time; empty: it did not.');

create table applicatie_issuer_client (
  id bigint generated always as identity primary key,
  issuer_id bigint not null references token_issuer on delete cascade,
  client_id text not null constraint applicatie_issuer_client_client_id_check check (length(client_id) between 1 and 255),
  applicatie_id bigint not null references applicatie on delete cascade,
  created_at timestamptz not null default now(), last_used_at timestamptz,
  constraint applicatie_issuer_client_unique unique (issuer_id, client_id)
);
create index applicatie_issuer_client_applicatie_id_idx on applicatie_issuer_client (applicatie_id);
select describe('applicatie_issuer_client', 'Clients as an issuer knows them, and the application whose rights they have. Apart from client ids with a secret: neither can act as the other.',
  'client_id', 'The client id in its tokens.', 'last_used_at', 'When a token of it was taken last, some minutes late. Empty: never.');

-- Our own token endpoint (RFC 6749, 4.4): what clients show there beside secrets, and what we sign with.

create table applicatie_client_key (
  client_id text constraint applicatie_client_key_pkey primary key references applicatie_client on delete cascade on update cascade,
  keys jsonb, jwks_url text not null default '', created_at timestamptz not null default now(),
  constraint applicatie_client_key_source_check check ((keys is null) = (jwks_url <> ''))
);
select describe('applicatie_client_key', 'Public keys of client ids, with which they show who they are at our token endpoint (private_key_jwt, RFC 7523).',
  'client_id', 'The client id.', 'keys', 'Its keys (a JWKS). Empty: they are at jwks_url.', 'jwks_url', 'Where its keys are.');

create table oauth_assertion (
  digest bytea constraint oauth_assertion_pkey primary key,
  expires_at timestamptz not null
);
create index oauth_assertion_expires_at_idx on oauth_assertion (expires_at);
select describe('oauth_assertion', 'Assertions that were used at our token endpoint, until they expire: none is taken twice.',
  'digest', 'SHA-256 of the client id and the claim jti.', 'expires_at', 'When it expires. The row goes after that.');

create table oauth_signing_key (
  kid text constraint oauth_signing_key_pkey primary key,
  algorithm text not null constraint oauth_signing_key_algorithm_check check (algorithm in ('EdDSA', 'ES256')),
  public_key jsonb not null, private_key bytea not null,
  created_at timestamptz not null default now(), signs_from timestamptz not null, remove_at timestamptz
);
select describe('oauth_signing_key', 'Keys that our token endpoint signs with, or did. All are published; the newest that may sign does.',
  'kid', 'Its name: the thumbprint of the public key (RFC 7638).', 'algorithm', 'What it signs with: TOKEN_ENDPOINT at the time.',
  'public_key', 'The public key (a JWK).', 'private_key', 'The private key (a JWK), sealed (AES-256-GCM) with a key of the ring.',
  'signs_from', 'From when on it signs: others that check our tokens know it by then.',
  'remove_at', 'When it goes: after the last token that it signed has run out. Empty: there is no newer one.');

create table autorisatie (
  id bigint generated always as identity primary key,
  applicatie_id bigint not null references applicatie on delete cascade,
  component text not null
    constraint autorisatie_component_check check (component in ('ac', 'nrc', 'zrc', 'ztc', 'drc', 'brc', 'kc', 'cmc', 'vrc')),
  scopes text[] not null, type_url text not null default '', type_uuid uuid,
  max_vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding
);
create index autorisatie_applicatie_id_idx on autorisatie (applicatie_id);
create index autorisatie_type_uuid_idx on autorisatie (type_uuid);
select describe('autorisatie', 'A right of an application: scopes in one component, for one type and up to one confidentiality.',
  'id', 'Internal key; also the order in the API.', 'component', 'ac, nrc, zrc, ztc, drc, brc, kc, cmc or vrc.',
  'type_url', 'zaaktype, informatieobjecttype or besluittype as the client wrote it; empty where the component has none.',
  'type_uuid', 'The uuid of that type when it is one of ours: rights compare this, not the text of the URL.');

create table catalogus_autorisatie (
  id bigint generated always as identity primary key,
  applicatie_id bigint not null references applicatie on delete cascade,
  component text not null constraint catalogus_autorisatie_component_check check (component in ('zrc', 'drc', 'brc')),
  catalogus_id bigint not null references catalogus on delete cascade,
  type text not null default '', scopes text[] not null,
  max_vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding
);
create index catalogus_autorisatie_applicatie_id_idx on catalogus_autorisatie (applicatie_id);
create index catalogus_autorisatie_catalogus_id_idx on catalogus_autorisatie (catalogus_id);
select describe('catalogus_autorisatie', 'A right of an application that names no version of a type, so that types and versions made later fall under it.',
  'id', 'Internal key; also the order in the API.', 'component', 'zrc (zaaktypen), drc (informatieobjecttypen) or brc (besluittypen).',
  'type', 'identificatie of a zaaktype, omschrijving of another type: all its versions. Empty: every type of the catalogue.');

create view autorisatie_type as
  select 'zrc' as component, id, uuid, catalogus_id, identificatie as key from zaaktype
  union all
  select 'drc', id, uuid, catalogus_id, omschrijving from informatieobjecttype
  union all
  select 'brc', id, uuid, catalogus_id, omschrijving from besluittype;
select describe('autorisatie_type', 'The types that rights can be about, with what versions of one type have in common (key).',
  'component', 'zrc (zaaktypen), drc (informatieobjecttypen) or brc (besluittypen).', 'id', 'Key of the type in its own table.',
  'catalogus_id', 'Its catalogue.',
  'key', 'What all versions of one type have in common: identificatie of a zaaktype, omschrijving of another type.');
