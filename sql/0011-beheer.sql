-- The administration pages: accounts, sessions and the record of changes. Nothing of the APIs depends on these tables.

create table beheer_account (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint beheer_account_uuid_unique unique,
  gebruikersnaam text not null constraint beheer_account_gebruikersnaam_check check (gebruikersnaam ~ '^[[:graph:]]{1,150}$'),
  naam text not null default '' constraint beheer_account_naam_check check (length(naam) <= 200),
  email text not null default '' constraint beheer_account_email_check check (length(email) <= 254),
  rol text not null constraint beheer_account_rol_check check (rol in ('viewer', 'operator', 'administrator')),
  max_vertrouwelijkheidaanduiding text not null default 'vertrouwelijk'
    constraint beheer_account_max_vertrouwelijkheidaanduiding_check check (max_vertrouwelijkheidaanduiding in
    ('openbaar', 'beperkt_openbaar', 'intern', 'zaakvertrouwelijk', 'vertrouwelijk', 'confidentieel', 'geheim', 'zeer_geheim')),
  password_hash text,
  totp_secret bytea, totp_step bigint, totp_since timestamptz,
  oidc_issuer text, oidc_subject text,
  actief boolean not null default true,
  failed_attempts integer not null default 0,
  last_sign_in_at timestamptz, created_at timestamptz not null default now(),
  failed_since timestamptz, failed_last timestamptz,
  password_given boolean not null default false,
  may_repair boolean not null default false,
  constraint beheer_account_oidc_complete check ((oidc_issuer is null) = (oidc_subject is null))
);
create unique index beheer_account_gebruikersnaam_unique on beheer_account (lower(gebruikersnaam));
create unique index beheer_account_oidc_unique on beheer_account (oidc_issuer, oidc_subject);
comment on table beheer_account is 'People who may use the administration pages.';
comment on column beheer_account.id is 'Number.';
comment on column beheer_account.uuid is 'Identifies the account in addresses of pages.';
comment on column beheer_account.gebruikersnaam is 'Name to sign in with; unique whatever its case.';
comment on column beheer_account.naam is 'Name for people, as audit records show it.';
comment on column beheer_account.email is 'E-mail address, for people only: nothing is sent.';
comment on column beheer_account.rol is 'viewer looks, operator also acts (imports, sending again), administrator also changes settings, rights and accounts.';
comment on column beheer_account.max_vertrouwelijkheidaanduiding is 'Cases and documents above it are not shown.';
comment on column beheer_account.password_hash is 'argon2id hash with its parameters and salt; empty: signs in with OpenID Connect only.';
comment on column beheer_account.totp_secret is 'Secret of the one-time codes, sealed with a key of the ring; empty: none asked.';
comment on column beheer_account.totp_step is 'Time step of the last code that was used: each code counts once.';
comment on column beheer_account.totp_since is 'When one-time codes were confirmed; empty while they are being set up.';
comment on column beheer_account.oidc_issuer is 'OpenID Connect provider that the account belongs to.';
comment on column beheer_account.oidc_subject is 'Who it is there (claim sub).';
comment on column beheer_account.actief is 'False: cannot sign in.';
comment on column beheer_account.failed_attempts is 'Wrong passwords and codes since it last signed in, told to whoever signs in.';
comment on column beheer_account.last_sign_in_at is 'When it last signed in.';
comment on column beheer_account.failed_since is 'When the first of them was; empty: none.';
comment on column beheer_account.failed_last is 'When the last of them was; empty: none.';
comment on column beheer_account.may_repair is 'Has the role hersteller beside its own: may correct cases and documents by hand.';
comment on column beheer_account.password_given is 'The password was given by somebody else: the next sign-in asks for another.';

create table beheer_session (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint beheer_session_uuid_unique unique,
  key bytea not null constraint beheer_session_key_unique unique,
  account_id bigint not null references beheer_account on delete cascade,
  step text not null default 'signed-in' constraint beheer_session_step_check check (step in ('totp', 'signed-in')),
  created_at timestamptz not null default now(), seen_at timestamptz not null default now(), expires_at timestamptz not null,
  address text not null default '', browser text not null default '',
  notices jsonb
);
create index beheer_session_account on beheer_session (account_id);
comment on table beheer_session is 'Who is signed in. A row that is gone is a session that has ended, on every process at once.';
comment on column beheer_session.id is 'Number.';
comment on column beheer_session.uuid is 'Identifies the session in the list that its owner sees.';
comment on column beheer_session.key is 'SHA-256 of the value in the cookie.';
comment on column beheer_session.account_id is 'Whose session.';
comment on column beheer_session.step is 'totp: the password was right, the one-time code is still to come. signed-in: signed in.';
comment on column beheer_session.created_at is 'When it began.';
comment on column beheer_session.seen_at is 'Last request, to the minute.';
comment on column beheer_session.expires_at is 'When it ends at the latest.';
comment on column beheer_session.address is 'Network address that it began from.';
comment on column beheer_session.browser is 'What the browser called itself.';
comment on column beheer_session.notices is 'What pages are to say next: a list, each with the path of its page, or * for the first page whatever it is.';

-- Wrong passwords and codes slow down whoever enters them, in place of locking the account, which would let anybody keep an
-- administrator out. Attempts are counted by name and address; a browser that signed in before has a count of its own.
create table beheer_sign_in_attempt (
  key bytea constraint beheer_sign_in_attempt_pkey primary key,
  account_id bigint references beheer_account on delete cascade,
  count integer not null,
  open_at timestamptz not null,
  forget_at timestamptz not null
);
create index beheer_sign_in_attempt_account on beheer_sign_in_attempt (account_id);
create index beheer_sign_in_attempt_forget_at on beheer_sign_in_attempt (forget_at);
comment on table beheer_sign_in_attempt is 'Failed attempts to sign in, counted by what slows them down. A row that is gone is a count that starts anew.';
comment on column beheer_sign_in_attempt.key is 'SHA-256 of what is counted: a name and an address, a name, a known browser, codes of an account, a client id at the token endpoint.';
comment on column beheer_sign_in_attempt.account_id is 'Whose account; empty: a name that nobody has, or a client id.';
comment on column beheer_sign_in_attempt.count is 'Attempts, also one that is being looked at.';
comment on column beheer_sign_in_attempt.open_at is 'No attempt is looked at before this moment.';
comment on column beheer_sign_in_attempt.forget_at is 'After this moment the count starts anew.';

create table beheer_browser (
  id bigint generated always as identity primary key,
  key bytea not null,
  account_id bigint not null references beheer_account on delete cascade,
  seen_at timestamptz not null default now(),
  constraint beheer_browser_unique unique (key, account_id)
);
create index beheer_browser_account on beheer_browser (account_id);
comment on table beheer_browser is 'Browsers that signed in to an account before. They get nothing but a count of failed attempts of their own.';
comment on column beheer_browser.id is 'Number; stays when the cookie gets another value.';
comment on column beheer_browser.key is 'SHA-256 of the value in the cookie.';
comment on column beheer_browser.account_id is 'The account.';
comment on column beheer_browser.seen_at is 'When it last signed in.';

create table beheer_saved_filter (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint beheer_saved_filter_uuid_unique unique,
  account_id bigint not null references beheer_account on delete cascade,
  path text not null, name text not null, query text not null,
  constraint beheer_saved_filter_name_unique unique (account_id, path, name)
);
comment on table beheer_saved_filter is 'Filters of lists that somebody keeps for himself.';
comment on column beheer_saved_filter.id is 'Number; the oldest make way.';
comment on column beheer_saved_filter.uuid is 'Identifies the filter in forms.';
comment on column beheer_saved_filter.account_id is 'Whose filter.';
comment on column beheer_saved_filter.path is 'The list, by its path below /beheer.';
comment on column beheer_saved_filter.name is 'What its owner calls it.';
comment on column beheer_saved_filter.query is 'The filters as they stand in the address.';

create table beheer_audit (
  id bigint generated always as identity primary key,
  tijdstip timestamptz not null default now(),
  account_uuid uuid,
  gebruiker text not null,
  herkomst text not null default '',
  handeling text not null,
  resultaat text not null default 'geslaagd'
    constraint beheer_audit_resultaat_check check (resultaat in ('geslaagd', 'geweigerd')),
  object_kind text not null, object_id text not null default '', object_weergave text not null default '',
  oud jsonb,
  nieuw jsonb
);
create index beheer_audit_object on beheer_audit (object_kind, object_id, id);
create index beheer_audit_gebruiker on beheer_audit (gebruiker, id);
create index beheer_audit_handeling on beheer_audit (handeling, id);
create index beheer_audit_tijdstip on beheer_audit (tijdstip);
comment on table beheer_audit is 'Every change made in the administration pages, and every attempt to sign in. Rows are added, never changed or removed.';
comment on column beheer_audit.id is 'Number, in the order of the changes.';
comment on column beheer_audit.tijdstip is 'When.';
comment on column beheer_audit.account_uuid is 'Who; empty when nobody was signed in.';
comment on column beheer_audit.gebruiker is 'Name of the account at that time.';
comment on column beheer_audit.herkomst is 'Network address of the browser.';
comment on column beheer_audit.handeling is 'What was done, as a short code such as account-maken.';
comment on column beheer_audit.resultaat is 'Whether it was done or refused.';
comment on column beheer_audit.object_kind is 'Kind of what it was done to.';
comment on column beheer_audit.object_id is 'Which one.';
comment on column beheer_audit.object_weergave is 'The object for people.';
comment on column beheer_audit.oud is 'State before; secrets are never in it.';
comment on column beheer_audit.nieuw is 'State after; secrets are never in it.';

create function beheer_audit_stays() returns trigger language plpgsql as $$
begin
  raise exception 'beheer_audit only grows' using errcode = 'restrict_violation';
end $$;
comment on function beheer_audit_stays is 'Refuses to change or remove records of changes.';
create trigger beheer_audit_stays before update or delete or truncate on beheer_audit
  for each statement execute function beheer_audit_stays();
