-- An account is bound to somebody at a provider by an invitation, and by no name that he chose himself.
alter table beheer_account
  add column invitation bytea,
  add column invited_until timestamptz,
  add constraint beheer_account_invitation_complete check ((invitation is null) = (invited_until is null));
create unique index beheer_account_invitation on beheer_account (invitation) where invitation is not null;
comment on column beheer_account.invitation is 'SHA-256 of the code in the link that binds the account to who signs in with it; used once.';
comment on column beheer_account.invited_until is 'Until when that link counts.';

-- Providers that were given before keep the address that is registered with them, until somebody changes it on both sides.
alter table oidc_provider add column has_own_return boolean not null default false;
comment on column oidc_provider.has_own_return is 'Whether its answers come to an address of its own, so that none of another provider is taken for it.';

-- How confidential a case, document or besluit is, by its uuid; null when there is none (any more).
create function level_of_object(uuid) returns vertrouwelijkheidaanduiding language sql stable parallel safe as $$
  select coalesce(
    (select vertrouwelijkheidaanduiding from zaak where uuid = $1),
    (select vertrouwelijkheidaanduiding from enkelvoudiginformatieobject where uuid = $1),
    (select coalesce(z.vertrouwelijkheidaanduiding, 'openbaar') from besluit b left join zaak z on z.id = b.zaak_id where b.uuid = $1))
$$;

-- How confidential a row of an import is: as the document that it became, else as it says, else as its type; the highest when nothing
-- tells. Arguments: cells, uuid of the document, and the places of vertrouwelijkheidaanduiding and informatieobjecttype (-1: no column).
create function level_of_import_row(json, uuid, integer, integer) returns vertrouwelijkheidaanduiding
language sql stable parallel safe as $$
  select coalesce(
    (select vertrouwelijkheidaanduiding from enkelvoudiginformatieobject where uuid = $2),
    (select l from unnest(enum_range(null::vertrouwelijkheidaanduiding)) l where $3 >= 0 and l::text = lower(btrim($1 ->> $3))),
    (select vertrouwelijkheidaanduiding from informatieobjecttype where $4 >= 0
      and uuid = substring(lower(btrim($1 ->> $4)) from '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$')::uuid),
    'zeer_geheim')
$$;

-- A secret that is sent is sealed with the servers that it is for. Those of a setting stand beside it, since they come from the environment too.
alter table sealed_setting add column servers text[];
comment on column sealed_setting.servers is 'The servers that it was given for, which are sealed with it; null: 1.0.0 sealed it without.';

-- Before anything of signing in changes, a session shows once more that it is of its owner.
alter table beheer_session
  add column confirmed_at timestamptz,
  add column oidc_issuer text,
  add column oidc_sid text,
  add column oidc_id_token bytea;
comment on column beheer_session.confirmed_at is 'When its owner last showed who he is after signing in; null: not yet.';
comment on column beheer_session.oidc_issuer is 'The provider that it was signed in with.';
comment on column beheer_session.oidc_sid is 'The session at the provider, which tells of its end.';
comment on column beheer_session.oidc_id_token is 'What the provider said, sealed: it is asked to end its session with it.';
create index beheer_session_oidc_sid on beheer_session (oidc_sid) where oidc_sid is not null;

-- A link that was mailed makes the browser that opens it one of the account, whose attempts others cannot use up.
create table beheer_browser_link (
  key bytea primary key,
  account_id bigint not null references beheer_account on delete cascade,
  made_at timestamptz not null default now()
);
create index beheer_browser_link_account on beheer_browser_link (account_id);
select describe('beheer_browser_link', 'Links that were mailed to who is kept out of new browsers by the wrong passwords of others; each counts once, for a quarter of an hour.',
  'key', 'SHA-256 of the code in the link.', 'account_id', 'The account that it was mailed to.', 'made_at', 'When it was made.');

-- Keys on devices that somebody signs in with, beside a password.
create table beheer_passkey (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint beheer_passkey_uuid_unique unique,
  account_id bigint not null references beheer_account on delete cascade,
  credential text not null constraint beheer_passkey_credential_unique unique,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null default '{}',
  name text not null,
  created_at timestamptz not null default now(),
  used_at timestamptz not null default now()
);
create index beheer_passkey_account on beheer_passkey (account_id);
select describe('beheer_passkey', 'Passkeys (WebAuthn): keys on devices that somebody signs in with, beside a password.',
  'id', 'Number.', 'uuid', 'Identifies it in the list that its owner sees.', 'account_id', 'Whose it is.',
  'credential', 'What the device knows it by, in base64url.', 'public_key', 'Its public key, in COSE.',
  'counter', 'How often the device used it, as it told the last time; always 0 on many.',
  'transports', 'How the device is reached, as it told.', 'name', 'What its owner calls it.', 'created_at', 'When it was made.',
  'used_at', 'When it was last used; a challenge of before counts no more.');
