-- The administration pages: accounts, sessions and the record of changes. Nothing of the APIs depends on these tables.

create table beheer_account (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint beheer_account_uuid_unique unique,
  gebruikersnaam text not null constraint beheer_account_gebruikersnaam_check check (gebruikersnaam ~ '^[[:graph:]]{1,150}$'),
  naam text not null default '' constraint beheer_account_naam_check check (length(naam) <= 200),
  email text not null default '' constraint beheer_account_email_check check (length(email) <= 254),
  rol text not null constraint beheer_account_rol_check check (rol in ('viewer', 'privacy', 'operator', 'administrator')),
  max_vertrouwelijkheidaanduiding text not null default 'vertrouwelijk'
    constraint beheer_account_max_vertrouwelijkheidaanduiding_check check (max_vertrouwelijkheidaanduiding in
    ('openbaar', 'beperkt_openbaar', 'intern', 'zaakvertrouwelijk', 'vertrouwelijk', 'confidentieel', 'geheim', 'zeer_geheim')),
  password_hash text, totp_secret bytea, totp_step bigint, totp_since timestamptz,
  oidc_issuer text, oidc_subject text, actief boolean not null default true,
  failed_attempts integer not null default 0,
  last_sign_in_at timestamptz, created_at timestamptz not null default now(),
  failed_since timestamptz, failed_last timestamptz,
  password_given boolean not null default false, may_repair boolean not null default false,
  alert_kinds text[] not null default '{}', alert_digest text not null default 'nooit',
  centre_stamp uuid,
  constraint beheer_account_oidc_complete check ((oidc_issuer is null) = (oidc_subject is null)),
  constraint beheer_account_centre_keeps_secrets check (centre_stamp is null or coalesce(password_hash, oidc_subject) is null and totp_secret is null)
);
create unique index beheer_account_gebruikersnaam_unique on beheer_account (lower(gebruikersnaam));
create unique index beheer_account_oidc_unique on beheer_account (oidc_issuer, oidc_subject);
select describe('beheer_account', 'People who may use the administration pages.',
  'id', 'Number.', 'uuid', 'Identifies the account in addresses of pages.',
  'gebruikersnaam', 'Name to sign in with; unique whatever its case.', 'naam', 'Name for people, as audit records show it.',
  'email', 'E-mail address, where alerts go.',
  'rol', 'viewer looks, privacy looks and also sees who looked at cases and persons, operator also acts (imports, sending again), administrator also changes settings, rights and accounts.',
  'max_vertrouwelijkheidaanduiding', 'Cases and documents above it are not shown.',
  'password_hash', 'argon2id hash with its parameters and salt; empty: signs in with OpenID Connect only.',
  'totp_secret', 'Secret of the one-time codes, sealed with a key of the ring; empty: none asked.',
  'totp_step', 'Time step of the last code that was used: each code counts once.',
  'totp_since', 'When one-time codes were confirmed; empty while they are being set up.',
  'oidc_issuer', 'OpenID Connect provider that the account belongs to.', 'oidc_subject', 'Who it is there (claim sub).',
  'actief', 'False: cannot sign in.', 'failed_attempts', 'Wrong passwords and codes since it last signed in, told to whoever signs in.',
  'last_sign_in_at', 'When it last signed in.', 'failed_since', 'When the first of them was; empty: none.',
  'failed_last', 'When the last of them was; empty: none.',
  'may_repair', 'Has the role hersteller beside its own: may correct cases and documents by hand.',
  'password_given', 'The password was given by somebody else: the next sign-in asks for another.',
  'alert_kinds', 'Kinds of alerts that it is mailed at once (KINDS of src/operations/alerts/kinds.ts).',
  'alert_digest', 'Whether it is mailed a digest every day: nooit, nodig (when there is something) or altijd.',
  'centre_stamp', 'Set: an account of the centre, with the uuid that it has there. Its sessions count while the registry has this stamp.');

create table beheer_session (
  id bigint generated always as identity primary key, uuid uuid not null default gen_random_uuid() constraint beheer_session_uuid_unique unique,
  key bytea not null constraint beheer_session_key_unique unique,
  account_id bigint not null references beheer_account on delete cascade,
  step text not null default 'signed-in' constraint beheer_session_step_check check (step in ('totp', 'signed-in')),
  created_at timestamptz not null default now(), seen_at timestamptz not null default now(), expires_at timestamptz not null,
  address text not null default '', browser text not null default '',
  notices jsonb
);
create index beheer_session_account on beheer_session (account_id);
select describe('beheer_session', 'Who is signed in. A row that is gone is a session that has ended, on every process at once.',
  'id', 'Number.', 'uuid', 'Identifies the session in the list that its owner sees.', 'key', 'SHA-256 of the value in the cookie.',
  'account_id', 'Whose session.', 'step', 'totp: the password was right, the one-time code is still to come. signed-in: signed in.',
  'created_at', 'When it began.', 'seen_at', 'Last request, to the minute.', 'expires_at', 'When it ends at the latest.',
  'address', 'Network address that it began from.', 'browser', 'What the browser called itself.',
  'notices', 'What pages are to say next: a list, each with the path of its page, or * for the first page whatever it is.');

-- Wrong passwords and codes slow down whoever enters them, in place of locking the account, which would let anybody keep an
-- administrator out. Attempts are counted by name and address; a browser that signed in before has a count of its own.
create table beheer_sign_in_attempt (
  key bytea constraint beheer_sign_in_attempt_pkey primary key,
  account_id bigint references beheer_account on delete cascade,
  count integer not null, open_at timestamptz not null,
  forget_at timestamptz not null
);
create index beheer_sign_in_attempt_account on beheer_sign_in_attempt (account_id);
create index beheer_sign_in_attempt_forget_at on beheer_sign_in_attempt (forget_at);
select describe('beheer_sign_in_attempt', 'Failed attempts to sign in, counted by what slows them down. A row that is gone is a count that starts anew.',
  'key', 'SHA-256 of what is counted: a name and an address, a name, a known browser, codes of an account, a client id at the token endpoint.',
  'account_id', 'Whose account; empty: a name that nobody has, or a client id.', 'count', 'Attempts, also one that is being looked at.',
  'open_at', 'No attempt is looked at before this moment.', 'forget_at', 'After this moment the count starts anew.');

create table beheer_browser (
  id bigint generated always as identity primary key,
  key bytea not null,
  account_id bigint not null references beheer_account on delete cascade,
  seen_at timestamptz not null default now(),
  constraint beheer_browser_unique unique (key, account_id)
);
create index beheer_browser_account on beheer_browser (account_id);
select describe('beheer_browser', 'Browsers that signed in to an account before. They get nothing but a count of failed attempts of their own.',
  'id', 'Number; stays when the cookie gets another value.', 'key', 'SHA-256 of the value in the cookie.', 'account_id', 'The account.',
  'seen_at', 'When it last signed in.');

create table oidc_provider (
  id bigint generated always as identity primary key, uuid uuid not null constraint oidc_provider_uuid_unique unique,
  label text not null, issuer text not null constraint oidc_provider_issuer_unique unique,
  client_id text not null, sealed_secret bytea,
  scopes text not null, role_claim text not null,
  viewer text[] not null, privacy text[] not null, operator text[] not null, administrator text[] not null,
  is_active boolean not null
);
select describe('oidc_provider', 'Providers of OpenID Connect for the pages that were given there. That of the environment is none of them.',
  'uuid', 'Identifies the provider, and what its secret is bound to.', 'label', 'Name for people, on the sign-in page.',
  'issuer', 'Its address, as its tokens name it.', 'client_id', 'Our client id there.',
  'sealed_secret', 'Our secret there, sealed with a key of the ring; empty: a public client.', 'scopes', 'Scopes that are asked, with spaces.',
  'role_claim', 'Claim of the ID token with the groups.', 'viewer', 'Groups that mean viewer.', 'privacy', 'Groups that mean privacy.',
  'operator', 'Groups that mean operator.',
  'administrator', 'Groups that mean administrator.', 'is_active', 'Whether people may sign in with it.');

-- What people are told of, by mail and webhook: src/operations/alerts/look.ts tells how.
create table alert (
  id bigint generated always as identity primary key,
  key text not null,
  kind text not null, level integer not null default 1, text text not null, path text not null,
  since timestamptz not null default now(), missing_since timestamptz, ended_at timestamptz
);
create unique index alert_open on alert (key) where ended_at is null;
select describe('alert', 'What somebody should know of, from its begin to its end. Those that ended are kept for 90 days.',
  'id', 'Number.', 'key', 'What it is about, such as abonnement:<uuid>: one of these is open at a time.',
  'kind', 'Kind, by which people choose.', 'level', 'How bad it is; it is told again when that rises.',
  'text', 'What was told last.', 'path', 'The page about it, below /beheer.', 'since', 'When it was found.',
  'missing_since', 'Since when it is not found any more; it ends when that lasts.',
  'ended_at', 'When it ended; empty: it goes on.');

create table alert_message (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid(),
  account_id bigint references beheer_account on delete cascade,
  kind text not null, lines jsonb not null,
  created_at timestamptz not null default now(), next_at timestamptz not null default now(),
  attempts integer not null default 0,
  sent_at timestamptz, fault text not null default ''
);
create index alert_message_account on alert_message (account_id);
create index alert_message_due on alert_message (next_at) where sent_at is null;
select describe('alert_message', 'What is told to whom, and whether it was. Kept for 30 days.',
  'id', 'Number.', 'uuid', 'Identifies it for the receiver, at every attempt.',
  'account_id', 'Who is mailed; empty: it goes to the webhook.', 'kind', 'melding or samenvatting.',
  'lines', 'What it says: a list of event, kind, text, path and moment.',
  'next_at', 'When it is tried next; during an attempt, when that counts as lost.', 'attempts', 'Attempts begun.',
  'sent_at', 'When it was accepted.', 'fault', 'Why the last attempt failed.');

create table beheer_saved_filter (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint beheer_saved_filter_uuid_unique unique,
  account_id bigint not null references beheer_account on delete cascade,
  path text not null, name text not null, query text not null,
  constraint beheer_saved_filter_name_unique unique (account_id, path, name)
);
select describe('beheer_saved_filter', 'Filters of lists that somebody keeps for himself.',
  'id', 'Number; the oldest make way.', 'uuid', 'Identifies the filter in forms.', 'account_id', 'Whose filter.',
  'path', 'The list, by its path below /beheer.', 'name', 'What its owner calls it.', 'query', 'The filters as they stand in the address.');

create table beheer_audit (
  id bigint generated always as identity primary key,
  tijdstip timestamptz not null default now(), account_uuid uuid,
  gebruiker text not null, herkomst text not null default '', handeling text not null,
  resultaat text not null default 'geslaagd' constraint beheer_audit_resultaat_check check (resultaat in ('geslaagd', 'geweigerd')),
  object_kind text not null, object_id text not null default '', object_weergave text not null default '',
  oud jsonb,
  nieuw jsonb
);
create index beheer_audit_object on beheer_audit (object_kind, object_id, id);
create index beheer_audit_gebruiker on beheer_audit (gebruiker, id);
create index beheer_audit_handeling on beheer_audit (handeling, id);
create index beheer_audit_tijdstip on beheer_audit (tijdstip);
select describe('beheer_audit', 'Every change made in the administration pages, and every attempt to sign in. Rows are added, never changed or removed.',
  'id', 'Number, in the order of the changes.', 'tijdstip', 'When.', 'account_uuid', 'Who; empty when nobody was signed in.',
  'gebruiker', 'Name of the account at that time.', 'herkomst', 'Network address of the browser.',
  'handeling', 'What was done, as a short code such as account-maken.', 'resultaat', 'Whether it was done or refused.',
  'object_kind', 'Kind of what it was done to.', 'object_id', 'Which one.', 'object_weergave', 'The object for people.',
  'oud', 'State before; secrets are never in it.', 'nieuw', 'State after; secrets are never in it.');

create function beheer_audit_stays() returns trigger language plpgsql as $$
begin
  raise exception 'beheer_audit only grows' using errcode = 'restrict_violation';
end $$;
comment on function beheer_audit_stays is 'Refuses to change or remove records of changes.';
create trigger beheer_audit_stays before update or delete or truncate on beheer_audit
  for each statement execute function beheer_audit_stays();
