-- The schema as the migrations beside this file leave it. Generated (npm run types); nothing runs it, and a test compares it
-- with a migrated database. Comments say what the tables and columns are for; the migrations say why they are that way.

-- Confidentiality, low to high: comparisons follow the order of the standard.
create type vertrouwelijkheidaanduiding as enum ('openbaar', 'beperkt_openbaar', 'intern', 'zaakvertrouwelijk', 'vertrouwelijk', 'confidentieel', 'geheim', 'zeer_geheim');

-- Numbers of generated identificaties of besluiten; it never goes back, so a number never returns.
create sequence besluit_nummer;

-- Numbers of generated identificaties: DOCUMENT-<year>-<number>. Gaps are normal.
create sequence document_nummer;

-- Numbers of generated identificaties of zaken; it never goes back, so a number never returns.
create sequence zaak_nummer;

-- Places in the order of UWV: 702 prefixes, from A to ZZ, of ten million numbers each.
create sequence zaak_nummer_uwv minvalue 0 maxvalue 7019999999;

-- Who gets messages of the notifications service that is built in, and where.
create table abonnement (
  applicatie_id bigint, -- Who may see and change it; empty: that applicatie is gone.
  auth bytea not null, -- Value of the header Authorization, or the secret (jwt, oauth2); sealed with a key of the ring.
  authenticatie text not null default 'header'::text, -- How we identify ourselves there: header (auth as it is), jwt (signed for each message) or oauth2 (client credentials).
  callback_url text not null, -- Where messages go; empty: the receiver fetches them.
  certificaat text not null default ''::text, -- Client certificate that we show (PEM); empty: none.
  certificate_key bytea, -- Private key of that certificate; sealed with a key of the ring.
  changed_at timestamp with time zone not null default now(), -- When it was last changed.
  client_id text not null default ''::text, -- Client id of the token that made it, for the log.
  cloudevents boolean not null default false, -- It gets cloud events instead of messages of the standard.
  concurrency integer not null default 4, -- Messages that are sent to it at once.
  confirmed bigint not null default 0, -- Up to which place the receiver has them.
  created_at timestamp with time zone not null default now(), -- When it was made.
  deleted_at timestamp with time zone, -- When it was deleted: nothing is sent any more, and a worker removes what is left.
  failing_since timestamp with time zone, -- Since when attempts fail; empty: they do not.
  failures integer not null default 0, -- Attempts that failed since the last one that succeeded.
  fetched_at timestamp with time zone, -- When it last asked for messages, to the minute; empty: never.
  id bigint not null generated always as identity, -- Internal key; order of lists. Never 0: that stands for the external service.
  in_order boolean not null default true, -- Messages of one main object wait for each other.
  last_fault_at timestamp with time zone, -- When an attempt last failed; empty: never.
  last_http_status integer, -- Status of that answer.
  last_outcome text, -- Outcome of the last attempt that failed; empty: the last one succeeded.
  missed_after bigint, -- Key of a message before it was blocked or unsubscribed; later ones were not planned for it. Empty: it missed nothing.
  not_before timestamp with time zone, -- Nothing is sent to it before this moment: it asked for that, or it fails and is probed.
  ondertekening bytea[] not null default '{}'::bytea[], -- Secrets of the signature (Standard Webhooks), newest first; encrypted. Two during a change.
  outgoing_client_id text not null default ''::text, -- Our client id there (jwt, oauth2).
  place bigint not null default 0, -- The last place that a message got when it was fetched.
  reason text not null default ''::text, -- Why it has that status.
  status text not null default 'actief'::text, -- actief, gepauzeerd (messages wait), geblokkeerd (no new messages are planned; they stay in the log for a replay) or opgezegd (the receiver said 410).
  status_since timestamp with time zone not null default now(), -- Since when it has that status.
  timeout_ms integer not null default 10000, -- Milliseconds that one attempt may take, from connecting to the last byte of the answer.
  token_scope text not null default ''::text, -- Scope that is asked for (oauth2).
  token_url text not null default ''::text, -- Where a token is asked (oauth2).
  uuid uuid not null default gen_random_uuid(), -- Last part of its URL, and what its secrets are bound to.
  constraint abonnement_pkey PRIMARY KEY (id),
  constraint abonnement_uuid_unique UNIQUE (uuid),
  constraint abonnement_applicatie FOREIGN KEY (applicatie_id) REFERENCES applicatie(id) ON DELETE SET NULL,
  constraint abonnement_authenticatie_check CHECK ((authenticatie = ANY (ARRAY['header'::text, 'jwt'::text, 'oauth2'::text]))),
  constraint abonnement_callback_url_check CHECK ((length(callback_url) <= 2000)),
  constraint abonnement_concurrency_check CHECK (((concurrency >= 1) AND (concurrency <= 50))),
  constraint abonnement_ondertekening_check CHECK ((cardinality(ondertekening) <= 2)),
  constraint abonnement_status_check CHECK ((status = ANY (ARRAY['actief'::text, 'gepauzeerd'::text, 'geblokkeerd'::text, 'opgezegd'::text]))),
  constraint abonnement_timeout_ms_check CHECK (((timeout_ms >= 1000) AND (timeout_ms <= 60000)))
);
CREATE INDEX abonnement_applicatie ON abonnement USING btree (applicatie_id);
CREATE TRIGGER abonnement_followed BEFORE UPDATE OF failures, status, applicatie_id ON abonnement FOR EACH ROW EXECUTE FUNCTION follow_abonnement();

-- What an abonnement wants: it gets a message when one of these rows fits, and once however many do.
create table abonnement_kanaal (
  abonnement_id bigint not null, -- The abonnement.
  comparable jsonb not null generated always as (comparable_filters(filters)) stored, -- The filters in the shape in which messages are compared with them.
  filters jsonb not null default '{}'::jsonb, -- Names and values that all have to fit, as they were registered; * fits all.
  id bigint not null generated always as identity, -- Internal key; order in which they were given.
  kanaal_id bigint not null, -- The channel.
  constraint abonnement_kanaal_pkey PRIMARY KEY (id),
  constraint abonnement_kanaal_abonnement_id_fkey FOREIGN KEY (abonnement_id) REFERENCES abonnement(id) ON DELETE CASCADE,
  constraint abonnement_kanaal_exists FOREIGN KEY (kanaal_id) REFERENCES kanaal(id)
);
CREATE INDEX abonnement_kanaal_abonnement ON abonnement_kanaal USING btree (abonnement_id);
CREATE INDEX abonnement_kanaal_kanaal ON abonnement_kanaal USING btree (kanaal_id);

-- Workers that look for what is due by themselves at this moment. While there is one, nobody is woken.
create unlogged table active_sender (
  seen_at timestamp with time zone not null default now(), -- When it last said so.
  worker_id integer not null, -- The worker (table worker).
  constraint active_sender_pkey PRIMARY KEY (worker_id)
);

-- What somebody should know of, from its begin to its end. Those that ended are kept for 90 days.
create table alert (
  ended_at timestamp with time zone, -- When it ended; empty: it goes on.
  id bigint not null generated always as identity, -- Number.
  key text not null, -- What it is about, such as abonnement:<uuid>: one of these is open at a time.
  kind text not null, -- Kind, by which people choose.
  level integer not null default 1, -- How bad it is; it is told again when that rises.
  missing_since timestamp with time zone, -- Since when it is not found any more; it ends when that lasts.
  path text not null, -- The page about it, below /beheer.
  since timestamp with time zone not null default now(), -- When it was found.
  text text not null, -- What was told last.
  constraint alert_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX alert_open ON alert USING btree (key) WHERE (ended_at IS NULL);

-- What is told to whom, and whether it was. Kept for 30 days.
create table alert_message (
  account_id bigint, -- Who is mailed; empty: it goes to the webhook.
  attempts integer not null default 0, -- Attempts begun.
  created_at timestamp with time zone not null default now(), -- When it was made.
  fault text not null default ''::text, -- Why the last attempt failed.
  id bigint not null generated always as identity, -- Number.
  kind text not null, -- melding or samenvatting.
  lines jsonb not null, -- What it says: a list of event, kind, text, path and moment.
  next_at timestamp with time zone not null default now(), -- When it is tried next; during an attempt, when that counts as lost.
  sent_at timestamp with time zone, -- When it was accepted.
  uuid uuid not null default gen_random_uuid(), -- Identifies it for the receiver, at every attempt.
  constraint alert_message_pkey PRIMARY KEY (id),
  constraint alert_message_account_id_fkey FOREIGN KEY (account_id) REFERENCES beheer_account(id) ON DELETE CASCADE
);
CREATE INDEX alert_message_account ON alert_message USING btree (account_id);
CREATE INDEX alert_message_due ON alert_message USING btree (next_at) WHERE (sent_at IS NULL);

-- An application that may use the APIs (Autorisaties API, Applicatie).
create table applicatie (
  alleen_is_gereed_voor_publicatie boolean not null default false, -- True: reads only documents with isGereedVoorPublicatie (Autorisaties 1.1.0).
  created_at timestamp with time zone not null default now(), -- When it was made.
  heeft_alle_autorisaties boolean not null default false, -- True: may do everything; then it has no autorisaties (ac-002).
  id bigint not null generated always as identity, -- Internal key.
  label text not null, -- Name for people.
  uuid uuid not null default gen_random_uuid(), -- Last part of its URL.
  constraint applicatie_pkey PRIMARY KEY (id),
  constraint applicatie_uuid_unique UNIQUE (uuid)
);

-- Client ids of an application; unique over all applications (ac-001).
create table applicatie_client (
  applicatie_id bigint not null, -- The application.
  client_id text not null, -- The client_id claim of its tokens.
  place integer not null default 0, -- Position in clientIds.
  constraint applicatie_client_id_unique PRIMARY KEY (client_id),
  constraint applicatie_client_applicatie_id_fkey FOREIGN KEY (applicatie_id) REFERENCES applicatie(id) ON DELETE CASCADE,
  constraint applicatie_client_client_id_check CHECK (((length(client_id) >= 1) AND (length(client_id) <= 50)))
);
CREATE INDEX applicatie_client_applicatie_id_idx ON applicatie_client USING btree (applicatie_id);

-- Public keys of client ids, with which they show who they are at our token endpoint (private_key_jwt, RFC 7523).
create table applicatie_client_key (
  client_id text not null, -- The client id.
  created_at timestamp with time zone not null default now(), -- When it was made.
  jwks_url text not null default ''::text, -- Where its keys are.
  keys jsonb, -- Its keys (a JWKS). Empty: they are at jwks_url.
  constraint applicatie_client_key_pkey PRIMARY KEY (client_id),
  constraint applicatie_client_key_client_id_fkey FOREIGN KEY (client_id) REFERENCES applicatie_client(client_id) ON UPDATE CASCADE ON DELETE CASCADE,
  constraint applicatie_client_key_source_check CHECK (((keys IS NULL) = (jwks_url <> ''::text)))
);

-- Further applications of a client id, as they were taken over: the client has their rights too.
create table applicatie_client_more (
  applicatie_id bigint not null, -- A further application.
  client_id text not null, -- The client id, with its secrets at its first application.
  place integer not null default 0, -- Position in clientIds of that application.
  constraint applicatie_client_more_pkey PRIMARY KEY (client_id, applicatie_id),
  constraint applicatie_client_more_applicatie_id_fkey FOREIGN KEY (applicatie_id) REFERENCES applicatie(id) ON DELETE CASCADE,
  constraint applicatie_client_more_client_id_fkey FOREIGN KEY (client_id) REFERENCES applicatie_client(client_id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX applicatie_client_more_applicatie ON applicatie_client_more USING btree (applicatie_id);

-- Clients as an issuer knows them, and the application whose rights they have. Apart from client ids with a secret: neither can act as the other.
create table applicatie_issuer_client (
  applicatie_id bigint not null, -- The application.
  client_id text not null, -- The client id in its tokens.
  created_at timestamp with time zone not null default now(), -- When it was made.
  id bigint not null generated always as identity, -- Internal key.
  issuer_id bigint not null, -- The issuer.
  last_used_at timestamp with time zone, -- When a token of it was taken last, some minutes late. Empty: never.
  constraint applicatie_issuer_client_pkey PRIMARY KEY (id),
  constraint applicatie_issuer_client_unique UNIQUE (issuer_id, client_id),
  constraint applicatie_issuer_client_applicatie_id_fkey FOREIGN KEY (applicatie_id) REFERENCES applicatie(id) ON DELETE CASCADE,
  constraint applicatie_issuer_client_issuer_id_fkey FOREIGN KEY (issuer_id) REFERENCES token_issuer(id) ON DELETE CASCADE,
  constraint applicatie_issuer_client_client_id_check CHECK (((length(client_id) >= 1) AND (length(client_id) <= 255)))
);
CREATE INDEX applicatie_issuer_client_applicatie_id_idx ON applicatie_issuer_client USING btree (applicatie_id);

-- Signing secrets of a client id. Two may be valid at once, for rotation.
create table applicatie_secret (
  client_id text not null, -- The client id that signs with it.
  created_at timestamp with time zone not null default now(), -- When it was made.
  expires_at timestamp with time zone, -- From this moment on it is not accepted; empty: no end.
  id bigint not null generated always as identity, -- Internal key.
  last_signed_at timestamp with time zone, -- When a token that the client signed with it was taken last, some minutes late. Empty: never.
  sealed_secret bytea not null, -- The secret, sealed (AES-256-GCM) with a key of the ring.
  constraint applicatie_secret_pkey PRIMARY KEY (id),
  constraint applicatie_secret_client_id_fkey FOREIGN KEY (client_id) REFERENCES applicatie_client(client_id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX applicatie_secret_client_id_idx ON applicatie_secret USING btree (client_id);

-- Fields of archiving that somebody set. The others are derived from the resultaattype and what it counts from.
create table archive_by_hand (
  field text not null, -- Column of table zaak.
  set_at timestamp with time zone not null default clock_timestamp(), -- When.
  set_by text not null, -- Who set it, as the audit trail names him.
  zaak_id bigint not null, -- The case.
  constraint archive_by_hand_pkey PRIMARY KEY (zaak_id, field),
  constraint archive_by_hand_zaak_id_fkey FOREIGN KEY (zaak_id) REFERENCES zaak(id) ON DELETE CASCADE,
  constraint archive_by_hand_field_check CHECK ((field = ANY (ARRAY['archiefnominatie'::text, 'archiefactiedatum'::text, 'startdatum_bewaartermijn'::text])))
);

-- Audit trail: one row for every change, written in the transaction of that change.
create table audit (
  aanmaakdatum timestamp with time zone not null default clock_timestamp(), -- When the change was made.
  actie text not null, -- create, update, partial_update or destroy.
  applicatie_id text not null default ''::text, -- uuid of the application that made the change.
  applicatie_weergave text not null default ''::text, -- Its label at that moment.
  bron text not null, -- Component: ac, zrc, ztc, drc or brc.
  gebruikers_id text not null default ''::text, -- Claim user_id of the token.
  gebruikers_weergave text not null default ''::text, -- Claim user_representation of the token.
  hoofd_object_uuid uuid not null, -- uuid of the main object: the trail is read by it.
  id bigint not null generated always as identity, -- Internal key; order of the trail. Lines that were taken over are below 0, in the order of their source.
  logrecord_id text not null default ''::text, -- Header X-NLX-Logrecord-ID.
  made jsonb, -- Members of the object after the change that the database made.
  origin jsonb, -- Where the request came from: issuer and organisation of its token, and peer, delegator and grant of FSC. Empty: a token that the client made itself.
  packed bytea not null, -- URLs of the main and the changed object, and that one before and after the change, as JSON with numbers of persons sealed, deflated: src/core/audit-contents.ts.
  request_id text not null default ''::text, -- Header X-Request-ID of the request, or the id that it was given.
  resource text not null, -- Kind of the changed object.
  resource_uuid uuid, -- uuid of the changed object; empty where one of another product has none.
  resource_weergave text not null default ''::text, -- The changed object for people.
  resultaat integer not null, -- HTTP status of the answer.
  toelichting text not null default ''::text, -- Header X-Audit-Toelichting.
  uuid uuid not null default gen_random_uuid(), -- Last part of its URL.
  constraint audit_pkey PRIMARY KEY (hoofd_object_uuid, id)
);
CREATE INDEX audit_aanmaakdatum_idx ON audit USING brin (aanmaakdatum) WITH (pages_per_range='32', autosummarize='on');
CREATE UNIQUE INDEX audit_taken_over_unique ON audit USING btree (uuid) WHERE (id < 0);

-- A right of an application: scopes in one component, for one type and up to one confidentiality.
create table autorisatie (
  applicatie_id bigint not null, -- The application.
  component text not null, -- ac, nrc, zrc, ztc, drc, brc, kc, cmc or vrc.
  id bigint not null generated always as identity, -- Internal key; also the order in the API.
  max_vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding, -- Highest confidentiality that the right reaches (inclusive).
  scopes text[] not null, -- Scopes, such as documenten.lezen.
  type_url text not null default ''::text, -- zaaktype, informatieobjecttype or besluittype as the client wrote it; empty where the component has none.
  type_uuid uuid, -- The uuid of that type when it is one of ours: rights compare this, not the text of the URL.
  constraint autorisatie_pkey PRIMARY KEY (id),
  constraint autorisatie_applicatie_id_fkey FOREIGN KEY (applicatie_id) REFERENCES applicatie(id) ON DELETE CASCADE,
  constraint autorisatie_component_check CHECK ((component = ANY (ARRAY['ac'::text, 'nrc'::text, 'zrc'::text, 'ztc'::text, 'drc'::text, 'brc'::text, 'kc'::text, 'cmc'::text, 'vrc'::text])))
);
CREATE INDEX autorisatie_applicatie_id_idx ON autorisatie USING btree (applicatie_id);
CREATE INDEX autorisatie_type_uuid_idx ON autorisatie USING btree (type_uuid);

-- People who may use the administration pages.
create table beheer_account (
  actief boolean not null default true, -- False: cannot sign in.
  alert_digest text not null default 'nooit'::text, -- Whether it is mailed a digest every day: nooit, nodig (when there is something) or altijd.
  alert_kinds text[] not null default '{}'::text[], -- Kinds of alerts that it is mailed at once (KINDS of src/operations/alerts/kinds.ts).
  centre_stamp uuid, -- Set: an account of the centre, with the uuid that it has there. Its sessions count while the registry has this stamp.
  created_at timestamp with time zone not null default now(), -- When it was made.
  email text not null default ''::text, -- E-mail address, where alerts go.
  failed_attempts integer not null default 0, -- Wrong passwords and codes since it last signed in, told to whoever signs in.
  failed_last timestamp with time zone, -- When the last of them was; empty: none.
  failed_since timestamp with time zone, -- When the first of them was; empty: none.
  gebruikersnaam text not null, -- Name to sign in with; unique whatever its case.
  id bigint not null generated always as identity, -- Number.
  invitation bytea, -- SHA-256 of the code in the link that binds the account to who signs in with it; used once.
  invited_until timestamp with time zone, -- Until when that link counts.
  last_sign_in_at timestamp with time zone, -- When it last signed in.
  max_vertrouwelijkheidaanduiding text not null default 'vertrouwelijk'::text, -- Cases and documents above it are not shown.
  may_repair boolean not null default false, -- Has the role hersteller beside its own: may correct cases and documents by hand.
  naam text not null default ''::text, -- Name for people, as audit records show it.
  oidc_issuer text, -- OpenID Connect provider that the account belongs to.
  oidc_subject text, -- Who it is there (claim sub).
  password_given boolean not null default false, -- The password was given by somebody else: the next sign-in asks for another.
  password_hash text, -- argon2id hash with its parameters and salt; empty: signs in with OpenID Connect only.
  rol text not null, -- viewer looks, privacy looks and also sees who looked at cases and persons, operator also acts (imports, sending again), administrator also changes settings, rights and accounts.
  totp_secret bytea, -- Secret of the one-time codes, sealed with a key of the ring; empty: none asked.
  totp_since timestamp with time zone, -- When one-time codes were confirmed; empty while they are being set up.
  totp_step bigint, -- Time step of the last code that was used: each code counts once.
  uuid uuid not null default gen_random_uuid(), -- Identifies the account in addresses of pages.
  constraint beheer_account_pkey PRIMARY KEY (id),
  constraint beheer_account_uuid_unique UNIQUE (uuid),
  constraint beheer_account_centre_keeps_secrets CHECK (((centre_stamp IS NULL) OR ((COALESCE(password_hash, oidc_subject) IS NULL) AND (totp_secret IS NULL)))),
  constraint beheer_account_email_check CHECK ((length(email) <= 254)),
  constraint beheer_account_gebruikersnaam_check CHECK ((gebruikersnaam ~ '^[[:graph:]]{1,150}$'::text)),
  constraint beheer_account_invitation_complete CHECK (((invitation IS NULL) = (invited_until IS NULL))),
  constraint beheer_account_max_vertrouwelijkheidaanduiding_check CHECK ((max_vertrouwelijkheidaanduiding = ANY (ARRAY['openbaar'::text, 'beperkt_openbaar'::text, 'intern'::text, 'zaakvertrouwelijk'::text, 'vertrouwelijk'::text, 'confidentieel'::text, 'geheim'::text, 'zeer_geheim'::text]))),
  constraint beheer_account_naam_check CHECK ((length(naam) <= 200)),
  constraint beheer_account_oidc_complete CHECK (((oidc_issuer IS NULL) = (oidc_subject IS NULL))),
  constraint beheer_account_rol_check CHECK ((rol = ANY (ARRAY['viewer'::text, 'privacy'::text, 'operator'::text, 'administrator'::text])))
);
CREATE UNIQUE INDEX beheer_account_gebruikersnaam_unique ON beheer_account USING btree (lower(gebruikersnaam));
CREATE UNIQUE INDEX beheer_account_invitation ON beheer_account USING btree (invitation) WHERE (invitation IS NOT NULL);
CREATE UNIQUE INDEX beheer_account_oidc_unique ON beheer_account USING btree (oidc_issuer, oidc_subject);

-- Every change made in the administration pages, and every attempt to sign in. Rows are added, never changed or removed.
create table beheer_audit (
  account_uuid uuid, -- Who; empty when nobody was signed in.
  gebruiker text not null, -- Name of the account at that time.
  handeling text not null, -- What was done, as a short code such as account-maken.
  herkomst text not null default ''::text, -- Network address of the browser.
  id bigint not null generated always as identity, -- Number, in the order of the changes.
  nieuw jsonb, -- State after; secrets are never in it.
  object_id text not null default ''::text, -- Which one.
  object_kind text not null, -- Kind of what it was done to.
  object_weergave text not null default ''::text, -- The object for people.
  oud jsonb, -- State before; secrets are never in it.
  resultaat text not null default 'geslaagd'::text, -- Whether it was done or refused.
  tijdstip timestamp with time zone not null default now(), -- When.
  constraint beheer_audit_pkey PRIMARY KEY (id),
  constraint beheer_audit_resultaat_check CHECK ((resultaat = ANY (ARRAY['geslaagd'::text, 'geweigerd'::text])))
);
CREATE INDEX beheer_audit_gebruiker ON beheer_audit USING btree (gebruiker, id);
CREATE INDEX beheer_audit_handeling ON beheer_audit USING btree (handeling, id);
CREATE INDEX beheer_audit_object ON beheer_audit USING btree (object_kind, object_id, id);
CREATE INDEX beheer_audit_tijdstip ON beheer_audit USING btree (tijdstip);
CREATE TRIGGER beheer_audit_stays BEFORE DELETE OR UPDATE OR TRUNCATE ON beheer_audit FOR EACH STATEMENT EXECUTE FUNCTION beheer_audit_stays();

-- Browsers that signed in to an account before. They get nothing but a count of failed attempts of their own.
create table beheer_browser (
  account_id bigint not null, -- The account.
  id bigint not null generated always as identity, -- Number; stays when the cookie gets another value.
  key bytea not null, -- SHA-256 of the value in the cookie.
  seen_at timestamp with time zone not null default now(), -- When it last signed in.
  constraint beheer_browser_pkey PRIMARY KEY (id),
  constraint beheer_browser_unique UNIQUE (key, account_id),
  constraint beheer_browser_account_id_fkey FOREIGN KEY (account_id) REFERENCES beheer_account(id) ON DELETE CASCADE
);
CREATE INDEX beheer_browser_account ON beheer_browser USING btree (account_id);

-- Links that were mailed to who is kept out of new browsers by the wrong passwords of others; each counts once, for a quarter of an hour.
create table beheer_browser_link (
  account_id bigint not null, -- The account that it was mailed to.
  key bytea not null, -- SHA-256 of the code in the link.
  made_at timestamp with time zone not null default now(), -- When it was made.
  constraint beheer_browser_link_pkey PRIMARY KEY (key),
  constraint beheer_browser_link_account_id_fkey FOREIGN KEY (account_id) REFERENCES beheer_account(id) ON DELETE CASCADE
);
CREATE INDEX beheer_browser_link_account ON beheer_browser_link USING btree (account_id);

-- Passkeys (WebAuthn): keys on devices that somebody signs in with, beside a password.
create table beheer_passkey (
  account_id bigint not null, -- Whose it is.
  counter bigint not null, -- How often the device used it, as it told the last time; always 0 on many.
  created_at timestamp with time zone not null default now(), -- When it was made.
  credential text not null, -- What the device knows it by, in base64url.
  id bigint not null generated always as identity, -- Number.
  name text not null, -- What its owner calls it.
  public_key bytea not null, -- Its public key, in COSE.
  transports text[] not null default '{}'::text[], -- How the device is reached, as it told.
  used_at timestamp with time zone not null default now(), -- When it was last used; a challenge of before counts no more.
  uuid uuid not null default gen_random_uuid(), -- Identifies it in the list that its owner sees.
  constraint beheer_passkey_pkey PRIMARY KEY (id),
  constraint beheer_passkey_credential_unique UNIQUE (credential),
  constraint beheer_passkey_uuid_unique UNIQUE (uuid),
  constraint beheer_passkey_account_id_fkey FOREIGN KEY (account_id) REFERENCES beheer_account(id) ON DELETE CASCADE
);
CREATE INDEX beheer_passkey_account ON beheer_passkey USING btree (account_id);

-- Filters of lists that somebody keeps for himself.
create table beheer_saved_filter (
  account_id bigint not null, -- Whose filter.
  id bigint not null generated always as identity, -- Number; the oldest make way.
  name text not null, -- What its owner calls it.
  path text not null, -- The list, by its path below /beheer.
  query text not null, -- The filters as they stand in the address.
  uuid uuid not null default gen_random_uuid(), -- Identifies the filter in forms.
  constraint beheer_saved_filter_pkey PRIMARY KEY (id),
  constraint beheer_saved_filter_name_unique UNIQUE (account_id, path, name),
  constraint beheer_saved_filter_uuid_unique UNIQUE (uuid),
  constraint beheer_saved_filter_account_id_fkey FOREIGN KEY (account_id) REFERENCES beheer_account(id) ON DELETE CASCADE
);

-- Who is signed in. A row that is gone is a session that has ended, on every process at once.
create table beheer_session (
  account_id bigint not null, -- Whose session.
  address text not null default ''::text, -- Network address that it began from.
  browser text not null default ''::text, -- What the browser called itself.
  confirmed_at timestamp with time zone, -- When its owner last showed who he is after signing in; null: not yet.
  created_at timestamp with time zone not null default now(), -- When it began.
  expires_at timestamp with time zone not null, -- When it ends at the latest.
  id bigint not null generated always as identity, -- Number.
  key bytea not null, -- SHA-256 of the value in the cookie.
  notices jsonb, -- What pages are to say next: a list, each with the path of its page, or * for the first page whatever it is.
  oidc_id_token bytea, -- What the provider said, sealed: it is asked to end its session with it.
  oidc_issuer text, -- The provider that it was signed in with.
  oidc_sid text, -- The session at the provider, which tells of its end.
  seen_at timestamp with time zone not null default now(), -- Last request, to the minute.
  step text not null default 'signed-in'::text, -- totp: the password was right, the one-time code is still to come. signed-in: signed in.
  uuid uuid not null default gen_random_uuid(), -- Identifies the session in the list that its owner sees.
  constraint beheer_session_pkey PRIMARY KEY (id),
  constraint beheer_session_key_unique UNIQUE (key),
  constraint beheer_session_uuid_unique UNIQUE (uuid),
  constraint beheer_session_account_id_fkey FOREIGN KEY (account_id) REFERENCES beheer_account(id) ON DELETE CASCADE,
  constraint beheer_session_step_check CHECK ((step = ANY (ARRAY['totp'::text, 'signed-in'::text])))
);
CREATE INDEX beheer_session_account ON beheer_session USING btree (account_id);
CREATE INDEX beheer_session_oidc_sid ON beheer_session USING btree (oidc_sid) WHERE (oidc_sid IS NOT NULL);

-- Failed attempts to sign in, counted by what slows them down. A row that is gone is a count that starts anew.
create table beheer_sign_in_attempt (
  account_id bigint, -- Whose account; empty: a name that nobody has, or a client id.
  count integer not null, -- Attempts, also one that is being looked at.
  forget_at timestamp with time zone not null, -- After this moment the count starts anew.
  key bytea not null, -- SHA-256 of what is counted: a name and an address, a name, a known browser, codes of an account, a client id at the token endpoint.
  open_at timestamp with time zone not null, -- No attempt is looked at before this moment.
  constraint beheer_sign_in_attempt_pkey PRIMARY KEY (key),
  constraint beheer_sign_in_attempt_account_id_fkey FOREIGN KEY (account_id) REFERENCES beheer_account(id) ON DELETE CASCADE
);
CREATE INDEX beheer_sign_in_attempt_account ON beheer_sign_in_attempt USING btree (account_id);
CREATE INDEX beheer_sign_in_attempt_forget_at ON beheer_sign_in_attempt USING btree (forget_at);

-- A decision (Besluiten API, Besluit). When it is taken in a zaak, a zaakbesluit stands beside it (brc-006).
create table besluit (
  besluittype_catalogus_url text not null default ''::text, -- Catalogue of a decision type elsewhere, as its register said when the decision was made.
  besluittype_id bigint, -- The version of the decision type, when that is one of ours; never changes (brc-001).
  besluittype_url text, -- The decision type when it stands elsewhere.
  bestuursorgaan text not null default ''::text, -- Who took it.
  datum date not null, -- Day on which it was taken.
  duplicate integer not null default 0, -- 0, or the place among decisions that were taken over with the same number.
  id bigint not null generated always as identity, -- Internal key; order of lists, newest first.
  identificatie text not null, -- Number; unique together with verantwoordelijke_organisatie, and never changes (brc-002).
  ingangsdatum date not null, -- Day from which it holds.
  publicatiedatum date, -- Day of publication.
  toelichting text not null default ''::text, -- Explanation.
  uiterlijke_reactiedatum date, -- Last day on which objections can be made.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  verantwoordelijke_organisatie text not null, -- RSIN of the organisation that answers for it; never changes.
  vervaldatum date, -- Day on which it lapses.
  vervalreden text not null default ''::text, -- Why it lapses.
  verzenddatum date, -- Day on which it was sent.
  zaak_id bigint, -- The case in which it was taken, if that is one of ours. A case with decisions is not deleted: the reference does not cascade.
  zaak_url text, -- The case in which it was taken, if that stands elsewhere.
  constraint besluit_pkey PRIMARY KEY (id),
  constraint besluit_identificatie_unique UNIQUE (identificatie, verantwoordelijke_organisatie, duplicate),
  constraint besluit_uuid_unique UNIQUE (uuid),
  constraint besluit_besluittype_id_fkey FOREIGN KEY (besluittype_id) REFERENCES besluittype(id),
  constraint besluit_zaak_exists FOREIGN KEY (zaak_id) REFERENCES zaak(id),
  constraint besluit_one_type CHECK ((num_nonnulls(besluittype_id, besluittype_url) = 1)),
  constraint besluit_one_zaak CHECK ((num_nonnulls(zaak_id, zaak_url) <= 1)),
  constraint besluit_vervalreden_check CHECK ((vervalreden = ANY (ARRAY[''::text, 'tijdelijk'::text, 'ingetrokken_overheid'::text, 'ingetrokken_belanghebbende'::text])))
);
CREATE INDEX besluit_besluittype_id_id_idx ON besluit USING btree (besluittype_id, id);
CREATE INDEX besluit_datum_id_idx ON besluit USING btree (datum, id);
CREATE INDEX besluit_verantwoordelijke_organisatie_id_idx ON besluit USING btree (verantwoordelijke_organisatie, id);
CREATE INDEX besluit_zaak_id_idx ON besluit USING btree (zaak_id) WHERE (zaak_id IS NOT NULL);
CREATE INDEX besluit_zaak_url_idx ON besluit USING btree (zaak_url) WHERE (zaak_url IS NOT NULL);
CREATE TRIGGER count_added AFTER INSERT ON besluit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_besluit();
CREATE TRIGGER count_changed AFTER UPDATE ON besluit FOR EACH ROW WHEN ((((old.besluittype_id IS DISTINCT FROM new.besluittype_id) OR (old.besluittype_url IS DISTINCT FROM new.besluittype_url)) OR (old.verantwoordelijke_organisatie IS DISTINCT FROM new.verantwoordelijke_organisatie))) EXECUTE FUNCTION recount_besluit();
CREATE TRIGGER count_emptied AFTER TRUNCATE ON besluit FOR EACH STATEMENT EXECUTE FUNCTION forget_counts('');
CREATE TRIGGER count_removed AFTER DELETE ON besluit REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_besluit();
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON besluit FOR EACH ROW EXECUTE FUNCTION feed_besluit('besluit');

-- How many besluiten there are, as additions and subtractions (see zaak_count).
create table besluit_count (
  besluittype_id bigint, -- The version of the decision type, when that is one of ours; never changes (brc-001).
  besluittype_url text, -- The decision type when it stands elsewhere.
  count bigint not null, -- What to add to the count; negative after a delete.
  verantwoordelijke_organisatie text not null -- RSIN of the organisation that answers for it; never changes.
);

-- That a decision is laid down in a document (Besluiten API, BesluitInformatieObject); an objectinformatieobject stands beside it (brc-005).
create table besluitinformatieobject (
  besluit_id bigint not null, -- The decision; gone with it (brc-009).
  enkelvoudiginformatieobject_id bigint, -- The document, when it is one of ours.
  id bigint not null generated always as identity, -- Internal key; order of lists.
  informatieobject_url text, -- The document when it stands elsewhere.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  constraint besluitinformatieobject_pkey PRIMARY KEY (id),
  constraint besluitinformatieobject_unique UNIQUE (besluit_id, enkelvoudiginformatieobject_id),
  constraint besluitinformatieobject_uuid_unique UNIQUE (uuid),
  constraint besluitinformatieobject_besluit_id_fkey FOREIGN KEY (besluit_id) REFERENCES besluit(id) ON DELETE CASCADE,
  constraint besluitinformatieobject_enkelvoudiginformatieobject_id_fkey FOREIGN KEY (enkelvoudiginformatieobject_id) REFERENCES enkelvoudiginformatieobject(id),
  constraint besluitinformatieobject_one_document CHECK ((num_nonnulls(enkelvoudiginformatieobject_id, informatieobject_url) = 1))
);
CREATE UNIQUE INDEX besluitinformatieobject_elsewhere_unique ON besluitinformatieobject USING btree (besluit_id, informatieobject_url) WHERE (informatieobject_url IS NOT NULL);
CREATE INDEX besluitinformatieobject_enkelvoudiginformatieobject_id_idx ON besluitinformatieobject USING btree (enkelvoudiginformatieobject_id);
CREATE INDEX besluitinformatieobject_informatieobject_url_idx ON besluitinformatieobject USING btree (informatieobject_url) WHERE (informatieobject_url IS NOT NULL);
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON besluitinformatieobject FOR EACH ROW EXECUTE FUNCTION feed_besluit_part('besluitinformatieobject');

-- A version of a decision type (Catalogi API, BesluitType).
create table besluittype (
  begin_geldigheid date not null, -- First day of validity.
  besluitcategorie text not null default ''::text, -- Category.
  catalogus_id bigint not null, -- The catalogue.
  concept boolean not null default true, -- True until it is published; only published types are used.
  einde_geldigheid date, -- Last day of validity.
  id bigint not null generated always as identity, -- Internal key.
  omschrijving text not null default ''::text, -- Name; versions of one type share it within their catalogue.
  omschrijving_generiek text not null default ''::text, -- Generic name.
  publicatie_indicatie boolean not null, -- Whether decisions are published.
  publicatietekst text not null default ''::text, -- Text of that publication.
  publicatietermijn text, -- How long the publication stands (duration).
  reactietermijn text, -- Term for objections (duration).
  toelichting text not null default ''::text, -- Explanation.
  uuid uuid not null default gen_random_uuid(), -- Last part of its URL.
  constraint besluittype_pkey PRIMARY KEY (id),
  constraint besluittype_uuid_unique UNIQUE (uuid),
  constraint besluittype_catalogus_id_fkey FOREIGN KEY (catalogus_id) REFERENCES catalogus(id),
  constraint besluittype_publicatietermijn_is_term CHECK (is_term(publicatietermijn, 100)),
  constraint besluittype_reactietermijn_is_term CHECK (is_term(reactietermijn, 100))
);
CREATE INDEX besluittype_catalogus_id_omschrijving_idx ON besluittype USING btree (catalogus_id, omschrijving);
CREATE TRIGGER besluittype_has_room BEFORE INSERT ON besluittype FOR EACH ROW EXECUTE FUNCTION has_room('catalogus_id', '25000');
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON besluittype FOR EACH ROW EXECUTE FUNCTION feed_type('besluittype');

-- Documents in which decisions of a type are laid down.
create table besluittype_informatieobjecttype (
  besluittype_id bigint not null, -- The decision type.
  by_url boolean not null default true, -- Whether the relation names one version, by its URL.
  informatieobjecttype_id bigint not null, -- The document type.
  constraint besluittype_informatieobjecttype_pkey PRIMARY KEY (besluittype_id, informatieobjecttype_id),
  constraint besluittype_informatieobjecttype_besluittype_id_fkey FOREIGN KEY (besluittype_id) REFERENCES besluittype(id) ON DELETE CASCADE,
  constraint besluittype_informatieobjecttype_informatieobjecttype_id_fkey FOREIGN KEY (informatieobjecttype_id) REFERENCES informatieobjecttype(id) ON DELETE CASCADE
);
CREATE INDEX besluittype_informatieobjecttype_informatieobjecttype_id_idx ON besluittype_informatieobjecttype USING btree (informatieobjecttype_id);
CREATE TRIGGER feed_besluittype_id_delete AFTER DELETE ON besluittype_informatieobjecttype FOR EACH ROW WHEN ((old.besluittype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('besluittype_id', 'besluittype', 'ztc', 'besluittype', 'r.catalogus_id');
CREATE TRIGGER feed_besluittype_id_insert AFTER INSERT ON besluittype_informatieobjecttype FOR EACH ROW WHEN ((new.besluittype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('besluittype_id', 'besluittype', 'ztc', 'besluittype', 'r.catalogus_id');
CREATE TRIGGER feed_besluittype_id_update AFTER UPDATE ON besluittype_informatieobjecttype FOR EACH ROW WHEN (true) EXECUTE FUNCTION feed_touch('besluittype_id', 'besluittype', 'ztc', 'besluittype', 'r.catalogus_id');
CREATE TRIGGER feed_informatieobjecttype_id_delete AFTER DELETE ON besluittype_informatieobjecttype FOR EACH ROW WHEN ((old.informatieobjecttype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('informatieobjecttype_id', 'informatieobjecttype', 'ztc', 'informatieobjecttype', 'r.catalogus_id');
CREATE TRIGGER feed_informatieobjecttype_id_insert AFTER INSERT ON besluittype_informatieobjecttype FOR EACH ROW WHEN ((new.informatieobjecttype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('informatieobjecttype_id', 'informatieobjecttype', 'ztc', 'informatieobjecttype', 'r.catalogus_id');
CREATE TRIGGER feed_informatieobjecttype_id_update AFTER UPDATE ON besluittype_informatieobjecttype FOR EACH ROW WHEN (true) EXECUTE FUNCTION feed_touch('informatieobjecttype_id', 'informatieobjecttype', 'ztc', 'informatieobjecttype', 'r.catalogus_id');

-- Parts in which the content of a document is being uploaded; unlocking joins them and removes these rows.
create table bestandsdeel (
  enkelvoudiginformatieobject_id bigint not null, -- The document.
  file_id bigint, -- The bytes, once they have come.
  id bigint not null generated always as identity, -- Internal key.
  omvang bigint not null, -- Size in bytes that the part must have.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  volgnummer integer not null, -- Place in the whole, from 1.
  constraint bestandsdeel_pkey PRIMARY KEY (id),
  constraint bestandsdeel_uuid_unique UNIQUE (uuid),
  constraint bestandsdeel_volgnummer_unique UNIQUE (enkelvoudiginformatieobject_id, volgnummer),
  constraint bestandsdeel_enkelvoudiginformatieobject_id_fkey FOREIGN KEY (enkelvoudiginformatieobject_id) REFERENCES enkelvoudiginformatieobject(id) ON DELETE CASCADE,
  constraint bestandsdeel_file_id_fkey FOREIGN KEY (file_id) REFERENCES file(id),
  constraint bestandsdeel_omvang_check CHECK ((omvang > 0))
);
CREATE INDEX bestandsdeel_file_id_idx ON bestandsdeel USING btree (file_id) WHERE (file_id IS NOT NULL);
CREATE TRIGGER feed_enkelvoudiginformatieobject_id_delete AFTER DELETE ON bestandsdeel FOR EACH ROW WHEN ((old.enkelvoudiginformatieobject_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('enkelvoudiginformatieobject_id', 'enkelvoudiginformatieobject', 'drc', 'enkelvoudiginformatieobject', 'r.id');
CREATE TRIGGER feed_enkelvoudiginformatieobject_id_insert AFTER INSERT ON bestandsdeel FOR EACH ROW WHEN ((new.enkelvoudiginformatieobject_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('enkelvoudiginformatieobject_id', 'enkelvoudiginformatieobject', 'drc', 'enkelvoudiginformatieobject', 'r.id');
CREATE TRIGGER feed_enkelvoudiginformatieobject_id_update AFTER UPDATE ON bestandsdeel FOR EACH ROW WHEN (true) EXECUTE FUNCTION feed_touch('enkelvoudiginformatieobject_id', 'enkelvoudiginformatieobject', 'drc', 'enkelvoudiginformatieobject', 'r.id');

-- A catalogue of types (Catalogi API, Catalogus).
create table catalogus (
  begindatum_versie date, -- First day of this version.
  contactpersoon_beheer_emailadres text not null default ''::text, -- E-mail address of the contact person.
  contactpersoon_beheer_naam text not null, -- Contact person.
  contactpersoon_beheer_telefoonnummer text not null default ''::text, -- Phone number of the contact person.
  domein text not null, -- Domain, five capitals at most; unique together with rsin.
  id bigint not null generated always as identity, -- Internal key.
  naam text not null default ''::text, -- Name.
  rsin text not null, -- RSIN of the owner.
  uuid uuid not null default gen_random_uuid(), -- Last part of its URL.
  versie text not null default ''::text, -- Version.
  constraint catalogus_pkey PRIMARY KEY (id),
  constraint catalogus_domein_rsin_unique UNIQUE (domein, rsin),
  constraint catalogus_uuid_unique UNIQUE (uuid)
);
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON catalogus FOR EACH ROW EXECUTE FUNCTION feed_catalogus('catalogus');

-- A right of an application that names no version of a type, so that types and versions made later fall under it.
create table catalogus_autorisatie (
  applicatie_id bigint not null, -- The application.
  catalogus_id bigint not null, -- The catalogue.
  component text not null, -- zrc (zaaktypen), drc (informatieobjecttypen) or brc (besluittypen).
  id bigint not null generated always as identity, -- Internal key; also the order in the API.
  max_vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding, -- Highest confidentiality that the right reaches (inclusive).
  scopes text[] not null, -- Scopes, such as documenten.lezen.
  type text not null default ''::text, -- identificatie of a zaaktype, omschrijving of another type: all its versions. Empty: every type of the catalogue.
  constraint catalogus_autorisatie_pkey PRIMARY KEY (id),
  constraint catalogus_autorisatie_applicatie_id_fkey FOREIGN KEY (applicatie_id) REFERENCES applicatie(id) ON DELETE CASCADE,
  constraint catalogus_autorisatie_catalogus_id_fkey FOREIGN KEY (catalogus_id) REFERENCES catalogus(id) ON DELETE CASCADE,
  constraint catalogus_autorisatie_component_check CHECK ((component = ANY (ARRAY['zrc'::text, 'drc'::text, 'brc'::text])))
);
CREATE INDEX catalogus_autorisatie_applicatie_id_idx ON catalogus_autorisatie USING btree (applicatie_id);
CREATE INDEX catalogus_autorisatie_catalogus_id_idx ON catalogus_autorisatie USING btree (catalogus_id);

-- Rows that were made, changed or deleted, as the feed tells them: those of one transaction are one delta. Only added to, and removed after FEED_DAYS.
create table change (
  component text not null, -- zrc, drc, brc or ztc: each has a feed of its own.
  id bigint not null generated always as identity, -- Order within a transaction.
  level vertrouwelijkheidaanduiding, -- The confidentiality.
  made_at timestamp with time zone not null default clock_timestamp(), -- When the transaction began.
  main_id bigint, -- Key of the case, document or decision that it is or belongs to; of a type, or a part of one, the catalogue.
  operation text not null, -- insert, update or delete. An update that changes nothing of the object itself says that its answer changed.
  ready boolean, -- Whether a document may be published.
  resource text not null, -- Kind of the changed object, as in notifications.
  row_id bigint not null, -- Key of its row.
  type_id bigint, -- What rights looked at before a delete, or before a change of it, and so are the next three: the type when it is one of ours.
  type_url text, -- The type when it stands elsewhere.
  uuid uuid not null, -- Last part of its URL.
  xact xid8 not null default pg_current_xact_id(), -- The transaction. With id the order in which changes became visible (src/database/position.ts).
  constraint change_pkey PRIMARY KEY (component, xact, id)
);

-- When the clock of the database was found to have been ahead, and what was pulled back. The last hundred are kept.
create table clock_setback (
  ahead_seconds double precision not null, -- By how much it had been ahead at least, in seconds.
  deliveries integer not null, -- Deliveries that were planned too far ahead.
  id bigint not null generated always as identity, -- Number.
  jobs integer not null, -- Jobs that were planned too far ahead.
  noticed_at timestamp with time zone not null default now(), -- When that was found out, by the clock that was set right.
  receivers integer not null, -- Abonnementen that were left alone for too long.
  resumed integer not null, -- Abonnementen that had been blocked by that clock, and were resumed.
  constraint clock_setback_pkey PRIMARY KEY (id)
);

-- Keys that this database was written with.
create table data_key (
  created_at timestamp with time zone not null default now(), -- When a process brought it first.
  id text not null, -- Its name in DATA_KEYS; secret-key: SECRET_KEY.
  retired_at timestamp with time zone, -- When nothing was sealed with it any more, and it was retired.
  sealed bytea not null, -- A known text, sealed with it.
  used_at timestamp with time zone, -- When a process began to seal with it; empty: nothing is sealed with it yet.
  constraint data_key_pkey PRIMARY KEY (id)
);

-- What is still to be delivered, or failed: one row per message and receiver. It goes when the receiver has accepted the message.
create table delivery (
  abonnement_id bigint not null default 0, -- The receiver: an abonnement, or 0 for the external notifications service.
  aside boolean not null default false, -- It was refused for what it is while its receiver accepted others: later messages of its main object do not wait for it.
  attempt integer not null default 0, -- Number of the last attempt that was begun; 0: none.
  begun_at timestamp with time zone, -- When that attempt began.
  cause text, -- How its last attempt ended when it failed: an outcome of delivery_attempt, of http with the status (http-503).
  claimed_by integer, -- The worker that makes an attempt now (table worker). When that worker is gone, another makes the attempt again.
  ended_at timestamp with time zone, -- When an attempt failed for the last time.
  hoofd_object_uuid uuid not null, -- Main object of the message: those of one object keep their order.
  next_attempt_at timestamp with time zone default now(), -- When it is to be sent. Empty: it waits for an earlier message of its main object, or to be fetched, or it failed.
  notificatie_id bigint not null, -- The message.
  place bigint, -- Its place among what the receiver fetched (src/nrc/abonnement/fetch.ts); empty: it was not fetched yet.
  refusals integer not null default 0, -- Retries that were refused while its receiver accepted others.
  replay boolean not null default false, -- It was delivered or failed before and is sent again because somebody asked.
  retries integer not null default 0, -- Retries that were planned since it was made, resent, or its receiver answered again: the next delay follows from it.
  status text not null default 'gepland'::text, -- gepland (waits) or mislukt (all attempts used).
  constraint delivery_pkey PRIMARY KEY (notificatie_id, abonnement_id),
  constraint delivery_status_check CHECK ((status = ANY (ARRAY['gepland'::text, 'mislukt'::text])))
);
CREATE INDEX delivery_cause ON delivery USING btree (cause, notificatie_id) INCLUDE (abonnement_id, ended_at) WHERE (status = 'mislukt'::text);
CREATE INDEX delivery_due ON delivery USING btree (abonnement_id, next_attempt_at, notificatie_id) WHERE (status = 'gepland'::text);
CREATE INDEX delivery_failed ON delivery USING btree (abonnement_id, notificatie_id) WHERE (status = 'mislukt'::text);
CREATE INDEX delivery_failed_message ON delivery USING btree (notificatie_id) WHERE (status = 'mislukt'::text);
CREATE INDEX delivery_order ON delivery USING btree (abonnement_id, hoofd_object_uuid, notificatie_id) WHERE (status = 'gepland'::text);
CREATE INDEX delivery_place ON delivery USING btree (abonnement_id, place) WHERE (place IS NOT NULL);

-- Attempts to deliver a message that ended.
create table delivery_attempt (
  abonnement_id bigint not null default 0, -- The receiver, as in delivery.
  answer text, -- Start of the body of the answer, at most 4 KB.
  begun_at timestamp with time zone not null default clock_timestamp(), -- When it began.
  duration_ms integer, -- Milliseconds that it took.
  http_status integer, -- Status of the answer.
  is_last boolean not null default false, -- With it the delivery failed: no other was planned.
  notificatie_id bigint not null, -- The message.
  number integer not null, -- Number of the attempt, from 1.
  outcome text not null, -- delivered; http (a status that is no success); the kind of failure; lost (the worker died before it could tell).
  constraint delivery_attempt_pkey PRIMARY KEY (notificatie_id, abonnement_id, number),
  constraint delivery_attempt_outcome_check CHECK ((outcome = ANY (ARRAY['delivered'::text, 'http'::text, 'refused'::text, 'dns'::text, 'tls'::text, 'tls-expired'::text, 'tls-name'::text, 'tls-ca'::text, 'tls-client'::text, 'tls-version'::text, 'timeout'::text, 'connection'::text, 'protocol'::text, 'blocked'::text, 'unknown'::text, 'lost'::text])))
);
CREATE INDEX delivery_attempt_begun ON delivery_attempt USING btree (abonnement_id, begun_at);

-- How many attempts began in an hour at a receiver, for pictures; counted by a job (src/notificaties/figures.ts).
create table delivery_figure (
  abonnement_id bigint not null, -- The receiver, as in delivery.
  counted_until timestamp with time zone not null, -- All attempts that began before were counted when this row was written.
  delivered integer not null, -- Attempts that delivered.
  failed integer not null, -- Attempts with which the delivery failed.
  hour timestamp with time zone not null, -- The hour, by its beginning.
  retried integer not null, -- Attempts that failed, after which another was planned.
  constraint delivery_figure_pkey PRIMARY KEY (abonnement_id, hour)
);

-- A property that cases of a type have of their own.
create table eigenschap (
  begin_geldigheid date, -- First day of validity; empty: as the case type.
  definitie text not null, -- Definition.
  einde_geldigheid date, -- Last day of validity; empty: as the case type.
  id bigint not null generated always as identity, -- Internal key.
  naam text not null, -- Name.
  specificatie_formaat text not null, -- tekst, getal, datum (YYYYMMDD) or datum_tijd (YYYYMMDDhhmmss).
  specificatie_groep text not null default ''::text, -- Group it belongs to.
  specificatie_kardinaliteit text not null, -- How many values: a number, or N.
  specificatie_lengte text not null, -- Length of a value; n,m for a number with decimals.
  specificatie_waardenverzameling text[] not null default '{}'::text[], -- Values to choose from; empty: free.
  statustype_id bigint, -- The stage at which it must have a value.
  toelichting text not null default ''::text, -- Explanation.
  uuid uuid not null default gen_random_uuid(), -- Last part of its URL.
  zaaktype_id bigint not null, -- The version of the case type.
  constraint eigenschap_pkey PRIMARY KEY (id),
  constraint eigenschap_naam_unique UNIQUE (zaaktype_id, naam),
  constraint eigenschap_uuid_unique UNIQUE (uuid),
  constraint eigenschap_statustype_id_fkey FOREIGN KEY (statustype_id) REFERENCES statustype(id) ON DELETE SET NULL,
  constraint eigenschap_zaaktype_id_fkey FOREIGN KEY (zaaktype_id) REFERENCES zaaktype(id) ON DELETE CASCADE,
  constraint eigenschap_specificatie_formaat_check CHECK ((specificatie_formaat = ANY (ARRAY['tekst'::text, 'getal'::text, 'datum'::text, 'datum_tijd'::text])))
);
CREATE INDEX eigenschap_statustype_id_idx ON eigenschap USING btree (statustype_id);
CREATE TRIGGER eigenschap_has_room BEFORE INSERT ON eigenschap FOR EACH ROW EXECUTE FUNCTION has_room('zaaktype_id', '1000');
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON eigenschap FOR EACH ROW EXECUTE FUNCTION feed_type_part('eigenschap');

-- A document: what stays the same over its versions, and of the latest version what rights and lists need.
create table enkelvoudiginformatieobject (
  bronorganisatie text not null, -- RSIN of the organisation that made it (latest version).
  duplicate integer not null default 0, -- 0, or the place among documents that were taken over with the same number.
  id bigint not null generated always as identity, -- Internal key; order of lists.
  identificatie text not null, -- Number, unique within bronorganisatie (latest version).
  informatieobjecttype_id bigint, -- Its type, when that is one of ours (latest version).
  informatieobjecttype_url text, -- Its type, when that stands elsewhere (latest version).
  is_gereed_voor_publicatie boolean, -- Whether it may be published (latest version): some applications read nothing else.
  lock text, -- Id of the lock that a client holds, empty when unlocked (drc-009).
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  versie integer not null default 1, -- Number of the latest version.
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null, -- Confidentiality (latest version).
  constraint enkelvoudiginformatieobject_pkey PRIMARY KEY (id),
  constraint enkelvoudiginformatieobject_identificatie_unique UNIQUE (identificatie, bronorganisatie, duplicate),
  constraint enkelvoudiginformatieobject_uuid_unique UNIQUE (uuid),
  constraint enkelvoudiginformatieobject_informatieobjecttype_id_fkey FOREIGN KEY (informatieobjecttype_id) REFERENCES informatieobjecttype(id),
  constraint enkelvoudiginformatieobject_one_type CHECK ((num_nonnulls(informatieobjecttype_id, informatieobjecttype_url) = 1))
);
CREATE INDEX enkelvoudiginformatieobject_informatieobjecttype_id_idx ON enkelvoudiginformatieobject USING btree (informatieobjecttype_id, vertrouwelijkheidaanduiding, id);
CREATE INDEX enkelvoudiginformatieobject_list ON enkelvoudiginformatieobject USING btree (id) INCLUDE (informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie);
CREATE INDEX enkelvoudiginformatieobject_locked_idx ON enkelvoudiginformatieobject USING btree (id) WHERE (lock IS NOT NULL);
CREATE INDEX enkelvoudiginformatieobject_more_versions_idx ON enkelvoudiginformatieobject USING btree (id) WHERE (versie > 1);
CREATE INDEX enkelvoudiginformatieobject_place_in_alphabet_id_idx ON enkelvoudiginformatieobject USING btree (place_in_alphabet(vertrouwelijkheidaanduiding), id);
CREATE TRIGGER count_added AFTER INSERT ON enkelvoudiginformatieobject REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_enkelvoudiginformatieobject();
CREATE TRIGGER count_changed AFTER UPDATE ON enkelvoudiginformatieobject FOR EACH ROW WHEN ((((((old.informatieobjecttype_id IS DISTINCT FROM new.informatieobjecttype_id) OR (old.informatieobjecttype_url IS DISTINCT FROM new.informatieobjecttype_url)) OR (old.vertrouwelijkheidaanduiding IS DISTINCT FROM new.vertrouwelijkheidaanduiding)) OR (old.bronorganisatie IS DISTINCT FROM new.bronorganisatie)) OR (old.is_gereed_voor_publicatie IS DISTINCT FROM new.is_gereed_voor_publicatie))) EXECUTE FUNCTION recount_enkelvoudiginformatieobject();
CREATE TRIGGER count_emptied AFTER TRUNCATE ON enkelvoudiginformatieobject FOR EACH STATEMENT EXECUTE FUNCTION forget_counts('');
CREATE TRIGGER count_removed AFTER DELETE ON enkelvoudiginformatieobject REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_enkelvoudiginformatieobject();
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON enkelvoudiginformatieobject FOR EACH ROW EXECUTE FUNCTION feed_document('enkelvoudiginformatieobject');

-- How many documents there are, as additions and subtractions (see zaak_count).
create table enkelvoudiginformatieobject_count (
  bronorganisatie text not null, -- RSIN of the organisation that made it (latest version).
  count bigint not null, -- What to add to the count; negative after a delete.
  informatieobjecttype_id bigint, -- Its type, when that is one of ours (latest version).
  informatieobjecttype_url text, -- Its type, when that stands elsewhere (latest version).
  is_gereed_voor_publicatie boolean, -- Whether it may be published (latest version): some applications read nothing else.
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null -- Confidentiality (latest version).
);

-- A version of a document; only added to, by every PUT and PATCH.
create table enkelvoudiginformatieobject_versie (
  auteur text not null, -- Author.
  begin_registratie timestamp with time zone not null default clock_timestamp(), -- When this version was made or last touched.
  beschrijving text not null default ''::text, -- Description.
  bestandsnaam text not null default ''::text, -- Name of the file, for people.
  bestandsomvang bigint, -- Size in bytes; of an upload in parts the announced size.
  bronorganisatie text not null, -- RSIN of the organisation that made it.
  creatiedatum date not null, -- Day on which the document was made.
  enkelvoudiginformatieobject_id bigint not null, -- The document.
  file_id bigint, -- The stored bytes; empty: no content.
  formaat text not null default ''::text, -- Media type as the client gave it.
  identificatie text not null, -- Number within bronorganisatie.
  indicatie_gebruiksrecht boolean, -- Whether rights of use apply; empty: unknown (drc-006).
  informatieobjecttype_id bigint, -- Its type, when that is one of ours.
  informatieobjecttype_url text, -- Its type, when that stands elsewhere.
  inhoud_is_vervallen boolean, -- Whether the content is no longer valid (1.5).
  integriteit_algoritme text, -- Algorithm of the checksum that the client gave.
  integriteit_datum date, -- Day on which it was made.
  integriteit_waarde text, -- That checksum.
  is_gereed_voor_publicatie boolean, -- Whether it may be published (1.7).
  link text not null default ''::text, -- URL where the document can be read.
  ondertekening_datum date, -- Day of signature.
  ondertekening_soort text, -- Kind of signature.
  ontvangstdatum date, -- Day of receipt.
  status text not null default ''::text, -- in_bewerking, ter_vaststelling, definitief, gearchiveerd or empty.
  taal text not null, -- Language, ISO 639-2/B.
  titel text not null, -- Title.
  tonen_aan_initiator boolean not null default false, -- Whether the initiator may see it (1.6).
  trefwoorden text[] not null default '{}'::text[], -- Key words.
  verschijningsvorm text not null default ''::text, -- Appearance.
  versie integer not null, -- Number, from 1, without gaps.
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null, -- Confidentiality.
  verzenddatum date, -- Day of sending.
  constraint enkelvoudiginformatieobject_versie_pkey PRIMARY KEY (enkelvoudiginformatieobject_id, versie),
  constraint enkelvoudiginformatieobject_v_enkelvoudiginformatieobject__fkey FOREIGN KEY (enkelvoudiginformatieobject_id) REFERENCES enkelvoudiginformatieobject(id) ON DELETE CASCADE,
  constraint enkelvoudiginformatieobject_versie_file_id_fkey FOREIGN KEY (file_id) REFERENCES file(id),
  constraint enkelvoudiginformatieobject_versie_informatieobjecttype_id_fkey FOREIGN KEY (informatieobjecttype_id) REFERENCES informatieobjecttype(id)
);
CREATE INDEX enkelvoudiginformatieobject_versie_auteur_idx ON enkelvoudiginformatieobject_versie USING btree (auteur, enkelvoudiginformatieobject_id);
CREATE INDEX enkelvoudiginformatieobject_versie_bestandsomvang_idx ON enkelvoudiginformatieobject_versie USING btree (bestandsomvang, enkelvoudiginformatieobject_id);
CREATE INDEX enkelvoudiginformatieobject_versie_creatiedatum ON enkelvoudiginformatieobject_versie USING btree (creatiedatum, enkelvoudiginformatieobject_id);
CREATE INDEX enkelvoudiginformatieobject_versie_file_id_idx ON enkelvoudiginformatieobject_versie USING btree (file_id);
CREATE INDEX enkelvoudiginformatieobject_versie_formaat_idx ON enkelvoudiginformatieobject_versie USING btree (formaat, enkelvoudiginformatieobject_id);
CREATE INDEX enkelvoudiginformatieobject_versie_part_of_text ON enkelvoudiginformatieobject_versie USING gin (lower(auteur) extensions.gin_trgm_ops, lower(beschrijving) extensions.gin_trgm_ops);
CREATE INDEX enkelvoudiginformatieobject_versie_part_of_title ON enkelvoudiginformatieobject_versie USING gin (lower(titel) extensions.gin_trgm_ops);
CREATE INDEX enkelvoudiginformatieobject_versie_rights_idx ON enkelvoudiginformatieobject_versie USING btree (informatieobjecttype_id, vertrouwelijkheidaanduiding, enkelvoudiginformatieobject_id) INCLUDE (creatiedatum);
CREATE INDEX enkelvoudiginformatieobject_versie_status_idx ON enkelvoudiginformatieobject_versie USING btree (status, enkelvoudiginformatieobject_id);
CREATE INDEX enkelvoudiginformatieobject_versie_titel ON enkelvoudiginformatieobject_versie USING btree (titel, enkelvoudiginformatieobject_id);
CREATE INDEX enkelvoudiginformatieobject_versie_trefwoorden ON enkelvoudiginformatieobject_versie USING gin (trefwoorden);
CREATE TRIGGER feed_enkelvoudiginformatieobject_id_update AFTER UPDATE ON enkelvoudiginformatieobject_versie FOR EACH ROW WHEN (true) EXECUTE FUNCTION feed_touch('enkelvoudiginformatieobject_id', 'enkelvoudiginformatieobject', 'drc', 'enkelvoudiginformatieobject', 'r.id');

-- How the external notifications service is doing: one row.
create table external_receiver (
  failing_since timestamp with time zone, -- Since when attempts fail; empty: they do not.
  failures integer not null default 0, -- Attempts that failed since the last one that succeeded.
  last_http_status integer, -- Status of that answer.
  last_outcome text, -- Outcome of the last attempt that failed; empty: the last one succeeded.
  not_before timestamp with time zone, -- Nothing is sent to it before this moment: it asked for that.
  paused_at timestamp with time zone, -- Since when sending to it is paused; empty: it is not.
  singleton boolean not null default true, -- True; keeps it to one row.
  constraint external_receiver_pkey PRIMARY KEY (singleton),
  constraint external_receiver_singleton_check CHECK (singleton)
);

-- From where on the feed is whole: one row, and none while it is switched off.
create table feed (
  cluster text not null, -- The cluster with its timeline, the database and the table, that the numbers in table change are of.
  epoch text not null default "left"(md5((random())::text), 8), -- Positions of another epoch mean nothing here: numbers of transactions begin anew with another cluster.
  first xid8 not null default pg_current_xact_id(), -- Changes of this transaction, and of those before it, are not kept (any more).
  secret bytea not null default (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), -- Key that positions are sealed with: a number of a transaction tells how much others did.
  singleton boolean not null default true, -- True; keeps it to one row.
  constraint feed_pkey PRIMARY KEY (singleton),
  constraint feed_singleton_check CHECK (singleton)
);

-- Snapshots of a collection for who begins a copy, each as its rights see it. Kept for FEED_SNAPSHOT_DAYS.
create table feed_snapshot (
  component text not null, -- zrc, drc, brc or ztc, as in change.
  created_at timestamp with time zone not null default now(), -- When it was made.
  file_id bigint, -- Its bytes: gzip of a line of JSON per resource, sealed with its key.
  id bigint not null generated always as identity, -- Internal key.
  judged xid8, -- Up to this transaction nothing has left that it holds: it is withdrawn when something did.
  made_at timestamp with time zone, -- When it was ready.
  position text, -- Where deltas follow on it; empty: it is being made.
  rights text not null, -- For which rights: part of the position.
  sealed_key bytea, -- Key of its bytes, sealed with a key of the ring.
  sha256 bytea, -- Of that gzip.
  total bigint, -- Resources in it.
  viewer jsonb not null, -- Those rights, and the address for links.
  xact xid8, -- The transaction of its position.
  constraint feed_snapshot_pkey PRIMARY KEY (id),
  constraint feed_snapshot_file_id_fkey FOREIGN KEY (file_id) REFERENCES file(id)
);
CREATE INDEX feed_snapshot_component_rights_idx ON feed_snapshot USING btree (component, rights, id);
CREATE INDEX feed_snapshot_file_id_idx ON feed_snapshot USING btree (file_id);
CREATE UNIQUE INDEX feed_snapshot_under_way ON feed_snapshot USING btree (component, rights) WHERE (made_at IS NULL);

-- Stored bytes. Written before the row exists; without a row they are swept away.
create table file (
  backend text not null, -- Storage that holds the bytes: filesystem, s3_storage or azure_blob_storage.
  created_at timestamp with time zone not null default now(), -- When it was stored.
  id bigint not null generated always as identity, -- Internal key.
  key text not null, -- Key in that storage, made by us.
  missing_since timestamp with time zone, -- When its bytes were first not found in the store; empty: they were there when last asked for.
  sha256 bytea, -- SHA-256 of the bytes; empty for bytes that were taken over as they lie and not read yet.
  size bigint not null, -- Size in bytes.
  constraint file_pkey PRIMARY KEY (id),
  constraint file_key_unique UNIQUE (key, backend)
);
CREATE INDEX file_missing ON file USING btree (missing_since) WHERE (missing_since IS NOT NULL);
CREATE TRIGGER count_added AFTER INSERT ON file REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_file();
CREATE TRIGGER count_changed AFTER UPDATE ON file FOR EACH ROW WHEN (((old.backend IS DISTINCT FROM new.backend) OR (old.size IS DISTINCT FROM new.size))) EXECUTE FUNCTION recount_file();
CREATE TRIGGER count_emptied AFTER TRUNCATE ON file FOR EACH STATEMENT EXECUTE FUNCTION forget_counts('');
CREATE TRIGGER count_removed AFTER DELETE ON file REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_file();

-- How many bytes the contents of documents take, as additions and subtractions (see zaak_count).
create table file_count (
  backend text not null, -- Storage that holds them.
  count bigint not null -- Bytes to add; negative after a removal.
);

-- Conditions under which a document may be used outside the case (Documenten API, Gebruiksrechten).
create table gebruiksrecht (
  einddatum timestamp with time zone, -- Until when.
  enkelvoudiginformatieobject_id bigint not null, -- The document.
  id bigint not null generated always as identity, -- Internal key.
  omschrijving_voorwaarden text not null, -- The conditions.
  startdatum timestamp with time zone not null, -- From when.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  constraint gebruiksrecht_pkey PRIMARY KEY (id),
  constraint gebruiksrecht_uuid_unique UNIQUE (uuid),
  constraint gebruiksrecht_enkelvoudiginformatieobject_id_fkey FOREIGN KEY (enkelvoudiginformatieobject_id) REFERENCES enkelvoudiginformatieobject(id) ON DELETE CASCADE
);
CREATE INDEX gebruiksrecht_enkelvoudiginformatieobject_id_idx ON gebruiksrecht USING btree (enkelvoudiginformatieobject_id);
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON gebruiksrecht FOR EACH ROW EXECUTE FUNCTION feed_document_part('gebruiksrechten');

-- What there was at the end of a day (src/operations/figures.ts).
create table growth_figure (
  cases bigint not null, -- Cases.
  database_bytes bigint not null, -- Bytes of the tables and indexes, the queue included.
  day date not null, -- The day, in the time zone of the settings.
  disk_bytes bigint, -- Bytes in use on the disk of the documents; empty where documents are on no disk of ours.
  disk_total bigint, -- Bytes that this disk has.
  documents bigint not null, -- Documents.
  constraint growth_figure_pkey PRIMARY KEY (day)
);

-- The history of this database, which a restore ends: one row.
create table history (
  cluster text not null default current_cluster(), -- What current_cluster() said when it began.
  epoch text not null default "left"(md5((random())::text), 8), -- Positions of another epoch mean nothing here.
  mark bigint not null default 0, -- The number that stands beside the documents as well. One there that is higher says that this database was put back (src/documenten/storage/mark.ts).
  secret bytea not null default (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), -- Key that positions of fetched messages are sealed with.
  singleton boolean not null default true, -- True; keeps it to one row.
  told text not null default ''::text, -- What told_so_far() said at that mark.
  constraint history_pkey PRIMARY KEY (singleton),
  constraint history_singleton_check CHECK (singleton)
);

-- Requests that came with an Idempotency-Key, each written in the transaction of its change, with what a repetition of it gets. Removed after IDEMPOTENCY_KEY_HOURS.
create table idempotency_key (
  answer text, -- What `mutate` gave back as JSON, or the body of a refusal; empty when it was too large.
  applicatie_uuid uuid not null, -- The application that sent it: keys of others are other keys.
  created_at timestamp with time zone not null default now(), -- When it was kept.
  fingerprint bytea not null, -- SHA-256 of the method, the address and the body.
  key text not null, -- What the client called it.
  made jsonb, -- Members of that which the database made.
  status smallint, -- HTTP status of a refusal, and else 200; empty while other servers are asked.
  constraint idempotency_key_pkey PRIMARY KEY (applicatie_uuid, key),
  constraint idempotency_key_fingerprint_check CHECK ((length(fingerprint) = 32)),
  constraint idempotency_key_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255)))
);
CREATE INDEX idempotency_key_created_at_idx ON idempotency_key USING btree (created_at);

-- Bulk imports of documents.
create table import (
  applicatie_uuid text not null default ''::text, -- Application that made it.
  base_url text, -- Address under which the upload came in: URLs in rows that begin with it are ours.
  batch_size integer, -- Rows a batch (IMPORT_DOCUMENTEN_BATCH_SIZE at the upload).
  bestandsnaam text not null default ''::text, -- Name of the file as the browser gave it; empty for uploads of clients.
  client_id text not null default ''::text, -- Client that made it.
  created_at timestamp with time zone not null default now(), -- When it was made.
  deleted_at timestamp with time zone, -- When it was deleted; a job then removes its rows bit by bit.
  dialect jsonb not null default '{}'::jsonb, -- How the file was written (src/documenten/import/dialect.ts), for a report that is written the same way; {}: as RFC 4180 has it.
  empty_rows integer not null default 0, -- Rows without anything in them, which were passed over.
  ended_at timestamp with time zone, -- When it became finished or error.
  failed integer generated always as ((processed - succeeded)) stored, -- Of these, rows that did not.
  header json, -- Header of the CSV, as an array of names; empty: no CSV yet.
  id bigint not null generated always as identity, -- Internal key.
  kind text not null default 'documenten'::text, -- What is imported.
  passed_over integer not null default 0, -- Rows that became a document before: their column resultaat says so, or the import of which this is the rest.
  paused_at timestamp with time zone, -- Since when it is paused (status active): no batch is begun until it goes on.
  processed integer not null default 0, -- Rows handled and committed; the next batch begins at the row after.
  reason text, -- Why it stopped (status error), or what it waits for (status active).
  rest_of bigint, -- The import of which this one brings what failed.
  rows_id bigint, -- Its rows in import_row: those of a draft with a minus before its id. Empty: those with its own id.
  sha256 bytea, -- SHA-256 of its file: the same one again is told.
  started_at timestamp with time zone, -- When its CSV was accepted, or its turn came after that.
  started_by text not null default ''::text, -- Account of the administration pages that started it; empty: a client did.
  status text not null default 'pending'::text, -- queued (waits for its turn), pending (no CSV yet), active (runs), finished (all rows handled) or error (stopped before the end).
  succeeded integer not null default 0, -- Of these, rows that became a document.
  total integer not null default 0, -- Rows in the CSV, without the empty ones.
  updated_at timestamp with time zone not null default now(), -- When its last batch was committed.
  uuid uuid not null default gen_random_uuid(), -- Part of its URLs.
  constraint import_pkey PRIMARY KEY (id),
  constraint import_uuid_unique UNIQUE (uuid),
  constraint import_rest_of_fkey FOREIGN KEY (rest_of) REFERENCES import(id) ON DELETE SET NULL,
  constraint import_kind_check CHECK ((kind = 'documenten'::text)),
  constraint import_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'pending'::text, 'active'::text, 'finished'::text, 'error'::text])))
);
CREATE UNIQUE INDEX import_one_open ON import USING btree (kind) WHERE (status = ANY (ARRAY['pending'::text, 'active'::text]));
CREATE INDEX import_queue ON import USING btree (id) WHERE (status = 'queued'::text);
CREATE INDEX import_rest_of_idx ON import USING btree (rest_of) WHERE (rest_of IS NOT NULL);
CREATE INDEX import_sha256 ON import USING btree (sha256) WHERE (sha256 IS NOT NULL);

-- Batches of the active import that a worker prepares, or has prepared, before they are written.
create unlogged table import_ahead (
  backend text, -- Backend to which its files are copied; empty: a program of before 1.1.0 prepares it.
  bytes bigint not null default 0, -- Size of the files that are being copied, where they come on a disk of ours.
  claim uuid not null, -- Id of the claim: who prepares it, and whose files these are.
  content json, -- What was prepared: rows that failed, and rows with their copied file; empty: not ready.
  directory text, -- What the keys of its files begin with: nothing else is below it.
  import_id bigint not null, -- The import.
  rows integer not null, -- How many rows it has.
  seen_at timestamp with time zone not null default now(), -- Last sign of life of who prepares it; when it was ready.
  start integer not null, -- How many rows lie before its first one.
  store text, -- Which store that is: two with the same backend may have other directories or buckets.
  constraint import_ahead_pkey PRIMARY KEY (import_id, start),
  constraint import_ahead_import_id_fkey FOREIGN KEY (import_id) REFERENCES import(id) ON DELETE CASCADE
);

-- Files that were uploaded in the administration pages and not imported yet. The daily clean-up removes them after a day.
create table import_draft (
  base_url text not null, -- Address under which the upload came in: URLs in rows that begin with it are ours.
  bestandsnaam text not null default ''::text, -- Name of the file as the browser gave it.
  bytes bigint not null default 0, -- Size of the file in bytes.
  created_at timestamp with time zone not null default now(), -- When it was uploaded.
  created_by text not null default ''::text, -- Account that uploaded it.
  deleted_at timestamp with time zone, -- When it was imported or thrown away; a job then removes its rows bit by bit.
  dialect jsonb not null default '{}'::jsonb, -- How the file was written (src/documenten/import/dialect.ts).
  empty_rows integer not null default 0, -- Rows without anything in them, which were passed over.
  header json, -- Header of the CSV, as an array of names.
  id bigint not null generated always as identity, -- Internal key.
  passed_over integer not null default 0, -- Rows whose column resultaat says that they became a document before.
  sha256 bytea, -- SHA-256 of the file.
  total integer not null default 0, -- Rows in the CSV, without the empty ones.
  trial_bytes bigint not null default 0, -- Size of the files that would be copied, as far as the dry run has looked.
  trial_ended_at timestamp with time zone, -- When the dry run ended.
  trial_faults integer not null default 0, -- Of these, rows that would not be imported.
  trial_handled integer not null default 0, -- Rows that the dry run has looked at.
  trial_largest bigint not null default 0, -- Size of the largest of them.
  trial_largest_line integer, -- The row of that one, as numbered in the file.
  trial_reason text, -- Why the dry run stopped.
  trial_started_at timestamp with time zone, -- When the dry run began. It also tells two runs of its job apart: the older one ends.
  trial_status text, -- Dry run: wacht (asked for), bezig, klaar or mislukt (stopped before the end); empty: never asked for.
  trial_updated_at timestamp with time zone, -- Last progress of the dry run.
  uuid uuid not null default gen_random_uuid(), -- Part of the addresses of its pages.
  constraint import_draft_pkey PRIMARY KEY (id),
  constraint import_draft_uuid_unique UNIQUE (uuid),
  constraint import_draft_trial_status_check CHECK ((trial_status = ANY (ARRAY['wacht'::text, 'bezig'::text, 'klaar'::text, 'mislukt'::text])))
);

-- Rows of an uploaded CSV that would not be imported, as the dry run found.
create table import_draft_fault (
  draft_id bigint not null, -- The upload.
  number integer not null, -- The row.
  remark text not null, -- Why not, naming the column.
  constraint import_draft_fault_pkey PRIMARY KEY (draft_id, number),
  constraint import_draft_fault_draft_id_fkey FOREIGN KEY (draft_id) REFERENCES import_draft(id) ON DELETE CASCADE
);

-- How many rows would fail for one reason, as the dry run found.
create table import_draft_fault_kind (
  count integer not null, -- Rows that would fail for it.
  draft_id bigint not null, -- The upload.
  examples jsonb not null, -- The first few of them: number and remark.
  hash bigint not null, -- Hash of the reason.
  reason text not null, -- The reason (function import_reason).
  constraint import_draft_fault_kind_pkey PRIMARY KEY (draft_id, hash),
  constraint import_draft_fault_kind_draft_id_fkey FOREIGN KEY (draft_id) REFERENCES import_draft(id) ON DELETE CASCADE
);
CREATE INDEX import_draft_fault_kind_count ON import_draft_fault_kind USING btree (draft_id, count DESC, hash);

-- The uuids and numbers that a dry run has met in good rows, to find those that come twice in a file of any size.
create unlogged table import_draft_key (
  draft_id bigint not null, -- The upload.
  key text not null, -- A uuid, or a bronorganisatie and identificatie.
  constraint import_draft_key_pkey PRIMARY KEY (draft_id, key),
  constraint import_draft_key_draft_id_fkey FOREIGN KEY (draft_id) REFERENCES import_draft(id) ON DELETE CASCADE
);

-- Rows of files that a program of 1.0.0 received to be looked at.
create table import_draft_row (
  cells json not null, -- The cells in their order.
  draft_id bigint not null, -- The upload.
  number integer not null, -- Row number as people count it in the file: the header is 1, the first row is 2.
  constraint import_draft_row_pkey PRIMARY KEY (draft_id, number),
  constraint import_draft_row_draft_id_fkey FOREIGN KEY (draft_id) REFERENCES import_draft(id) ON DELETE CASCADE
);

-- The same of an uploaded file that was not imported yet.
create table import_draft_shift (
  draft_id bigint not null, -- The upload.
  number integer not null, -- The row.
  shift integer not null, -- What is added to numbers from there on to get that of the file.
  constraint import_draft_shift_pkey PRIMARY KEY (draft_id, number),
  constraint import_draft_shift_draft_id_fkey FOREIGN KEY (draft_id) REFERENCES import_draft(id) ON DELETE CASCADE
);

-- How many rows of an import failed for one reason; kept with every batch, since counting a million rows takes too long for a page.
create table import_fault_kind (
  count integer not null, -- Rows that failed for it.
  hash bigint not null, -- Hash of the reason.
  import_id bigint not null, -- The import.
  reason text not null, -- The reason (function import_reason).
  constraint import_fault_kind_pkey PRIMARY KEY (import_id, hash),
  constraint import_fault_kind_import_id_fkey FOREIGN KEY (import_id) REFERENCES import(id) ON DELETE CASCADE
);
CREATE INDEX import_fault_kind_count ON import_fault_kind USING btree (import_id, count DESC, hash);

-- How many rows of an import were handled in ten seconds, for the picture of its speed; each batch adds its own.
create table import_figure (
  at timestamp with time zone not null, -- Begin of the ten seconds.
  failed integer not null, -- Of these, rows that did not become a document.
  handled integer not null, -- Rows handled.
  import_id bigint not null, -- The import.
  constraint import_figure_pkey PRIMARY KEY (import_id, at),
  constraint import_figure_import_id_fkey FOREIGN KEY (import_id) REFERENCES import(id) ON DELETE CASCADE
);

-- Outcome of a row, written with the document that it became.
create table import_outcome (
  document_uuid uuid, -- uuid of the document.
  identificatie text, -- identificatie of the document.
  import_id bigint not null, -- The import.
  number integer not null, -- The row.
  remark text not null default ''::text, -- Why not, naming the column.
  succeeded boolean not null, -- Whether it became a document.
  constraint import_outcome_pkey PRIMARY KEY (import_id, number),
  constraint import_outcome_import_id_fkey FOREIGN KEY (import_id) REFERENCES import(id) ON DELETE CASCADE
);
CREATE INDEX import_outcome_failed ON import_outcome USING btree (import_id, number) WHERE (NOT succeeded);
CREATE INDEX import_outcome_reason ON import_outcome USING btree (import_id, hashtextextended(import_reason(remark), (0)::bigint), number) WHERE (NOT succeeded);
CREATE TRIGGER count_import_faults AFTER INSERT ON import_outcome REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_import_faults();

-- What was found when each copy that an import stored was read once more, after its end.
create table import_receipt (
  bytes bigint not null default 0, -- Size of these.
  created_at timestamp with time zone not null default now(), -- When it was made.
  damaged integer not null default 0, -- Copies that are not what their source was, or are missing.
  documents integer not null default 0, -- Copies that are what their source was.
  ended_at timestamp with time zone, -- When all copies were read.
  faults jsonb not null default '[]'::jsonb, -- The first hundred of those.
  gone integer not null default 0, -- Documents that were deleted since.
  hash bytea not null default '\x'::bytea, -- Chain over the sums of all copies (src/documenten/import/receipt.ts).
  import_id bigint not null, -- The import.
  jws text, -- The receipt, signed.
  position integer not null default 0, -- The last row whose copy was read.
  constraint import_receipt_pkey PRIMARY KEY (import_id),
  constraint import_receipt_import_id_fkey FOREIGN KEY (import_id) REFERENCES import(id) ON DELETE CASCADE
);

-- Rows of uploaded files, as they came.
create table import_row (
  bytes integer not null generated always as (octet_length((cells)::text)) stored, -- Size of the cells in bytes.
  cells json not null, -- The cells in their order (json and not jsonb: a cell may hold what jsonb refuses).
  import_id bigint not null, -- The import; below zero the draft that received them (rows_id of import).
  number integer not null, -- Row number as people count it in the file: the header is 1, the first row is 2; empty rows do not count.
  constraint import_row_pkey PRIMARY KEY (import_id, number)
);

-- How many more rows of the file lie before a row than its number says; of each row from which that differs on.
create table import_shift (
  import_id bigint not null, -- The import.
  number integer not null, -- The row.
  shift integer not null, -- What is added to numbers from there on to get that of the file.
  constraint import_shift_pkey PRIMARY KEY (import_id, number),
  constraint import_shift_import_id_fkey FOREIGN KEY (import_id) REFERENCES import(id) ON DELETE CASCADE
);

-- A version of a document type (Catalogi API, InformatieObjectType).
create table informatieobjecttype (
  begin_geldigheid date not null, -- First day of validity.
  catalogus_id bigint not null, -- The catalogue.
  concept boolean not null default true, -- True until it is published; only published types are used.
  einde_geldigheid date, -- Last day of validity.
  id bigint not null generated always as identity, -- Internal key.
  informatieobjectcategorie text not null, -- Category.
  omschrijving text not null, -- Name; versions of one type share it within their catalogue.
  omschrijving_generiek jsonb not null default '{}'::jsonb, -- Group omschrijvingGeneriek as the API shows it.
  trefwoord text[] not null default '{}'::text[], -- Key words.
  uuid uuid not null default gen_random_uuid(), -- Last part of its URL.
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null, -- Confidentiality of documents that state none (drc-007).
  constraint informatieobjecttype_pkey PRIMARY KEY (id),
  constraint informatieobjecttype_uuid_unique UNIQUE (uuid),
  constraint informatieobjecttype_catalogus_id_fkey FOREIGN KEY (catalogus_id) REFERENCES catalogus(id)
);
CREATE INDEX informatieobjecttype_catalogus_id_omschrijving_idx ON informatieobjecttype USING btree (catalogus_id, omschrijving);
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON informatieobjecttype FOR EACH ROW EXECUTE FUNCTION feed_type('informatieobjecttype');
CREATE TRIGGER informatieobjecttype_has_room BEFORE INSERT ON informatieobjecttype FOR EACH ROW EXECUTE FUNCTION has_room('catalogus_id', '25000');

-- Channels of the notifications service that is built in.
create table kanaal (
  created_at timestamp with time zone not null default now(), -- When it was made.
  documentatie_link text not null default ''::text, -- Where its kenmerken are explained; may be empty.
  filters text[] not null default '{}'::text[], -- Names of the kenmerken that one may filter on.
  id bigint not null generated always as identity, -- Internal key; order of lists.
  naam text not null, -- Name, such as zaken. It never changes.
  own boolean not null default false, -- This service publishes on it: its filters come from the program.
  uuid uuid not null default gen_random_uuid(), -- Last part of its URL.
  constraint kanaal_pkey PRIMARY KEY (id),
  constraint kanaal_naam_unique UNIQUE (naam),
  constraint kanaal_uuid_unique UNIQUE (uuid),
  constraint kanaal_documentatie_link_check CHECK ((length(documentatie_link) <= 200)),
  constraint kanaal_naam_check CHECK (((length(naam) >= 1) AND (length(naam) <= 50)))
);

-- Processes that run, with their keys.
create table key_holder (
  id uuid not null, -- The process.
  keys text[] not null, -- Names of its keys.
  seals text not null, -- The one that it seals with.
  seen_at timestamp with time zone not null default now(), -- Its last sign of life.
  constraint key_holder_pkey PRIMARY KEY (id)
);

-- A contact with a customer about a case (Zaken API, KlantContact; deprecated).
create table klantcontact (
  datumtijd timestamp with time zone not null, -- When it was.
  id bigint not null generated always as identity, -- Internal key.
  identificatie text not null, -- Number, unique over all.
  kanaal text not null default ''::text, -- Channel.
  onderwerp text not null default ''::text, -- Subject.
  toelichting text not null default ''::text, -- Explanation.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  zaak_id bigint not null, -- The case.
  constraint klantcontact_pkey PRIMARY KEY (id),
  constraint klantcontact_identificatie_unique UNIQUE (identificatie),
  constraint klantcontact_uuid_unique UNIQUE (uuid),
  constraint klantcontact_zaak_id_fkey FOREIGN KEY (zaak_id) REFERENCES zaak(id) ON DELETE CASCADE
);
CREATE INDEX klantcontact_zaak_id_idx ON klantcontact USING btree (zaak_id);
CREATE TRIGGER count_added AFTER INSERT ON klantcontact REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_klantcontact();
CREATE TRIGGER count_changed AFTER UPDATE ON klantcontact FOR EACH ROW WHEN ((((((((old.zaak_id IS DISTINCT FROM new.zaak_id) OR (''::text IS DISTINCT FROM ''::text)) OR (NULL::bigint IS DISTINCT FROM NULL::bigint)) OR (NULL::text IS DISTINCT FROM NULL::text)) OR (''::text IS DISTINCT FROM ''::text)) OR (''::text IS DISTINCT FROM ''::text)) OR (''::text IS DISTINCT FROM ''::text))) EXECUTE FUNCTION recount_klantcontact();
CREATE TRIGGER count_emptied AFTER TRUNCATE ON klantcontact FOR EACH STATEMENT EXECUTE FUNCTION forget_counts('zaak_part');
CREATE TRIGGER count_removed AFTER DELETE ON klantcontact REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_klantcontact();
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON klantcontact FOR EACH ROW EXECUTE FUNCTION feed_zaak_part('klantcontact');

-- Schema files that were applied, with their checksums and which programs still work with them.
create table migration (
  applied_at timestamp with time zone not null default now(), -- When it was applied.
  checksum text not null, -- SHA-256 of the file.
  name text not null, -- Name of the file.
  works_from text not null, -- The first version that works with it; empty: any.
  constraint migration_pkey PRIMARY KEY (name)
);

-- The other side of a relation of ours, at another server: made and removed there by us.
create table mirror (
  content jsonb not null, -- What is posted: it also tells ours from others in that list.
  id bigint not null generated always as identity, -- Internal key.
  kind text not null, -- Kind of resource at the other side.
  list_url text not null, -- URL of the list at the other side that it is posted to.
  pending_mirror_id bigint, -- The change that waits for it; empty: none.
  released boolean not null default false, -- Whether our side is gone for good: a job removes it there, then here.
  source_table text not null, -- Our table that holds the relation.
  source_uuid uuid not null, -- Our row in it.
  url text not null default ''::text, -- Its URL; empty until the other side said it.
  constraint mirror_pkey PRIMARY KEY (id),
  constraint mirror_pending_mirror_id_fkey FOREIGN KEY (pending_mirror_id) REFERENCES pending_mirror(id),
  constraint mirror_kind_check CHECK ((kind = ANY (ARRAY['zaakbesluit'::text, 'objectinformatieobject'::text, 'objectcontactmoment'::text, 'objectverzoek'::text])))
);
CREATE INDEX mirror_pending_mirror_id_idx ON mirror USING btree (pending_mirror_id) WHERE (pending_mirror_id IS NOT NULL);
CREATE INDEX mirror_source_uuid_idx ON mirror USING btree (source_uuid);

-- Messages about changes, written in the transaction of the change. Rows are only added, and removed after their term; what has to be delivered is in delivery.
create table notificatie (
  aanmaakdatum timestamp with time zone not null default clock_timestamp(), -- When the change was made.
  aanmaakdatum_text text, -- The moment as another publisher wrote it; empty: it is our own message.
  actie text not null, -- create, update, partial_update or destroy.
  bron text not null default ''::text, -- Attribute source of a message that another publisher gave; empty: none.
  cloudevent text, -- Type of a cloud event, such as nl.overheid.zaken.zaak-gemuteerd; empty: it is a notification of the standard.
  hoofd_object text not null, -- URL of the main object.
  hoofd_object_uuid uuid not null, -- uuid of the main object: messages of one object keep their order.
  id bigint not null generated always as identity, -- Internal key; order of the changes.
  kanaal text not null, -- Channel, such as documenten.
  kenmerken jsonb not null, -- Attributes on which subscribers filter.
  request_id text not null default ''::text, -- Id of the request that the message came from.
  resource text not null, -- Kind of the changed object.
  resource_url text not null, -- URL of the changed object.
  traceparent text, -- Trace context of the request that the message came from; empty: it was not traced.
  uuid uuid not null default uuid_v7(), -- Constant id of the message: goes along with every attempt.
  constraint notificatie_pkey PRIMARY KEY (id),
  constraint notificatie_uuid_unique UNIQUE (uuid)
);
CREATE INDEX notificatie_aanmaakdatum ON notificatie USING btree (aanmaakdatum, id);
CREATE INDEX notificatie_hoofd_object ON notificatie USING btree (hoofd_object_uuid);
CREATE INDEX notificatie_kanaal ON notificatie USING btree (kanaal, aanmaakdatum, id);
CREATE INDEX notificatie_resource ON notificatie USING btree ("right"(resource_url, 36)) WHERE (resource_url <> hoofd_object);

-- How notifications are delivered: one row, read at every attempt.
create table notificatie_settings (
  backoff jsonb not null default '25'::jsonb, -- Factor of the delay in seconds; true: binary exponential; false or 0: always 180 s.
  backoff_max integer not null default 52000, -- Longest delay in seconds, unless backoff is false.
  base_factor integer not null default 4, -- Base of the power in the delay.
  block_after_hours integer not null default 336, -- An abonnement is blocked when a message waits for it for so many hours.
  block_from_count integer not null default 1000000, -- An abonnement is blocked when so many messages wait for it.
  changed_at timestamp with time zone not null default now(), -- When it was last changed.
  configured_service_id bigint, -- The notifications service (kind nrc) of the settings; empty: none.
  in_order boolean not null default true, -- Messages of one main object wait for each other.
  max_retries integer not null default 7, -- Attempts after the first, before a message has failed.
  mode text not null default 'extern'::text, -- Who gets our messages: an external notifications service (extern), the abonnementen here (ingebouwd), or both (beide).
  outage_counts text not null default 'extern'::text, -- At which receivers an attempt counts while the receiver fails as a whole: none (geen), the external service (extern), or all (alle).
  paused_at timestamp with time zone, -- Since when sending is paused, to all receivers; empty: it is not.
  service_id bigint generated always as (
CASE
    WHEN (paused_at IS NULL) THEN configured_service_id
    ELSE NULL::bigint
END) stored, -- The service that messages go to now; empty: messages wait. It follows from the two above.
  singleton boolean not null default true, -- True; keeps it to one row.
  constraint notificatie_settings_pkey PRIMARY KEY (singleton),
  constraint notificatie_service_in_use FOREIGN KEY (configured_service_id) REFERENCES service(id),
  constraint notificatie_settings_backoff_check CHECK (
CASE jsonb_typeof(backoff)
    WHEN 'boolean'::text THEN true
    WHEN 'number'::text THEN (((backoff)::numeric >= (0)::numeric) AND ((backoff)::numeric <= (1000000)::numeric))
    ELSE false
END),
  constraint notificatie_settings_backoff_max_check CHECK (((backoff_max >= 1) AND (backoff_max <= 31536000))),
  constraint notificatie_settings_base_factor_check CHECK (((base_factor >= 1) AND (base_factor <= 1000))),
  constraint notificatie_settings_block_after_hours_check CHECK (((block_after_hours >= 1) AND (block_after_hours <= 87600))),
  constraint notificatie_settings_block_from_count_check CHECK (((block_from_count >= 1) AND (block_from_count <= 100000000))),
  constraint notificatie_settings_max_retries_check CHECK (((max_retries >= 0) AND (max_retries <= 100))),
  constraint notificatie_settings_mode_check CHECK ((mode = ANY (ARRAY['extern'::text, 'ingebouwd'::text, 'beide'::text]))),
  constraint notificatie_settings_outage_counts_check CHECK ((outage_counts = ANY (ARRAY['geen'::text, 'extern'::text, 'alle'::text]))),
  constraint notificatie_settings_singleton_check CHECK (singleton)
);

-- Assertions that were used at our token endpoint, until they expire: none is taken twice.
create table oauth_assertion (
  digest bytea not null, -- SHA-256 of the client id and the claim jti.
  expires_at timestamp with time zone not null, -- When it expires. The row goes after that.
  constraint oauth_assertion_pkey PRIMARY KEY (digest)
);
CREATE INDEX oauth_assertion_expires_at_idx ON oauth_assertion USING btree (expires_at);

-- Keys that our token endpoint signs with, or did. All are published; the newest that may sign does.
create table oauth_signing_key (
  algorithm text not null, -- What it signs with: TOKEN_ENDPOINT at the time.
  created_at timestamp with time zone not null default now(), -- When it was made.
  kid text not null, -- Its name: the thumbprint of the public key (RFC 7638).
  private_key bytea not null, -- The private key (a JWK), sealed (AES-256-GCM) with a key of the ring.
  public_key jsonb not null, -- The public key (a JWK).
  remove_at timestamp with time zone, -- When it goes: after the last token that it signed has run out. Empty: there is no newer one.
  signs_from timestamp with time zone not null, -- From when on it signs: others that check our tokens know it by then.
  constraint oauth_signing_key_pkey PRIMARY KEY (kid),
  constraint oauth_signing_key_algorithm_check CHECK ((algorithm = ANY (ARRAY['EdDSA'::text, 'ES256'::text])))
);

-- That a document belongs to a zaak, besluit or verzoek (drc-003). While a row is there the document cannot be deleted (drc-008): the reference does not cascade.
create table objectinformatieobject (
  enkelvoudiginformatieobject_id bigint not null, -- The document.
  id bigint not null generated always as identity, -- Internal key.
  object_type text not null, -- Kind of the object.
  object_url text, -- URL of the object when it stands elsewhere.
  object_uuid uuid, -- uuid of the object when it is one of ours; the row comes and goes with the zaakinformatieobject or besluitinformatieobject.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  constraint objectinformatieobject_pkey PRIMARY KEY (id),
  constraint objectinformatieobject_unique UNIQUE NULLS NOT DISTINCT (enkelvoudiginformatieobject_id, object_uuid, object_url) INCLUDE (object_type),
  constraint objectinformatieobject_uuid_unique UNIQUE (uuid),
  constraint objectinformatieobject_enkelvoudiginformatieobject_id_fkey FOREIGN KEY (enkelvoudiginformatieobject_id) REFERENCES enkelvoudiginformatieobject(id),
  constraint objectinformatieobject_object_type_check CHECK ((object_type = ANY (ARRAY['besluit'::text, 'zaak'::text, 'verzoek'::text]))),
  constraint objectinformatieobject_one_object CHECK ((num_nonnulls(object_uuid, object_url) = 1))
);
CREATE INDEX objectinformatieobject_object_type_idx ON objectinformatieobject USING btree (object_type, enkelvoudiginformatieobject_id) WHERE (object_type <> 'zaak'::text);
CREATE INDEX objectinformatieobject_object_url_idx ON objectinformatieobject USING btree (object_url) WHERE (object_url IS NOT NULL);
CREATE INDEX objectinformatieobject_object_uuid_idx ON objectinformatieobject USING btree (object_uuid) WHERE (object_uuid IS NOT NULL);
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON objectinformatieobject FOR EACH ROW EXECUTE FUNCTION feed_document_part('objectinformatieobject');

-- Whose tables these are. No row: an installation by itself.
create table of_organisation (
  is_one boolean not null default true, -- There is one row at most.
  rsin text not null, -- RSIN of the organisation.
  constraint of_organisation_pkey PRIMARY KEY (is_one),
  constraint of_organisation_is_one CHECK (is_one),
  constraint of_organisation_rsin CHECK ((rsin ~ '^\d{9}$'::text))
);

-- Providers of OpenID Connect for the pages that were given there. That of the environment is none of them.
create table oidc_provider (
  administrator text[] not null, -- Groups that mean administrator.
  client_id text not null, -- Our client id there.
  has_own_return boolean not null default false, -- Whether its answers come to an address of its own, so that none of another provider is taken for it.
  id bigint not null generated always as identity, -- Internal key.
  is_active boolean not null, -- Whether people may sign in with it.
  issuer text not null, -- Its address, as its tokens name it.
  label text not null, -- Name for people, on the sign-in page.
  operator text[] not null, -- Groups that mean operator.
  privacy text[] not null, -- Groups that mean privacy.
  role_claim text not null, -- Claim of the ID token with the groups.
  scopes text not null, -- Scopes that are asked, with spaces.
  sealed_secret bytea, -- Our secret there, sealed with a key of the ring; empty: a public client.
  uuid uuid not null, -- Identifies the provider, and what its secret is bound to.
  viewer text[] not null, -- Groups that mean viewer.
  constraint oidc_provider_pkey PRIMARY KEY (id),
  constraint oidc_provider_issuer_unique UNIQUE (issuer),
  constraint oidc_provider_uuid_unique UNIQUE (uuid)
);

-- Requests to other services, for a while. Deliveries of notifications are in delivery_attempt.
create table outgoing_request (
  begun_at timestamp with time zone not null, -- When it began.
  host text not null, -- Host and port.
  id bigint not null generated always as identity, -- Number, about in the order of their ends.
  method text not null, -- Method.
  ms integer not null, -- Milliseconds that it took.
  outcome text not null, -- answered, or why no answer came.
  path text not null, -- Path and query; numbers of nine digits and the values of secrets are covered.
  request_id text not null default ''::text, -- Id of the request to us that it was done for; empty when there is none.
  service text not null, -- Root of the service.
  status integer, -- Status of the answer; empty when none came.
  constraint outgoing_request_pkey PRIMARY KEY (id)
);
CREATE INDEX outgoing_request_begun_at_idx ON outgoing_request USING btree (begun_at);
CREATE INDEX outgoing_request_service_idx ON outgoing_request USING btree (service, id);

-- Changes that wait for another server to do its part. Rows live as long as one call to it; a job ends those of a process that died.
create table pending_mirror (
  actor jsonb not null, -- Who made the change, as audit records name him.
  begun_at timestamp with time zone not null default now(), -- When it began.
  changed_rows jsonb not null, -- What undoes it: [{"table", "uuid"}] for create, [{"table", "row"}] for delete.
  changes jsonb not null, -- The changes as they will be recorded.
  id bigint not null generated always as identity, -- Internal key.
  kind text not null, -- create: our rows are there, and go when the other side refuses; delete: our rows are gone, and come back then.
  constraint pending_mirror_pkey PRIMARY KEY (id),
  constraint pending_mirror_kind_check CHECK ((kind = ANY (ARRAY['create'::text, 'delete'::text])))
);

-- Up to where the jobs that come at set moments were planned: one row a kind, kept by src/jobs/periodic.ts.
create table periodic_job (
  last_at timestamp with time zone not null, -- The last of its moments for which a job was added.
  task text not null, -- Kind of job: a file of that name in tasks/.
  constraint periodic_job_pkey PRIMARY KEY (task)
);

-- Playbacks of what changed since a switch, by the installation that they go to.
create table playback (
  begun_at timestamp with time zone not null default now(), -- When it was first asked for.
  done_at timestamp with time zone, -- When all was last tried.
  id bigint not null generated always as identity, -- Internal key.
  planned_to text not null, -- The snapshot up to which changes are in playback_item; the next run goes on from it.
  takeover_id bigint not null, -- The takeover.
  target text not null, -- Address of the installation, without user or password.
  constraint playback_pkey PRIMARY KEY (id),
  constraint playback_unique UNIQUE (takeover_id, target),
  constraint playback_takeover_id_fkey FOREIGN KEY (takeover_id) REFERENCES takeover(id) ON DELETE CASCADE
);

-- Objects that changed since the switch, and what became of them there. Also the map from our uuids to those of what was made there.
create table playback_item (
  label text not null default ''::text, -- What people know it by.
  locked boolean not null default false, -- Whether this locked the document there, and did not see it unlocked.
  made_here boolean not null, -- Whether it was made since the switch: it has another uuid there.
  main uuid, -- The case, document or besluit that it is or belongs to; empty when that is gone.
  place bigint not null generated always as identity, -- The order in which they changed here.
  playback_id bigint not null, -- The playback.
  remarks jsonb not null default '[]'::jsonb, -- What did not go back: [{"outcome", "code", "field", "value", "text"}].
  resource text not null, -- Kind of object, as the feed names it.
  row_id bigint not null, -- Its row here.
  state text not null default 'waiting'::text, -- waiting, sent (a create of which no answer was seen), made (to be compared), or how it ended: created, changed, deleted, equal or refused.
  there uuid, -- Its uuid there, when it was made by this.
  uuid uuid not null, -- The object here.
  constraint playback_item_pkey PRIMARY KEY (playback_id, uuid, resource),
  constraint playback_item_playback_id_fkey FOREIGN KEY (playback_id) REFERENCES playback(id) ON DELETE CASCADE,
  constraint playback_item_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'sent'::text, 'made'::text, 'created'::text, 'changed'::text, 'deleted'::text, 'equal'::text, 'refused'::text])))
);
CREATE UNIQUE INDEX playback_item_place ON playback_item USING btree (playback_id, resource, place);
CREATE INDEX playback_item_there ON playback_item USING btree (there) WHERE (there IS NOT NULL);

-- Settings of the processes that run, of what all of them have to have alike.
create table process_setting (
  fixed text[] not null, -- Settings of the pages that its environment fixes.
  host text not null, -- Name of its machine or container.
  id uuid not null, -- Id of the process, new at each start.
  pid integer not null, -- Process id on that machine.
  role text not null, -- What it was started as: api, worker or start.
  seen_at timestamp with time zone not null default now(), -- Its last sign of life.
  settings jsonb not null, -- Values by the name of the setting; a secret as a fingerprint of it.
  constraint process_setting_pkey PRIMARY KEY (id)
);

-- What waited at a minute of the last hours (src/operations/figures.ts).
create table queue_figure (
  deliveries integer not null, -- Deliveries that waited.
  delivery_seconds integer not null, -- Age of the message that waited longest.
  job_seconds integer not null, -- For how long the oldest of them could.
  jobs integer not null, -- Jobs that could have begun.
  minute timestamp with time zone not null, -- The minute, by its beginning.
  constraint queue_figure_pkey PRIMARY KEY (minute)
);

-- Cloud events that came in and were acted on, so that each is acted on once. They are removed after NOTIFICATION_NUMBER_OF_DAYS_RETAINED.
create table received_event (
  id text not null, -- Attribute id, unique within the source.
  outcome text not null, -- uitgevoerd, or why nothing was done.
  received_at timestamp with time zone not null default now(), -- When it came first.
  source text not null, -- Attribute source.
  type text not null, -- Attribute type.
  constraint received_event_pkey PRIMARY KEY (source, id)
);
CREATE INDEX received_event_received_at ON received_event USING btree (received_at);

-- How far the sealing with the newest key is, by where the sealed values stand.
create table reseal (
  begun_at timestamp with time zone not null default now(), -- When it was asked for.
  done_at timestamp with time zone, -- When it was done.
  key text not null, -- The key that all gets.
  place text not null, -- The table.
  position bigint, -- The last row that was looked at, of the audit trail the block before which all was; empty: none yet.
  resealed bigint not null default 0, -- How many of them were sealed anew.
  seen bigint not null default 0, -- How many rows were looked at.
  until bigint, -- The last row (or block) when it began: later ones are sealed with the newest key.
  constraint reseal_pkey PRIMARY KEY (place)
);

-- Sending messages again to one abonnement: a job plans them in portions, at a rate. The newest is shown.
create table resend (
  abonnement_id bigint not null, -- Who gets them.
  after_message bigint not null default 0, -- Only messages with a higher key (missed).
  ended_at timestamp with time zone, -- When all was planned, or somebody stopped it; empty: it goes on.
  id bigint not null generated always as identity, -- Internal key.
  kind text not null, -- failed (those that failed), since (all since a moment) or missed (those that were not planned while it was blocked).
  per_minute integer not null, -- Deliveries that it plans in a minute, at most.
  planned integer not null default 0, -- Deliveries that it planned until now.
  position bigint not null default 0, -- Key of that message.
  position_at timestamp with time zone not null default '-infinity'::timestamp with time zone, -- Moment of the last message that was looked at.
  since timestamp with time zone not null default '-infinity'::timestamp with time zone, -- Messages that were made since this moment.
  started_at timestamp with time zone not null default now(), -- When.
  started_by text not null, -- Who asked for it.
  stopped boolean not null default false, -- Somebody stopped it.
  until timestamp with time zone, -- And before this one; empty: it is not known yet.
  waits_for text[], -- Transactions (virtualtransaction of pg_locks) that have to end before it begins: they may not have seen yet that messages are planned again (missed).
  constraint resend_pkey PRIMARY KEY (id),
  constraint resend_abonnement_id_fkey FOREIGN KEY (abonnement_id) REFERENCES abonnement(id) ON DELETE CASCADE,
  constraint resend_kind_check CHECK ((kind = ANY (ARRAY['failed'::text, 'since'::text, 'missed'::text]))),
  constraint resend_per_minute_check CHECK (((per_minute >= 1) AND (per_minute <= 600000)))
);
CREATE INDEX resend_abonnement ON resend USING btree (abonnement_id, id);
CREATE UNIQUE INDEX resend_one_at_once ON resend USING btree (abonnement_id) WHERE (ended_at IS NULL);

-- Numbers that were handed out before their document exists. They never expire; the document takes its number out.
create table reserved_documentnummer (
  bronorganisatie text not null, -- RSIN of the organisation it was reserved for.
  identificatie text not null, -- The number.
  reserved_at timestamp with time zone not null default now(), -- When.
  constraint reserved_documentnummer_pkey PRIMARY KEY (identificatie, bronorganisatie)
);

-- Numbers handed out beforehand; the row goes when a zaak takes the number.
create table reserved_zaaknummer (
  bronorganisatie text not null, -- RSIN of the organisation that asked.
  identificatie text not null, -- The number.
  reserved_at timestamp with time zone not null default now(), -- When it was handed out.
  constraint reserved_zaaknummer_pkey PRIMARY KEY (identificatie, bronorganisatie)
);

-- Outcome of a case (Zaken API, Resultaat); a case has one at most.
create table resultaat (
  id bigint not null generated always as identity, -- Internal key.
  resultaattype_elsewhere jsonb, -- What archiving needs of a kind of outcome elsewhere, as that server said when the outcome was given: {"omschrijving", "archiefnominatie", "archiefactietermijn", "brondatumArchiefprocedure"}.
  resultaattype_id bigint, -- The kind of outcome; of the zaaktype of the case (zrc-020), when that is one of ours.
  resultaattype_url text, -- The kind of outcome, when it stands elsewhere.
  toelichting text not null default ''::text, -- Explanation.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  zaak_id bigint not null, -- The case.
  constraint resultaat_pkey PRIMARY KEY (id),
  constraint resultaat_uuid_unique UNIQUE (uuid),
  constraint resultaat_zaak_unique UNIQUE (zaak_id),
  constraint resultaat_resultaattype_id_fkey FOREIGN KEY (resultaattype_id) REFERENCES resultaattype(id),
  constraint resultaat_zaak_id_fkey FOREIGN KEY (zaak_id) REFERENCES zaak(id) ON DELETE CASCADE,
  constraint resultaat_data_of_type_elsewhere CHECK (((resultaattype_url IS NULL) = (resultaattype_elsewhere IS NULL))),
  constraint resultaat_one_type CHECK ((num_nonnulls(resultaattype_id, resultaattype_url) = 1))
);
CREATE INDEX resultaat_resultaattype_idx ON resultaat USING btree (resultaattype_id, id) INCLUDE (zaak_id);
CREATE INDEX resultaat_resultaattype_url_idx ON resultaat USING btree (resultaattype_url) WHERE (resultaattype_url IS NOT NULL);
CREATE TRIGGER count_added AFTER INSERT ON resultaat REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_resultaat();
CREATE TRIGGER count_changed AFTER UPDATE ON resultaat FOR EACH ROW WHEN ((((((((old.zaak_id IS DISTINCT FROM new.zaak_id) OR (''::text IS DISTINCT FROM ''::text)) OR (old.resultaattype_id IS DISTINCT FROM new.resultaattype_id)) OR (old.resultaattype_url IS DISTINCT FROM new.resultaattype_url)) OR (''::text IS DISTINCT FROM ''::text)) OR (''::text IS DISTINCT FROM ''::text)) OR (''::text IS DISTINCT FROM ''::text))) EXECUTE FUNCTION recount_resultaat();
CREATE TRIGGER count_emptied AFTER TRUNCATE ON resultaat FOR EACH STATEMENT EXECUTE FUNCTION forget_counts('zaak_part');
CREATE TRIGGER count_removed AFTER DELETE ON resultaat REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_resultaat();
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON resultaat FOR EACH ROW EXECUTE FUNCTION feed_zaak_part('resultaat');

-- An outcome of cases of a type, and how they are archived then.
create table resultaattype (
  archiefactietermijn text, -- Time between brondatum and archiefactiedatum (duration).
  archiefnominatie text not null default ''::text, -- blijvend_bewaren, vernietigen or empty.
  begin_geldigheid date, -- First day of validity; empty: as the case type.
  brondatum_afleidingswijze text, -- How the brondatum is found; empty: no brondatumArchiefprocedure.
  brondatum_datumkenmerk text not null default ''::text, -- Name of the attribute that holds the date.
  brondatum_einddatum_bekend boolean not null default false, -- Whether the date is known when the case ends.
  brondatum_objecttype text not null default ''::text, -- Kind of object that holds the date.
  brondatum_procestermijn text, -- Time after the end of the case (duration), for afleidingswijze termijn.
  brondatum_registratie text not null default ''::text, -- Register that holds the date.
  einde_geldigheid date, -- Last day of validity; empty: as the case type.
  id bigint not null generated always as identity, -- Internal key.
  indicatie_specifiek boolean, -- Whether it is a specific outcome of the procestype.
  omschrijving text not null, -- Name.
  omschrijving_generiek text not null default ''::text, -- The omschrijving found there at the last save.
  procesobjectaard text not null default ''::text, -- Nature of the process object.
  procestermijn text, -- Term of the process (duration).
  resultaattypeomschrijving text not null, -- URL of the generic description in the selectielijst.
  selectielijstklasse text not null default ''::text, -- URL of the resultaat in the selectielijst.
  toelichting text not null default ''::text, -- Explanation.
  uuid uuid not null default gen_random_uuid(), -- Last part of its URL.
  zaaktype_id bigint not null, -- The version of the case type.
  constraint resultaattype_pkey PRIMARY KEY (id),
  constraint resultaattype_omschrijving_unique UNIQUE (zaaktype_id, omschrijving),
  constraint resultaattype_uuid_unique UNIQUE (uuid),
  constraint resultaattype_zaaktype_id_fkey FOREIGN KEY (zaaktype_id) REFERENCES zaaktype(id) ON DELETE CASCADE,
  constraint resultaattype_archiefactietermijn_is_term CHECK (is_term(archiefactietermijn)),
  constraint resultaattype_archiefnominatie_check CHECK ((archiefnominatie = ANY (ARRAY[''::text, 'blijvend_bewaren'::text, 'vernietigen'::text]))),
  constraint resultaattype_brondatum_procestermijn_is_term CHECK (is_term(brondatum_procestermijn)),
  constraint resultaattype_procestermijn_is_term CHECK (is_term(procestermijn))
);
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON resultaattype FOR EACH ROW EXECUTE FUNCTION feed_type_part('resultaattype');
CREATE TRIGGER resultaattype_has_room BEFORE INSERT ON resultaattype FOR EACH ROW EXECUTE FUNCTION has_room('zaaktype_id', '1000');

-- Decisions that lead to an outcome.
create table resultaattype_besluittype (
  besluittype_id bigint not null, -- The decision type.
  by_url boolean not null default true, -- Whether the relation names one version, by its URL.
  resultaattype_id bigint not null, -- The outcome.
  constraint resultaattype_besluittype_pkey PRIMARY KEY (resultaattype_id, besluittype_id),
  constraint resultaattype_besluittype_besluittype_id_fkey FOREIGN KEY (besluittype_id) REFERENCES besluittype(id) ON DELETE CASCADE,
  constraint resultaattype_besluittype_resultaattype_id_fkey FOREIGN KEY (resultaattype_id) REFERENCES resultaattype(id) ON DELETE CASCADE
);
CREATE INDEX resultaattype_besluittype_besluittype_id_idx ON resultaattype_besluittype USING btree (besluittype_id);
CREATE TRIGGER feed_besluittype_id_delete AFTER DELETE ON resultaattype_besluittype FOR EACH ROW WHEN ((old.besluittype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('besluittype_id', 'besluittype', 'ztc', 'besluittype', 'r.catalogus_id');
CREATE TRIGGER feed_besluittype_id_insert AFTER INSERT ON resultaattype_besluittype FOR EACH ROW WHEN ((new.besluittype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('besluittype_id', 'besluittype', 'ztc', 'besluittype', 'r.catalogus_id');
CREATE TRIGGER feed_besluittype_id_update AFTER UPDATE ON resultaattype_besluittype FOR EACH ROW WHEN (true) EXECUTE FUNCTION feed_touch('besluittype_id', 'besluittype', 'ztc', 'besluittype', 'r.catalogus_id');
CREATE TRIGGER feed_resultaattype_id_delete AFTER DELETE ON resultaattype_besluittype FOR EACH ROW WHEN ((old.resultaattype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('resultaattype_id', 'resultaattype', 'ztc', 'resultaattype', '(select t.catalogus_id from zaaktype t where t.id = r.zaaktype_id)');
CREATE TRIGGER feed_resultaattype_id_insert AFTER INSERT ON resultaattype_besluittype FOR EACH ROW WHEN ((new.resultaattype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('resultaattype_id', 'resultaattype', 'ztc', 'resultaattype', '(select t.catalogus_id from zaaktype t where t.id = r.zaaktype_id)');
CREATE TRIGGER feed_resultaattype_id_update AFTER UPDATE ON resultaattype_besluittype FOR EACH ROW WHEN (true) EXECUTE FUNCTION feed_touch('resultaattype_id', 'resultaattype', 'ztc', 'resultaattype', '(select t.catalogus_id from zaaktype t where t.id = r.zaaktype_id)');

-- Documents that belong to an outcome.
create table resultaattype_informatieobjecttype (
  by_url boolean not null default true, -- Whether the relation names one version, by its URL.
  informatieobjecttype_id bigint not null, -- The document type.
  resultaattype_id bigint not null, -- The outcome.
  constraint resultaattype_informatieobjecttype_pkey PRIMARY KEY (resultaattype_id, informatieobjecttype_id),
  constraint resultaattype_informatieobjecttype_informatieobjecttype_id_fkey FOREIGN KEY (informatieobjecttype_id) REFERENCES informatieobjecttype(id) ON DELETE CASCADE,
  constraint resultaattype_informatieobjecttype_resultaattype_id_fkey FOREIGN KEY (resultaattype_id) REFERENCES resultaattype(id) ON DELETE CASCADE
);
CREATE INDEX resultaattype_informatieobjecttype_informatieobjecttype_id_idx ON resultaattype_informatieobjecttype USING btree (informatieobjecttype_id);
CREATE TRIGGER feed_resultaattype_id_delete AFTER DELETE ON resultaattype_informatieobjecttype FOR EACH ROW WHEN ((old.resultaattype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('resultaattype_id', 'resultaattype', 'ztc', 'resultaattype', '(select t.catalogus_id from zaaktype t where t.id = r.zaaktype_id)');
CREATE TRIGGER feed_resultaattype_id_insert AFTER INSERT ON resultaattype_informatieobjecttype FOR EACH ROW WHEN ((new.resultaattype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('resultaattype_id', 'resultaattype', 'ztc', 'resultaattype', '(select t.catalogus_id from zaaktype t where t.id = r.zaaktype_id)');
CREATE TRIGGER feed_resultaattype_id_update AFTER UPDATE ON resultaattype_informatieobjecttype FOR EACH ROW WHEN (true) EXECUTE FUNCTION feed_touch('resultaattype_id', 'resultaattype', 'ztc', 'resultaattype', '(select t.catalogus_id from zaaktype t where t.id = r.zaaktype_id)');

-- What each run of the clean-up (task bewaartermijnen) removed. The last hundred are kept.
create table retention_run (
  begun_at timestamp with time zone not null default now(), -- When it began.
  ended_at timestamp with time zone, -- When it ended; empty: it runs, or its worker died and it begins anew.
  fault text, -- Why it ended before the end.
  files integer not null default 0, -- Stored files removed that belonged to no document.
  id bigint not null generated always as identity, -- Number.
  imports integer not null default 0, -- Imports removed.
  notificaties integer not null default 0, -- Notifications removed.
  skipped text[] not null default '{}'::text[], -- Stores that could not be reached.
  started_by text not null default ''::text, -- Account that asked for it in the administration pages; empty: the clock.
  unfinished integer not null default 0, -- Unfinished writes removed from the stores.
  constraint retention_run_pkey PRIMARY KEY (id)
);

-- Who is involved in a case, and as what (Zaken API, Rol).
create table rol (
  afwijkende_naam_betrokkene text not null default ''::text, -- Name to use instead.
  anp_identificatie_lookup bytea, -- The same of anpIdentificatie.
  authenticatie_context jsonb, -- How who is involved proved himself, as the API shows it, with numbers sealed.
  begin_geldigheid date, -- First day.
  betrokkene text not null default ''::text, -- URL of who is involved; empty: betrokkene_identificatie says it.
  betrokkene_identificatie jsonb, -- Who is involved, complete as the API shows it, but with numbers of persons sealed in their places.
  betrokkene_type text not null, -- Kind of who is involved; decides the shape of betrokkene_identificatie.
  contactpersoon_rol jsonb, -- Contact person, as the API shows it.
  einde_geldigheid date, -- Last day.
  id bigint not null generated always as identity, -- Internal key; order of lists, newest first.
  indicatie_machtiging text not null default ''::text, -- gemachtigde, machtiginggever or empty.
  inp_a_nummer_lookup bytea, -- The same of inpA_nummer.
  inp_bsn_lookup bytea, -- HMAC of inpBsn under the key that it is sealed with: what it is found by.
  omschrijving text not null, -- Name of the roltype when the row was written.
  omschrijving_generiek text not null, -- Generic name of the roltype when the row was written.
  registratiedatum timestamp with time zone not null default now(), -- When it was made.
  roltoelichting text not null default ''::text, -- Explanation.
  roltype_id bigint, -- As what; a roltype of the zaaktype of the case (zrc-019), when that is one of ours.
  roltype_url text, -- As what, when the roltype stands elsewhere.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  zaak_id bigint not null, -- The case.
  constraint rol_pkey PRIMARY KEY (id),
  constraint rol_uuid_unique UNIQUE (uuid),
  constraint rol_roltype_id_fkey FOREIGN KEY (roltype_id) REFERENCES roltype(id),
  constraint rol_zaak_id_fkey FOREIGN KEY (zaak_id) REFERENCES zaak(id) ON DELETE CASCADE,
  constraint rol_betrokkene_type_check CHECK ((betrokkene_type = ANY (ARRAY['natuurlijk_persoon'::text, 'niet_natuurlijk_persoon'::text, 'vestiging'::text, 'organisatorische_eenheid'::text, 'medewerker'::text]))),
  constraint rol_one_type CHECK ((num_nonnulls(roltype_id, roltype_url) = 1))
);
CREATE INDEX rol_ann_identificatie_idx ON rol USING btree (((betrokkene_identificatie ->> 'annIdentificatie'::text))) WHERE ((betrokkene_identificatie ->> 'annIdentificatie'::text) <> ''::text);
CREATE INDEX rol_anp_identificatie_idx ON rol USING btree (((betrokkene_identificatie ->> 'anpIdentificatie'::text))) WHERE ((anp_identificatie_lookup IS NULL) AND ((betrokkene_identificatie ->> 'anpIdentificatie'::text) <> ''::text));
CREATE INDEX rol_anp_identificatie_lookup_idx ON rol USING btree (anp_identificatie_lookup) WHERE (anp_identificatie_lookup IS NOT NULL);
CREATE INDEX rol_betrokkene_idx ON rol USING btree (betrokkene) WHERE (betrokkene <> ''::text);
CREATE INDEX rol_betrokkene_type_zaak_id_idx ON rol USING btree (betrokkene_type, zaak_id);
CREATE INDEX rol_identificatie_idx ON rol USING btree (((betrokkene_identificatie ->> 'identificatie'::text))) WHERE ((betrokkene_identificatie ->> 'identificatie'::text) <> ''::text);
CREATE INDEX rol_indicatie_machtiging_idx ON rol USING btree (indicatie_machtiging) WHERE (indicatie_machtiging <> ''::text);
CREATE INDEX rol_inn_nnp_id_idx ON rol USING btree (((betrokkene_identificatie ->> 'innNnpId'::text))) WHERE ((betrokkene_identificatie ->> 'innNnpId'::text) <> ''::text);
CREATE INDEX rol_inp_a_nummer_idx ON rol USING btree (((betrokkene_identificatie ->> 'inpA_nummer'::text))) WHERE ((inp_a_nummer_lookup IS NULL) AND ((betrokkene_identificatie ->> 'inpA_nummer'::text) <> ''::text));
CREATE INDEX rol_inp_a_nummer_lookup_idx ON rol USING btree (inp_a_nummer_lookup) WHERE (inp_a_nummer_lookup IS NOT NULL);
CREATE INDEX rol_inp_bsn_idx ON rol USING btree (((betrokkene_identificatie ->> 'inpBsn'::text))) WHERE ((inp_bsn_lookup IS NULL) AND ((betrokkene_identificatie ->> 'inpBsn'::text) <> ''::text));
CREATE INDEX rol_inp_bsn_lookup_idx ON rol USING btree (inp_bsn_lookup) WHERE (inp_bsn_lookup IS NOT NULL);
CREATE INDEX rol_kvk_nummer_idx ON rol USING btree (((betrokkene_identificatie ->> 'kvkNummer'::text))) WHERE ((betrokkene_identificatie ->> 'kvkNummer'::text) <> ''::text);
CREATE INDEX rol_level_of_assurance_idx ON rol USING btree (((authenticatie_context ->> 'levelOfAssurance'::text))) WHERE (authenticatie_context IS NOT NULL);
CREATE INDEX rol_name_search ON rol USING gin (lower((concat_names(betrokkene_identificatie) || afwijkende_naam_betrokkene)) extensions.gin_trgm_ops) WHERE (betrokkene_type = ANY (ARRAY['niet_natuurlijk_persoon'::text, 'vestiging'::text, 'organisatorische_eenheid'::text]));
CREATE INDEX rol_omschrijving_generiek_zaak_id_idx ON rol USING btree (omschrijving_generiek, zaak_id);
CREATE INDEX rol_omschrijving_idx ON rol USING btree (omschrijving);
CREATE INDEX rol_roltype_idx ON rol USING btree (roltype_id, id) INCLUDE (zaak_id);
CREATE INDEX rol_roltype_url_idx ON rol USING btree (roltype_url) WHERE (roltype_url IS NOT NULL);
CREATE INDEX rol_vestigings_nummer_idx ON rol USING btree (((betrokkene_identificatie ->> 'vestigingsNummer'::text))) WHERE ((betrokkene_identificatie ->> 'vestigingsNummer'::text) <> ''::text);
CREATE INDEX rol_zaak_id_idx ON rol USING btree (zaak_id);
CREATE TRIGGER count_added AFTER INSERT ON rol REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rol();
CREATE TRIGGER count_changed AFTER UPDATE ON rol FOR EACH ROW WHEN ((((((((old.zaak_id IS DISTINCT FROM new.zaak_id) OR (old.omschrijving_generiek IS DISTINCT FROM new.omschrijving_generiek)) OR (old.roltype_id IS DISTINCT FROM new.roltype_id)) OR (old.roltype_url IS DISTINCT FROM new.roltype_url)) OR (old.omschrijving IS DISTINCT FROM new.omschrijving)) OR (old.betrokkene_type IS DISTINCT FROM new.betrokkene_type)) OR (old.indicatie_machtiging IS DISTINCT FROM new.indicatie_machtiging))) EXECUTE FUNCTION recount_rol();
CREATE TRIGGER count_emptied AFTER TRUNCATE ON rol FOR EACH STATEMENT EXECUTE FUNCTION forget_counts('zaak_part');
CREATE TRIGGER count_removed AFTER DELETE ON rol REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_rol();
CREATE TRIGGER count_zaken_delete AFTER DELETE ON rol REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_zaken_by_rol_delete();
CREATE TRIGGER count_zaken_insert AFTER INSERT ON rol REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION count_zaken_by_rol_insert();
CREATE TRIGGER count_zaken_update AFTER UPDATE ON rol REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION count_zaken_by_rol_update();
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON rol FOR EACH ROW EXECUTE FUNCTION feed_zaak_part('rol');

-- A part that someone can have in cases of a type.
create table roltype (
  begin_geldigheid date, -- First day of validity; empty: as the case type.
  einde_geldigheid date, -- Last day of validity; empty: as the case type.
  id bigint not null generated always as identity, -- Internal key.
  omschrijving text not null, -- Name.
  omschrijving_generiek text not null, -- Generic role: initiator, behandelaar and so on.
  uuid uuid not null default gen_random_uuid(), -- Last part of its URL.
  zaaktype_id bigint not null, -- The version of the case type.
  constraint roltype_pkey PRIMARY KEY (id),
  constraint roltype_omschrijving_unique UNIQUE (zaaktype_id, omschrijving),
  constraint roltype_uuid_unique UNIQUE (uuid),
  constraint roltype_zaaktype_id_fkey FOREIGN KEY (zaaktype_id) REFERENCES zaaktype(id) ON DELETE CASCADE
);
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON roltype FOR EACH ROW EXECUTE FUNCTION feed_type_part('roltype');
CREATE TRIGGER roltype_has_room BEFORE INSERT ON roltype FOR EACH ROW EXECUTE FUNCTION has_room('zaaktype_id', '1000');

-- Secret settings that were given a value in the pages.
create table sealed_setting (
  name text not null, -- Its name in the environment, such as SMTP_PASSWORD.
  sealed bytea not null, -- Its value, sealed with a key of the ring.
  servers text[], -- The servers that it was given for, which are sealed with it; null: 1.0.0 sealed it without.
  constraint sealed_setting_pkey PRIMARY KEY (name)
);

-- The last import of the selectielijst; one row at most.
create table selectielijst_import (
  day date not null, -- The day of the files.
  files text[] not null, -- Names of the files.
  id boolean not null default true, -- Always true: there is one selectielijst.
  imported_at timestamp with time zone not null default now(), -- When it was imported.
  constraint selectielijst_import_pkey PRIMARY KEY (id),
  constraint selectielijst_import_singleton CHECK (id)
);

-- What was imported of the selectielijst: procestypen, resultaten and generic descriptions.
create table selectielijst_item (
  content jsonb not null, -- The resource as the selectielijst serves it.
  kind text not null, -- Kind of resource.
  procestype text, -- URL of the procestype that a Resultaat belongs to.
  url text not null, -- Its URL at the selectielijst, without a slash at the end.
  constraint selectielijst_item_pkey PRIMARY KEY (url),
  constraint selectielijst_item_kind_check CHECK ((kind = ANY (ARRAY['ProcesType'::text, 'Resultaat'::text, 'ResultaattypeOmschrijvingGeneriek'::text])))
);
CREATE INDEX selectielijst_item_kind_idx ON selectielijst_item USING btree (kind, procestype);

-- Requests that ended with an error of ours: the last 5,000 of 14 days. Nothing of what was asked, nor the text of an error.
create table server_error (
  client_id text not null, -- Client that asked; empty: none, or a page.
  exception_id text not null, -- Id in the member instance of the answer; empty: it was a page.
  happened_at timestamp with time zone not null, -- When.
  id bigint not null generated always as identity, -- Number.
  kind text not null, -- Name and code of the error.
  method text not null, -- Method.
  place text not null, -- First line of ours in its stack.
  request_id text not null, -- Id of the request, as on the error page and in X-Request-ID.
  route text not null, -- Pattern of the route, without what stood in its place; empty: there is none.
  status integer not null, -- Status of the answer.
  constraint server_error_pkey PRIMARY KEY (id)
);

-- Which life of the server this is: empty after a crash and after a failover, and then made anew.
create unlogged table server_life (
  id uuid not null default gen_random_uuid(), -- What the number of a transaction is told with.
  is_only boolean not null default true, -- True: there is one row.
  constraint server_life_pkey PRIMARY KEY (is_only),
  constraint server_life_is_one_row CHECK (is_only)
);

-- Other services (APIs) that this one may talk to; nothing else is ever called.
create table service (
  api_root text not null, -- Where its API begins, with a slash at the end. URLs below it belong to this service.
  authenticatie text not null default 'geen'::text, -- How we identify ourselves: geen, zgw (a JWT of our own), api_key (a header) or oauth2 (client credentials).
  ca text not null default ''::text, -- Certificates that vouch for the service, instead of the usual ones (PEM); empty: the usual ones.
  certificaat text not null default ''::text, -- Client certificate that we show (PEM); empty: none.
  certificate_key bytea, -- Private key of that certificate (PEM); sealed with a key of the ring.
  client_id text not null default ''::text, -- Our client id there (zgw, oauth2).
  created_at timestamp with time zone not null default now(), -- When it was made.
  gebruikers_id text not null default ''::text, -- Claim user_id of our tokens.
  gebruikers_weergave text not null default ''::text, -- Claim user_representation of our tokens.
  header text not null default ''::text, -- Name of the header that carries the key (api_key).
  id bigint not null generated always as identity, -- Internal key.
  kind text not null, -- Kind of API: nrc, zrc, ztc, drc, brc, ac or orc (any other).
  label text not null, -- Name for people.
  sealed_secret bytea, -- Secret (zgw, oauth2) or key (api_key), sealed with a key of the ring.
  slug text not null, -- Name for configuration files.
  timeout_ms integer not null default 10000, -- Milliseconds that a call may take, from connecting to the last byte of the answer.
  token_scope text not null default ''::text, -- Scope that is asked for (oauth2).
  token_url text not null default ''::text, -- Where a token is asked (oauth2).
  uuid uuid not null default gen_random_uuid(), -- Constant name, also what the secret is bound to.
  constraint service_pkey PRIMARY KEY (id),
  constraint service_api_root_unique UNIQUE (api_root),
  constraint service_slug_unique UNIQUE (slug),
  constraint service_uuid_unique UNIQUE (uuid),
  constraint service_api_root_check CHECK ((api_root ~ '^https?://[^/?#@]+/([^?#]*/)?$'::text)),
  constraint service_authenticatie_check CHECK ((authenticatie = ANY (ARRAY['geen'::text, 'zgw'::text, 'api_key'::text, 'oauth2'::text]))),
  constraint service_authenticatie_complete CHECK (
CASE authenticatie
    WHEN 'zgw'::text THEN ((client_id <> ''::text) AND (sealed_secret IS NOT NULL))
    WHEN 'api_key'::text THEN ((header <> ''::text) AND (sealed_secret IS NOT NULL))
    WHEN 'oauth2'::text THEN ((client_id <> ''::text) AND (token_url <> ''::text) AND (sealed_secret IS NOT NULL))
    ELSE (sealed_secret IS NULL)
END),
  constraint service_certificaat_complete CHECK (((certificaat <> ''::text) = (certificate_key IS NOT NULL))),
  constraint service_kind_check CHECK ((kind = ANY (ARRAY['nrc'::text, 'zrc'::text, 'ztc'::text, 'drc'::text, 'brc'::text, 'ac'::text, 'orc'::text]))),
  constraint service_label_check CHECK (((length(label) >= 1) AND (length(label) <= 100))),
  constraint service_slug_check CHECK ((slug ~ '^[-a-zA-Z0-9_]{1,100}$'::text)),
  constraint service_timeout_ms_check CHECK (((timeout_ms >= 100) AND (timeout_ms <= 300000)))
);

-- Settings that were given a value in the pages.
create table setting (
  changed_at timestamp with time zone not null default now(), -- When it was changed last.
  name text not null, -- Its name in the environment, such as JWT_EXPIRY.
  value text not null, -- Its value, written as in the environment.
  constraint setting_pkey PRIMARY KEY (name)
);

-- Stages that a case reached (Zaken API, Status). The one with the highest datum_status_gezet is the current one.
create table status (
  datum_status_gezet timestamp with time zone not null, -- When it was reached.
  gezetdoor_id bigint, -- The rol that set it; empty again when that goes, since a status is a fact of its own.
  id bigint not null generated always as identity, -- Internal key.
  is_eindstatus boolean, -- Whether a stage elsewhere is the last of its zaaktype, as that server said when it was reached. Of ours the volgnummer says it.
  laatst boolean not null default true, -- Whether its case has no later status. Kept by triggers.
  statustoelichting text not null default ''::text, -- Explanation.
  statustype_id bigint, -- The stage; a statustype of the zaaktype of the case (zrc-016), when that is one of ours.
  statustype_omschrijving text, -- Name of a stage elsewhere, when it was reached.
  statustype_url text, -- The stage, when it stands elsewhere.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  zaak_id bigint not null, -- The case.
  constraint status_pkey PRIMARY KEY (id),
  constraint status_moment_unique UNIQUE (zaak_id, datum_status_gezet),
  constraint status_uuid_unique UNIQUE (uuid),
  constraint status_gezetdoor_id_fkey FOREIGN KEY (gezetdoor_id) REFERENCES rol(id) ON DELETE SET NULL,
  constraint status_statustype_id_fkey FOREIGN KEY (statustype_id) REFERENCES statustype(id),
  constraint status_zaak_id_fkey FOREIGN KEY (zaak_id) REFERENCES zaak(id) ON DELETE CASCADE,
  constraint status_data_of_type_elsewhere CHECK ((num_nonnulls(statustype_omschrijving, is_eindstatus) =
CASE
    WHEN (statustype_url IS NULL) THEN 0
    ELSE 2
END)),
  constraint status_one_type CHECK ((num_nonnulls(statustype_id, statustype_url) = 1))
);
CREATE INDEX status_datum_status_gezet_id_idx ON status USING btree (datum_status_gezet, id);
CREATE INDEX status_gezetdoor_id_idx ON status USING btree (gezetdoor_id) WHERE (gezetdoor_id IS NOT NULL);
CREATE INDEX status_laatst_idx ON status USING btree (statustype_id, zaak_id) WHERE laatst;
CREATE INDEX status_statustype_idx ON status USING btree (statustype_id, datum_status_gezet, id) INCLUDE (zaak_id);
CREATE INDEX status_statustype_url_idx ON status USING btree (statustype_url) WHERE (statustype_url IS NOT NULL);
CREATE TRIGGER count_added AFTER INSERT ON status REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_status();
CREATE TRIGGER count_changed AFTER UPDATE ON status FOR EACH ROW WHEN ((((((((old.zaak_id IS DISTINCT FROM new.zaak_id) OR (
        CASE
            WHEN old.laatst THEN 'laatst'::text
            ELSE 'eerder'::text
        END IS DISTINCT FROM
        CASE
            WHEN new.laatst THEN 'laatst'::text
            ELSE 'eerder'::text
        END)) OR (old.statustype_id IS DISTINCT FROM new.statustype_id)) OR (old.statustype_url IS DISTINCT FROM new.statustype_url)) OR (''::text IS DISTINCT FROM ''::text)) OR (''::text IS DISTINCT FROM ''::text)) OR (''::text IS DISTINCT FROM ''::text))) EXECUTE FUNCTION recount_status();
CREATE TRIGGER count_emptied AFTER TRUNCATE ON status FOR EACH STATEMENT EXECUTE FUNCTION forget_counts('zaak_part');
CREATE TRIGGER count_removed AFTER DELETE ON status REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_status();
CREATE TRIGGER feed_gezetdoor_id_delete AFTER DELETE ON status FOR EACH ROW WHEN ((old.gezetdoor_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('gezetdoor_id', 'rol', 'zrc', 'rol', 'r.zaak_id');
CREATE TRIGGER feed_gezetdoor_id_insert AFTER INSERT ON status FOR EACH ROW WHEN ((new.gezetdoor_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('gezetdoor_id', 'rol', 'zrc', 'rol', 'r.zaak_id');
CREATE TRIGGER feed_gezetdoor_id_update AFTER UPDATE ON status FOR EACH ROW WHEN ((old.gezetdoor_id IS DISTINCT FROM new.gezetdoor_id)) EXECUTE FUNCTION feed_touch('gezetdoor_id', 'rol', 'zrc', 'rol', 'r.zaak_id');
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON status FOR EACH ROW EXECUTE FUNCTION feed_zaak_part('status');
CREATE TRIGGER last_added AFTER INSERT ON status REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mark_last_status();
CREATE TRIGGER last_changed AFTER UPDATE ON status FOR EACH ROW WHEN (((old.zaak_id IS DISTINCT FROM new.zaak_id) OR (old.datum_status_gezet IS DISTINCT FROM new.datum_status_gezet))) EXECUTE FUNCTION mark_last_status_anew();
CREATE TRIGGER last_removed AFTER DELETE ON status REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mark_last_status();

-- A stage of cases of a type; the one with the highest volgnummer closes the case.
create table statustype (
  begin_geldigheid date, -- First day of validity; empty: as the case type.
  checklistitem_statustype jsonb not null default '[]'::jsonb, -- Checklist as the API shows it: itemnaam, vraagstelling, verplicht, toelichting.
  doorlooptijd text, -- Term of the stage (duration).
  einde_geldigheid date, -- Last day of validity; empty: as the case type.
  id bigint not null generated always as identity, -- Internal key.
  informeren boolean not null default false, -- Whether the initiator is told.
  omschrijving text not null, -- Name.
  omschrijving_generiek text not null default ''::text, -- Generic name.
  statustekst text not null default ''::text, -- Text for the initiator.
  toelichting text, -- Explanation.
  uuid uuid not null default gen_random_uuid(), -- Last part of its URL.
  volgnummer integer not null, -- Position in the process.
  zaaktype_id bigint not null, -- The version of the case type.
  constraint statustype_pkey PRIMARY KEY (id),
  constraint statustype_uuid_unique UNIQUE (uuid),
  constraint statustype_volgnummer_unique UNIQUE (zaaktype_id, volgnummer),
  constraint statustype_zaaktype_id_fkey FOREIGN KEY (zaaktype_id) REFERENCES zaaktype(id) ON DELETE CASCADE,
  constraint statustype_doorlooptijd_is_term CHECK (is_term(doorlooptijd, 100)),
  constraint statustype_volgnummer_check CHECK (((volgnummer >= 1) AND (volgnummer <= 9999)))
);
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON statustype FOR EACH ROW EXECUTE FUNCTION feed_type_part('statustype');
CREATE TRIGGER statustype_has_room BEFORE INSERT ON statustype FOR EACH ROW EXECUTE FUNCTION has_room('zaaktype_id', '1000');

-- Processes that write documents, and to which store.
create table store_writer (
  backend text not null, -- Backend of the store.
  host text not null, -- Name of its machine or container.
  id uuid not null, -- Id of the process, new at each start.
  pid integer not null, -- Process id on that machine.
  seen_at timestamp with time zone not null default now(), -- Its last sign of life.
  store text not null, -- Which store that is.
  constraint store_writer_pkey PRIMARY KEY (id)
);

-- Bytes in a storage that no row names, as the clean-up met them. They go a day after it first did, when nothing is open that may still name them.
create table stray_file (
  backend text not null, -- Storage that holds them, as in file.
  last_seen_at timestamp with time zone not null default now(), -- When it was last met.
  name text not null, -- Key, or what the storage calls an unfinished write.
  seen_at timestamp with time zone not null default now(), -- When it was first met.
  unfinished boolean not null, -- It is an unfinished write: a temporary file, or an upload in parts.
  constraint stray_file_pkey PRIMARY KEY (backend, name, unfinished)
);

-- A step within a status (Zaken API, SubStatus).
create table substatus (
  doelgroep text not null default 'betrokkenen'::text, -- For whom: betrokkenen, intern or empty.
  id bigint not null generated always as identity, -- Internal key.
  omschrijving text not null, -- Name.
  status_id bigint not null, -- The status that it is a step of.
  tijdstip timestamp with time zone not null default now(), -- When it was reached.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  zaak_id bigint not null, -- The case.
  constraint substatus_pkey PRIMARY KEY (id),
  constraint substatus_uuid_unique UNIQUE (uuid),
  constraint substatus_status_id_fkey FOREIGN KEY (status_id) REFERENCES status(id) ON DELETE CASCADE,
  constraint substatus_zaak_id_fkey FOREIGN KEY (zaak_id) REFERENCES zaak(id) ON DELETE CASCADE
);
CREATE INDEX substatus_status_id_idx ON substatus USING btree (status_id);
CREATE INDEX substatus_zaak_id_idx ON substatus USING btree (zaak_id);
CREATE TRIGGER count_added AFTER INSERT ON substatus REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_substatus();
CREATE TRIGGER count_changed AFTER UPDATE ON substatus FOR EACH ROW WHEN ((((((((old.zaak_id IS DISTINCT FROM new.zaak_id) OR (''::text IS DISTINCT FROM ''::text)) OR (NULL::bigint IS DISTINCT FROM NULL::bigint)) OR (NULL::text IS DISTINCT FROM NULL::text)) OR (''::text IS DISTINCT FROM ''::text)) OR (''::text IS DISTINCT FROM ''::text)) OR (''::text IS DISTINCT FROM ''::text))) EXECUTE FUNCTION recount_substatus();
CREATE TRIGGER count_emptied AFTER TRUNCATE ON substatus FOR EACH STATEMENT EXECUTE FUNCTION forget_counts('zaak_part');
CREATE TRIGGER count_removed AFTER DELETE ON substatus REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_substatus();
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON substatus FOR EACH ROW EXECUTE FUNCTION feed_zaak_part('substatus');

-- Takeovers of other installations. One row as long as it lasts, however often it is run.
create table takeover (
  changes_only boolean not null default false, -- Whether this round reads only what changed since the one before.
  checked_at timestamp with time zone, -- When both sides were last compared to the end.
  created_at timestamp with time zone not null default now(), -- When it was made.
  differences bigint, -- How many differences that found, beside those that the report explains.
  id bigint not null generated always as identity, -- Internal key.
  kind text not null, -- api (through the APIs of the standard) or open-zaak (from its database).
  phase integer not null default 0, -- Steps of one phase run side by side; the next begins when all are complete.
  read_only boolean not null default true, -- Whether the APIs refuse changes of what was taken over, until the switch.
  round integer not null default 1, -- Number of the round: each brings what changed since the one before.
  round_begun_at timestamp with time zone not null default now(), -- When this round began.
  round_done_at timestamp with time zone, -- When this round was complete.
  secret bytea not null, -- Secret of the client or address of the database, sealed with a key of the ring.
  settings jsonb not null default '{}'::jsonb, -- How it is read: {"clientId", "oudeUrls", "bestanden", "bytes", "wijzigingen", "naast", "tempo"}.
  snapshot text, -- Exported snapshot of the database that this round reads.
  source text not null, -- Where it comes from, without user or password.
  status text not null default 'loopt'::text, -- loopt (a round is under way), klaar (the round is complete), gestopt (cannot go on) or omgeschakeld (this side is in charge now).
  switch_snapshot text, -- Which transactions had ended then: what changed since is played back by it.
  switched_at timestamp with time zone, -- When this side came in charge.
  trial boolean not null default false, -- Dry run: all is written to shadow tables that are thrown away, for the report.
  uuid uuid not null default gen_random_uuid(), -- Part of its URL in the beheer.
  constraint takeover_pkey PRIMARY KEY (id),
  constraint takeover_uuid_unique UNIQUE (uuid),
  constraint takeover_kind_check CHECK ((kind = ANY (ARRAY['api'::text, 'open-zaak'::text]))),
  constraint takeover_status_check CHECK ((status = ANY (ARRAY['loopt'::text, 'klaar'::text, 'gestopt'::text, 'omgeschakeld'::text])))
);
CREATE UNIQUE INDEX takeover_one_source ON takeover USING btree (source, trial) WHERE (status <> 'omgeschakeld'::text);

-- Which version of a document has which bytes at the source.
create table takeover_content (
  enkelvoudiginformatieobject_id bigint not null, -- The document.
  takeover_file_id bigint not null, -- The bytes.
  versie integer not null, -- The version.
  constraint takeover_content_pkey PRIMARY KEY (enkelvoudiginformatieobject_id, versie),
  constraint takeover_content_enkelvoudiginformatieobject_id_fkey FOREIGN KEY (enkelvoudiginformatieobject_id) REFERENCES enkelvoudiginformatieobject(id) ON DELETE CASCADE
);
CREATE INDEX takeover_content_file ON takeover_content USING btree (takeover_file_id);

-- Bytes at the source, by their path there: two versions of a document may share one.
create table takeover_file (
  file_id bigint, -- The bytes here.
  id bigint not null generated always as identity, -- Internal key.
  path text not null, -- Path below the root of the old store, or below the APIs.
  size bigint, -- Size that the source states.
  state text not null default 'wacht'::text, -- wacht (not here yet), klaar or ontbreekt (the source has no such bytes).
  takeover_id bigint not null, -- The takeover.
  constraint takeover_file_pkey PRIMARY KEY (id),
  constraint takeover_file_unique UNIQUE (takeover_id, path),
  constraint takeover_file_file_id_fkey FOREIGN KEY (file_id) REFERENCES file(id) ON DELETE SET NULL,
  constraint takeover_file_state_check CHECK ((state = ANY (ARRAY['wacht'::text, 'klaar'::text, 'ontbreekt'::text])))
);
CREATE INDEX takeover_file_file ON takeover_file USING btree (file_id) WHERE (file_id IS NOT NULL);
CREATE INDEX takeover_file_open ON takeover_file USING btree (takeover_id, id) WHERE (state <> 'klaar'::text);

-- What was taken over, with a checksum of how it was: a later round writes what differs and removes what is gone.
create table takeover_object (
  changed_in integer not null, -- The last round in which it was new or changed.
  hash bytea not null, -- Checksum of the object at the source.
  kind text not null, -- Kind of object.
  round integer not null, -- The last round that saw it.
  takeover_id bigint not null, -- Where it came from.
  uuid uuid not null, -- The object.
  constraint takeover_object_pkey PRIMARY KEY (uuid, kind)
);

-- Objects that refer to one that was not there yet; they are tried again at the end of the round.
create table takeover_postponed (
  id bigint not null generated always as identity, -- Internal key; order in which they are tried.
  kind text not null, -- Kind of object.
  missing text not null, -- What it refers to.
  object jsonb not null, -- The object as it was read.
  takeover_id bigint not null, -- The takeover.
  uuid uuid not null, -- The object.
  constraint takeover_postponed_pkey PRIMARY KEY (id),
  constraint takeover_postponed_unique UNIQUE (takeover_id, kind, uuid),
  constraint takeover_postponed_takeover_id_fkey FOREIGN KEY (takeover_id) REFERENCES takeover(id) ON DELETE CASCADE
);

-- The report: what did not fit, one row per object and reason. A row goes when a later round finds the object mended.
create table takeover_remark (
  code text not null, -- What is the matter, for filters.
  created_at timestamp with time zone not null default now(), -- When it was first found.
  field text not null default ''::text, -- The field, when it is about one.
  id bigint not null generated always as identity, -- Internal key.
  identificatie text not null default ''::text, -- What people know the object by, or the case or document that it belongs to.
  key text not null, -- uuid of the object, or what it is known by at the source.
  kind text not null, -- Kind of object.
  outcome text not null, -- geweigerd (not taken), gemarkeerd (taken, with this remark) or verschil (found by the comparison).
  round integer not null, -- The last round that found it.
  takeover_id bigint not null, -- The takeover.
  text text not null, -- The rule that it breaks, for people.
  value text not null default ''::text, -- What the field holds; never the number of a person.
  constraint takeover_remark_pkey PRIMARY KEY (id),
  constraint takeover_remark_unique UNIQUE (takeover_id, kind, key, code, field),
  constraint takeover_remark_takeover_id_fkey FOREIGN KEY (takeover_id) REFERENCES takeover(id) ON DELETE CASCADE,
  constraint takeover_remark_outcome_check CHECK ((outcome = ANY (ARRAY['geweigerd'::text, 'gemarkeerd'::text, 'verschil'::text])))
);

-- Steps of a round: one kind of object, or a part of it. A portion moves the position in the transaction that writes its rows.
create table takeover_step (
  above text, -- Keys above this one; empty: from the first.
  addresses jsonb not null default '{}'::jsonb, -- Addresses of installations in what was read: {"oud.nl": {"confirmed": true, "places": {"zaak kenmerken": 3}}}.
  begun_at timestamp with time zone, -- When its first portion began.
  done_at timestamp with time zone, -- When it was complete.
  expected bigint not null default 0, -- How many there are about.
  fault text, -- Why its last portion failed; empty again when it went on.
  forecast double precision not null default 0, -- How many seconds it would take by itself, as it was told at the begin of the round.
  id bigint not null generated always as identity, -- Internal key.
  name text not null, -- What is read.
  phase integer not null, -- Which steps it runs beside.
  place integer not null, -- Its place in the list of steps; steps side by side are divided by it.
  position text, -- How far it came: the last key, or page, that was committed.
  refused bigint not null default 0, -- Of these, how many could not be written.
  removed bigint not null default 0, -- How many are gone at the source, and were removed.
  retry_at timestamp with time zone, -- When it is tried again after that.
  round integer not null, -- The round.
  seen bigint not null default 0, -- How many were read.
  takeover_id bigint not null, -- The takeover.
  unchanged bigint not null default 0, -- Of these, how many were as before.
  until text, -- Keys up to this one; empty: to the last.
  updated_at timestamp with time zone, -- When its last portion was committed.
  written bigint not null default 0, -- Of these, how many were new or changed.
  constraint takeover_step_pkey PRIMARY KEY (id),
  constraint takeover_step_takeover_id_fkey FOREIGN KEY (takeover_id) REFERENCES takeover(id) ON DELETE CASCADE
);
CREATE INDEX takeover_step_phase ON takeover_step USING btree (takeover_id, round, phase);

-- Identity providers whose tokens are taken. Without discovery_url, jwks_url and fixed_keys the keys are found below the issuer.
create table token_issuer (
  algorithms text[] not null, -- What its tokens may be signed with. Never HS or none.
  audiences text[] not null, -- A token has to name one of these in its claim aud.
  client_claims text[] not null, -- Claims with the client id; the first that a token has counts.
  created_at timestamp with time zone not null default now(), -- When it was made.
  discovery_url text not null default ''::text, -- Its discovery document, when that is not at the usual place below the issuer.
  fixed_keys jsonb, -- Its keys as they were entered: nothing is fetched then.
  id bigint not null generated always as identity, -- Internal key.
  issuer text not null, -- The claim iss of its tokens, exactly.
  jwks_url text not null default ''::text, -- Its keys (RFC 7517), when it has no discovery document.
  label text not null, -- Name for people.
  leeway_seconds integer not null default 30, -- Difference of clocks that is forgiven.
  max_lifetime_seconds integer not null default 21600, -- Longest that a token may still live.
  organisation_claim text not null default ''::text, -- Claim with the organisation of the client, for the audit trail and the log. Empty: none.
  required_scopes text[] not null default '{}'::text[], -- A token has to have one of these in scope, scp or roles. Empty: no such rule.
  requires_certificate boolean not null default false, -- True: only tokens that are bound to the client certificate of the connection (RFC 8705).
  user_claims text[] not null default '{}'::text[], -- Claims with the id of the user, for the audit trail; the first that a token has counts. Empty: none.
  user_name_claims text[] not null default '{}'::text[], -- Claims with the name of the user, in the same way.
  uuid uuid not null default gen_random_uuid(), -- Last part of its address in the pages.
  constraint token_issuer_pkey PRIMARY KEY (id),
  constraint token_issuer_issuer_unique UNIQUE (issuer),
  constraint token_issuer_uuid_unique UNIQUE (uuid),
  constraint token_issuer_algorithms_check CHECK (((cardinality(algorithms) > 0) AND (algorithms <@ ARRAY['RS256'::text, 'RS384'::text, 'RS512'::text, 'PS256'::text, 'PS384'::text, 'PS512'::text, 'ES256'::text, 'ES384'::text, 'ES512'::text, 'EdDSA'::text]))),
  constraint token_issuer_audiences_check CHECK ((cardinality(audiences) > 0)),
  constraint token_issuer_client_claims_check CHECK ((cardinality(client_claims) > 0)),
  constraint token_issuer_leeway_seconds_check CHECK (((leeway_seconds >= 0) AND (leeway_seconds <= 300))),
  constraint token_issuer_max_lifetime_seconds_check CHECK (((max_lifetime_seconds >= 60) AND (max_lifetime_seconds <= 86400))),
  constraint token_issuer_source_check CHECK ((((((discovery_url <> ''::text))::integer + ((jwks_url <> ''::text))::integer) + ((fixed_keys IS NOT NULL))::integer) <= 1))
);

-- The public keys of an issuer as they were fetched last, for all processes.
create table token_issuer_keys (
  answered_at timestamp with time zone, -- When that ended, with keys or without.
  asked_at timestamp with time zone, -- When they were asked for last, by whichever process: the next time is 30 seconds later at the earliest.
  failure text not null default ''::text, -- Why fetching failed the last time; empty: it did not.
  fetched_at timestamp with time zone, -- When they were fetched.
  issuer_id bigint not null, -- The issuer.
  keys jsonb, -- The keys (a JWKS); empty: never fetched.
  refresh_at timestamp with time zone, -- From when on they are fetched anew.
  constraint token_issuer_keys_pkey PRIMARY KEY (issuer_id),
  constraint token_issuer_keys_issuer_id_fkey FOREIGN KEY (issuer_id) REFERENCES token_issuer(id) ON DELETE CASCADE
);

-- Log of processing: a line for each act that touched a case or a person, once it is settled.
create table verwerking (
  activiteit text not null, -- URL of the processing activity in the register: that of the zaaktype, its catalogus, or the installation.
  applicatie_weergave text not null, -- Label of the application at that moment.
  at timestamp with time zone not null default now(), -- When it began.
  betrokkenen jsonb, -- Who it was about: an object for each person, with the number sealed.
  client_id text not null, -- Client id of the token; empty for the pages and for jobs.
  gebruikers_id text not null, -- Claim user_id of the token, without what may be a number of a person.
  gebruikers_weergave text not null, -- Claim user_representation of the token, as well.
  handeling text not null, -- What was done: method and route of a read, or the changes.
  id bigint not null generated always as identity, -- Internal key.
  lookups bytea[], -- HMAC of each of these numbers: what a person is found by.
  ms integer not null default 0, -- How long it took, in milliseconds.
  objecten uuid[] not null, -- uuids of documents, besluiten and parts of cases.
  parent_span_id bytea, -- What led to it within that trace; empty: nobody told.
  request_id text not null, -- Header X-Request-ID of the request, or the id that it was given.
  trace_id bytea not null, -- The trace of the request.
  zaken uuid[] not null, -- uuids of the cases. The uuid of zeros: all, as in a snapshot.
  constraint verwerking_pkey PRIMARY KEY (id)
);

-- Lines of `verwerking` that the collector refused, each by itself; they stay until send_lines_again().
create table verwerking_aside (
  at timestamp with time zone not null default now(), -- When it refused.
  id bigint not null, -- The line.
  reason text not null, -- What the collector said.
  constraint verwerking_aside_pkey PRIMARY KEY (id)
);

-- What lines of `verwerking` that were settled together are about: they are found by it, so that each case is indexed once for all of them.
create table verwerking_block (
  first_id bigint not null, -- The first of the lines.
  last_id bigint not null, -- The last of them; no line of another block lies between.
  lookups bytea[] not null, -- As well.
  objecten uuid[] not null, -- As well.
  zaken uuid[] not null, -- Cases in any of them.
  constraint verwerking_block_pkey PRIMARY KEY (last_id)
);
CREATE INDEX verwerking_block_idx ON verwerking_block USING gin (zaken, objecten, lookups);

-- The process that sends lines of the log of processing now.
create table verwerking_lease (
  holder uuid not null, -- The portion that is being sent.
  id boolean not null default true, -- There is one row at most.
  until timestamp with time zone not null, -- When another process may go on.
  constraint verwerking_lease_pkey PRIMARY KEY (id),
  constraint verwerking_lease_id_check CHECK (id)
);

-- Lines of `verwerking` that the collector has not confirmed, from one to another.
create table verwerking_spool (
  first_id bigint not null, -- The first of them.
  last_id bigint not null, -- The last of them.
  constraint verwerking_spool_pkey PRIMARY KEY (last_id)
);

-- Acts as they were written, changes in their own transaction; a worker makes lines of `verwerking` of them within a second.
create table verwerking_unsettled (
  at timestamp with time zone not null default now(), -- When they were written.
  content text not null, -- JSON, with numbers of persons sealed.
  id bigint not null generated always as identity, -- Internal key.
  lines integer not null, -- How many acts.
  constraint verwerking_unsettled_pkey PRIMARY KEY (id)
);

-- Which processing activity cases belong to, in the log of processing.
create table verwerkingsactiviteit (
  catalogus_id bigint not null, -- The catalogue.
  url text not null, -- The activity in the register of processing activities.
  zaaktype_identificatie text not null default ''::text, -- All versions of this zaaktype; empty: those of the catalogue that have none of their own.
  constraint verwerkingsactiviteit_pkey PRIMARY KEY (catalogus_id, zaaktype_identificatie),
  constraint verwerkingsactiviteit_catalogus_id_fkey FOREIGN KEY (catalogus_id) REFERENCES catalogus(id) ON DELETE CASCADE
);

-- That a document was sent to or received from someone (Documenten API, Verzending).
create table verzending (
  aard_relatie text not null, -- afzender or geadresseerde.
  betrokkene text not null, -- URL of who it was sent to or came from.
  binnenlands_correspondentieadres jsonb, -- Address in the country, as the API shows it.
  buitenlands_correspondentieadres jsonb, -- Address abroad, as the API shows it.
  contact_persoon text not null, -- URL of the contact person.
  contactpersoonnaam text not null default ''::text, -- Name of the contact person.
  correspondentie_postadres jsonb, -- Postal address, as the API shows it.
  emailadres text not null default ''::text, -- E-mail address.
  enkelvoudiginformatieobject_id bigint not null, -- The document.
  faxnummer text not null default ''::text, -- Fax number.
  id bigint not null generated always as identity, -- Internal key; order of lists, newest first.
  mijn_overheid boolean not null default false, -- Whether MijnOverheid was the channel.
  ontvangstdatum date, -- Day of receipt.
  telefoonnummer text not null default ''::text, -- Phone number.
  toelichting text not null default ''::text, -- Explanation.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  verzenddatum date, -- Day of sending.
  constraint verzending_pkey PRIMARY KEY (id),
  constraint verzending_uuid_unique UNIQUE (uuid),
  constraint verzending_enkelvoudiginformatieobject_id_fkey FOREIGN KEY (enkelvoudiginformatieobject_id) REFERENCES enkelvoudiginformatieobject(id) ON DELETE CASCADE,
  constraint verzending_aard_relatie_check CHECK ((aard_relatie = ANY (ARRAY['afzender'::text, 'geadresseerde'::text])))
);
CREATE INDEX verzending_betrokkene_idx ON verzending USING btree (betrokkene);
CREATE INDEX verzending_enkelvoudiginformatieobject_id_idx ON verzending USING btree (enkelvoudiginformatieobject_id);
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON verzending FOR EACH ROW EXECUTE FUNCTION feed_document_part('verzending');

-- One row per registered worker: a running process with one graphile-worker pool. Rows of dead workers are removed by the others.
create table worker (
  host text not null, -- Name of the machine or container the process runs on.
  id integer not null generated always as identity, -- Number of the registration. The worker holds the session advisory lock (31330 # hashtext(current_schema()), id) while it lives.
  name text not null, -- Name of the worker in logs, chosen by whoever starts it.
  pid integer not null, -- Process id on that machine.
  pool_id text not null, -- Id of the graphile-worker pool: the value of locked_by on the jobs this worker runs.
  seen_at timestamp with time zone not null default now(), -- Last sign of life, by the clock of the database.
  started_at timestamp with time zone not null default now(), -- When the worker registered.
  uninterrupted_since timestamp with time zone not null default now(), -- Since when the signs of life came without a gap. A worker that was itself cut off may not yet judge the others.
  version text not null, -- Version of the program that the worker runs.
  constraint worker_pkey PRIMARY KEY (id),
  constraint worker_pool_id_unique UNIQUE (pool_id)
);

-- Jobs during which a worker died. The first five times the job keeps its attempts; after that a crash counts as a failed attempt.
create table worker_crash (
  count integer not null default 1, -- How often a worker died while it ran this job.
  job_id bigint not null, -- Id of the job in the queue. Rows of jobs that are gone are removed.
  last_at timestamp with time zone not null default now(), -- When that was last found out.
  constraint worker_crash_pkey PRIMARY KEY (job_id)
);

-- A case (Zaken API, Zaak).
create table zaak (
  archiefactiedatum date, -- Day on which archiefnominatie is carried out.
  archiefnominatie text, -- Keep for good, or destroy.
  archiefstatus text not null default 'nog_te_archiveren'::text, -- How far archiving is; other than nog_te_archiveren locks what hangs on the case.
  betalingsindicatie text not null default ''::text, -- How far costs were paid.
  bronorganisatie text not null, -- RSIN of the organisation that gave the number.
  communicatiekanaal text not null default ''::text, -- URL of the channel through which it came.
  communicatiekanaal_naam text not null default ''::text, -- Name of that channel.
  duplicate integer not null default 0, -- 0, or the place among cases that were taken over with the same number.
  einddatum date, -- Day on which it was closed; empty: open. Only statuses set it.
  einddatum_gepland date, -- Planned end.
  hoofdzaak_id bigint, -- The case that this one is part of; it is no part itself (zrc-013). Deleted with it (zrc-023).
  id bigint not null generated always as identity, -- Internal key; order of lists, newest first.
  identificatie text not null, -- Number; unique together with bronorganisatie (zrc-002).
  kenmerken jsonb not null default '[]'::jsonb, -- Marks from other systems: [{"kenmerk", "bron"}].
  laatst_gemuteerd timestamp with time zone not null default clock_timestamp(), -- Last change of the case, its statuses, result, documents or objects.
  laatst_geopend timestamp with time zone, -- When someone last opened it, as a client says.
  laatste_betaaldatum timestamp with time zone, -- Moment of the last payment.
  omschrijving text not null default ''::text, -- Short description.
  opdrachtgevende_organisatie text not null default ''::text, -- RSIN of the organisation that commissioned it.
  opschorting_eerdere boolean not null default false, -- Whether it ever was suspended; never goes back to false.
  opschorting_indicatie boolean not null default false, -- Whether it is suspended.
  opschorting_reden text not null default ''::text, -- Why.
  processobject_datumkenmerk text not null default ''::text, -- Attribute of the process object that holds the end date.
  processobject_identificatie text not null default ''::text, -- Number of the process object.
  processobject_objecttype text not null default ''::text, -- Type of the process object.
  processobject_registratie text not null default ''::text, -- Register of the process object.
  processobjectaard text not null default ''::text, -- Kind of the process object.
  producten_of_diensten text[] not null default '{}'::text[], -- URLs of products or services, out of those of the case type (zrc-015).
  publicatiedatum date, -- Day of publication.
  registratiedatum date not null default today('Europe/Amsterdam'::text), -- Day of registration.
  selectielijstklasse text not null default ''::text, -- URL of the selectielijst result.
  startdatum date not null, -- Day on which the work began or will begin.
  startdatum_bewaartermijn date, -- Day on which the term before archiefactiedatum begins.
  toelichting text not null default ''::text, -- Explanation.
  uiterlijke_einddatum_afdoening date, -- Legal deadline.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  verantwoordelijke_organisatie text not null, -- RSIN of the organisation that is responsible.
  verlenging_duur text, -- By how much (ISO 8601); empty: not prolonged.
  verlenging_reden text not null default ''::text, -- Why it was prolonged.
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null, -- Confidentiality; rights compare it.
  zaakgeometrie jsonb, -- Where it is about: GeoJSON in EPSG:4326.
  zaakgeometrie_grenzen box, -- The smallest box around zaakgeometrie, for searches.
  zaaktype_catalogus_url text, -- The catalogue of a type elsewhere: notifications name it.
  zaaktype_id bigint, -- The version of the case type, when it is one of ours; it never changes.
  zaaktype_identificatie text, -- identificatie of a type elsewhere, when the case was made.
  zaaktype_omschrijving text, -- omschrijving of a type elsewhere, when the case was made; lists are filtered by it.
  zaaktype_url text, -- The version of the case type, when it stands elsewhere; rights compare it as it was written.
  constraint zaak_pkey PRIMARY KEY (id),
  constraint zaak_identificatie_unique UNIQUE (identificatie, bronorganisatie, duplicate),
  constraint zaak_uuid_unique UNIQUE (uuid),
  constraint zaak_hoofdzaak_id_fkey FOREIGN KEY (hoofdzaak_id) REFERENCES zaak(id) ON DELETE CASCADE,
  constraint zaak_zaaktype_id_fkey FOREIGN KEY (zaaktype_id) REFERENCES zaaktype(id),
  constraint zaak_archiefnominatie_check CHECK ((archiefnominatie = ANY (ARRAY['blijvend_bewaren'::text, 'vernietigen'::text]))),
  constraint zaak_archiefstatus_check CHECK ((archiefstatus = ANY (ARRAY['nog_te_archiveren'::text, 'gearchiveerd'::text, 'gearchiveerd_procestermijn_onbekend'::text, 'overgedragen'::text]))),
  constraint zaak_data_of_type_elsewhere CHECK ((num_nonnulls(zaaktype_catalogus_url, zaaktype_identificatie, zaaktype_omschrijving) =
CASE
    WHEN (zaaktype_url IS NULL) THEN 0
    ELSE 3
END)),
  constraint zaak_not_own_hoofdzaak CHECK ((hoofdzaak_id <> id)),
  constraint zaak_one_zaaktype CHECK ((num_nonnulls(zaaktype_id, zaaktype_url) = 1)),
  constraint zaak_verlenging_duur_is_term CHECK (is_term(verlenging_duur, 100))
);
CREATE INDEX zaak_archiefactiedatum_id_idx ON zaak USING btree (archiefactiedatum, id);
CREATE INDEX zaak_archiefstatus_id_idx ON zaak USING btree (archiefstatus, id) WHERE (archiefstatus <> 'nog_te_archiveren'::text);
CREATE INDEX zaak_einddatum_gepland_id_idx ON zaak USING btree (einddatum_gepland, id);
CREATE INDEX zaak_einddatum_id_idx ON zaak USING btree (einddatum, id);
CREATE INDEX zaak_hoofdzaak_id_idx ON zaak USING btree (hoofdzaak_id) WHERE (hoofdzaak_id IS NOT NULL);
CREATE INDEX zaak_kenmerken_idx ON zaak USING gin (kenmerken jsonb_path_ops) WHERE (kenmerken <> '[]'::jsonb);
CREATE INDEX zaak_publicatiedatum_id_idx ON zaak USING btree (publicatiedatum, id);
CREATE INDEX zaak_registratiedatum_id_idx ON zaak USING btree (registratiedatum, id);
CREATE INDEX zaak_rights_idx ON zaak USING btree (zaaktype_id, vertrouwelijkheidaanduiding, id) INCLUDE (startdatum, registratiedatum, einddatum, einddatum_gepland, uiterlijke_einddatum_afdoening, publicatiedatum, archiefactiedatum);
CREATE INDEX zaak_search ON zaak USING gin (lower(((identificatie || ' '::text) || omschrijving)) extensions.gin_trgm_ops);
CREATE INDEX zaak_startdatum_id_idx ON zaak USING btree (startdatum, id);
CREATE INDEX zaak_uiterlijke_einddatum_afdoening_id_idx ON zaak USING btree (uiterlijke_einddatum_afdoening, id);
CREATE INDEX zaak_zaakgeometrie_grenzen_idx ON zaak USING gist (zaakgeometrie_grenzen) INCLUDE (id, zaaktype_id, vertrouwelijkheidaanduiding) WHERE (zaakgeometrie_grenzen IS NOT NULL);
CREATE INDEX zaak_zaaktype_url_vertrouwelijkheidaanduiding_id_idx ON zaak USING btree (zaaktype_url, vertrouwelijkheidaanduiding, id) WHERE (zaaktype_url IS NOT NULL);
CREATE TRIGGER count_added AFTER INSERT ON zaak REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_zaak();
CREATE TRIGGER count_changed AFTER UPDATE ON zaak FOR EACH ROW WHEN (((((((((old.zaaktype_id IS DISTINCT FROM new.zaaktype_id) OR (old.zaaktype_url IS DISTINCT FROM new.zaaktype_url)) OR (old.vertrouwelijkheidaanduiding IS DISTINCT FROM new.vertrouwelijkheidaanduiding)) OR (old.bronorganisatie IS DISTINCT FROM new.bronorganisatie)) OR (old.archiefnominatie IS DISTINCT FROM new.archiefnominatie)) OR (old.archiefstatus IS DISTINCT FROM new.archiefstatus)) OR (
        CASE
            WHEN (old.einddatum IS NOT NULL) THEN 'infinity'::date
            ELSE NULL::date
        END IS DISTINCT FROM
        CASE
            WHEN (new.einddatum IS NOT NULL) THEN 'infinity'::date
            ELSE NULL::date
        END)) OR (
        CASE
            WHEN (old.archiefactiedatum IS NOT NULL) THEN 'infinity'::date
            ELSE NULL::date
        END IS DISTINCT FROM
        CASE
            WHEN (new.archiefactiedatum IS NOT NULL) THEN 'infinity'::date
            ELSE NULL::date
        END))) EXECUTE FUNCTION recount_zaak();
CREATE TRIGGER count_emptied AFTER TRUNCATE ON zaak FOR EACH STATEMENT EXECUTE FUNCTION forget_counts('');
CREATE TRIGGER count_parts_moved AFTER UPDATE ON zaak FOR EACH ROW WHEN ((((old.zaaktype_id IS DISTINCT FROM new.zaaktype_id) OR (old.zaaktype_url IS DISTINCT FROM new.zaaktype_url)) OR (old.vertrouwelijkheidaanduiding IS DISTINCT FROM new.vertrouwelijkheidaanduiding))) EXECUTE FUNCTION move_counts_of_parts();
CREATE TRIGGER count_parts_removed BEFORE DELETE ON zaak FOR EACH ROW EXECUTE FUNCTION remove_counts_of_parts();
CREATE TRIGGER count_removed AFTER DELETE ON zaak REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_zaak();
CREATE TRIGGER feed_hoofdzaak_id_delete AFTER DELETE ON zaak FOR EACH ROW WHEN ((old.hoofdzaak_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('hoofdzaak_id', 'zaak', 'zrc', 'zaak', 'r.id');
CREATE TRIGGER feed_hoofdzaak_id_insert AFTER INSERT ON zaak FOR EACH ROW WHEN ((new.hoofdzaak_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('hoofdzaak_id', 'zaak', 'zrc', 'zaak', 'r.id');
CREATE TRIGGER feed_hoofdzaak_id_update AFTER UPDATE ON zaak FOR EACH ROW WHEN ((old.hoofdzaak_id IS DISTINCT FROM new.hoofdzaak_id)) EXECUTE FUNCTION feed_touch('hoofdzaak_id', 'zaak', 'zrc', 'zaak', 'r.id');
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON zaak FOR EACH ROW EXECUTE FUNCTION feed_zaak('zaak');

-- relevanteAndereZaken: cases that matter to a case.
create table zaak_andere_zaak (
  aard_relatie text not null, -- What the other case is to this one.
  andere_zaak_id bigint, -- The other case when it is one of ours.
  andere_zaak_url text, -- URL of the other case when it stands elsewhere.
  overige_relatie text not null default ''::text, -- The relation in words, where aard_relatie is overig.
  place integer not null, -- Position in the list.
  toelichting text not null default ''::text, -- Explanation.
  zaak_id bigint not null, -- The case.
  constraint zaak_andere_zaak_pkey PRIMARY KEY (zaak_id, place),
  constraint zaak_andere_zaak_andere_zaak_id_fkey FOREIGN KEY (andere_zaak_id) REFERENCES zaak(id) ON DELETE CASCADE,
  constraint zaak_andere_zaak_zaak_id_fkey FOREIGN KEY (zaak_id) REFERENCES zaak(id) ON DELETE CASCADE,
  constraint zaak_andere_zaak_aard_relatie_check CHECK ((aard_relatie = ANY (ARRAY['vervolg'::text, 'onderwerp'::text, 'bijdrage'::text, 'overig'::text]))),
  constraint zaak_andere_zaak_one_zaak CHECK ((num_nonnulls(andere_zaak_id, andere_zaak_url) = 1))
);
CREATE INDEX zaak_andere_zaak_andere_zaak_id_idx ON zaak_andere_zaak USING btree (andere_zaak_id) WHERE (andere_zaak_id IS NOT NULL);
CREATE TRIGGER feed_zaak_id_delete AFTER DELETE ON zaak_andere_zaak FOR EACH ROW WHEN ((old.zaak_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('zaak_id', 'zaak', 'zrc', 'zaak', 'r.id');
CREATE TRIGGER feed_zaak_id_insert AFTER INSERT ON zaak_andere_zaak FOR EACH ROW WHEN ((new.zaak_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('zaak_id', 'zaak', 'zrc', 'zaak', 'r.id');
CREATE TRIGGER feed_zaak_id_update AFTER UPDATE ON zaak_andere_zaak FOR EACH ROW WHEN (true) EXECUTE FUNCTION feed_touch('zaak_id', 'zaak', 'zrc', 'zaak', 'r.id');

-- How many cases there are, as additions and subtractions: their sum is exact at every moment. Writers only insert, so that they never wait for each other; a job folds the rows into one per combination.
create table zaak_count (
  archiefactiedatum date, -- Whether they have one, in the same way.
  archiefnominatie text, -- Keep for good, or destroy.
  archiefstatus text not null, -- How far archiving is; other than nog_te_archiveren locks what hangs on the case.
  bronorganisatie text not null, -- RSIN of the organisation that gave the number.
  count bigint not null, -- What to add to the count; negative after a delete.
  einddatum date, -- Whether they are closed: infinity stands for any day, empty for open cases.
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null, -- Confidentiality; rights compare it.
  zaaktype_id bigint, -- The version of the case type, when it is one of ours; it never changes.
  zaaktype_url text, -- The version of the case type, when it stands elsewhere; rights compare it as it was written.
  constraint zaak_count_archiefactiedatum_check CHECK (((archiefactiedatum IS NULL) OR (archiefactiedatum = 'infinity'::date))),
  constraint zaak_count_einddatum_check CHECK (((einddatum IS NULL) OR (einddatum = 'infinity'::date)))
);

-- gerelateerdeZaken: two of our own have a row each way.
create table zaak_gerelateerde_zaak (
  andere_zaak_id bigint, -- The other case when it is one of ours.
  andere_zaak_url text, -- URL of the other case when it stands elsewhere.
  id bigint not null generated always as identity, -- Internal key; order in the list.
  zaak_id bigint not null, -- The case.
  constraint zaak_gerelateerde_zaak_pkey PRIMARY KEY (id),
  constraint zaak_gerelateerde_zaak_unique UNIQUE NULLS NOT DISTINCT (zaak_id, andere_zaak_id, andere_zaak_url),
  constraint zaak_gerelateerde_zaak_andere_zaak_id_fkey FOREIGN KEY (andere_zaak_id) REFERENCES zaak(id) ON DELETE CASCADE,
  constraint zaak_gerelateerde_zaak_zaak_id_fkey FOREIGN KEY (zaak_id) REFERENCES zaak(id) ON DELETE CASCADE,
  constraint zaak_gerelateerde_zaak_one_zaak CHECK ((num_nonnulls(andere_zaak_id, andere_zaak_url) = 1))
);
CREATE INDEX zaak_gerelateerde_zaak_andere_zaak_id_idx ON zaak_gerelateerde_zaak USING btree (andere_zaak_id) WHERE (andere_zaak_id IS NOT NULL);
CREATE TRIGGER feed_zaak_id_delete AFTER DELETE ON zaak_gerelateerde_zaak FOR EACH ROW WHEN ((old.zaak_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('zaak_id', 'zaak', 'zrc', 'zaak', 'r.id');
CREATE TRIGGER feed_zaak_id_insert AFTER INSERT ON zaak_gerelateerde_zaak FOR EACH ROW WHEN ((new.zaak_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('zaak_id', 'zaak', 'zrc', 'zaak', 'r.id');
CREATE TRIGGER feed_zaak_id_update AFTER UPDATE ON zaak_gerelateerde_zaak FOR EACH ROW WHEN (true) EXECUTE FUNCTION feed_touch('zaak_id', 'zaak', 'zrc', 'zaak', 'r.id');

-- Where the numbers of a year begin, for numbers per year.
create table zaak_number_year (
  starts_after bigint not null, -- What is taken off the sequence for a number of this year.
  year integer not null, -- The year.
  constraint zaak_number_year_pkey PRIMARY KEY (year)
);

-- How many rows hang on cases, per table, as additions and subtractions (see zaak_count).
create table zaak_part_count (
  betrokkene_type text not null default ''::text, -- Kind of who is involved.
  count bigint not null, -- What to add to the count; negative after a delete.
  groep text not null, -- Of a rol its omschrijving_generiek; of a status laatst or eerder; of a zaakobject its object_type; else empty.
  indicatie_machtiging text not null default ''::text, -- gemachtigde, machtiginggever or empty.
  kind text not null, -- The table whose rows are counted; with one of its columns: cases that have a row with the value in groep there.
  omschrijving text not null default ''::text, -- Of a rol; so are the next two.
  type_id bigint, -- Of a status its statustype, of a resultaat its resultaattype, of a rol its roltype.
  type_url text, -- That type elsewhere.
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null, -- Confidentiality.
  zaaktype_id bigint, -- As on their case; so are the next two.
  zaaktype_url text -- Zaaktype elsewhere.
);

-- Besluiten of a case (Zaken API, ZaakBesluit). For besluiten of ours the row comes and goes with Besluit.zaak. A case with besluiten is not deleted: the reference does not cascade.
create table zaakbesluit (
  besluit_url text, -- URL of the besluit when it stands elsewhere.
  besluit_uuid uuid, -- uuid of the besluit when it is one of ours.
  id bigint not null generated always as identity, -- Internal key.
  ingangsdatum date, -- Its ingangsdatum: archiving may count from it.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  vervaldatum date, -- Its vervaldatum: archiving may count from it.
  zaak_id bigint not null, -- The case.
  constraint zaakbesluit_pkey PRIMARY KEY (id),
  constraint zaakbesluit_unique UNIQUE NULLS NOT DISTINCT (zaak_id, besluit_uuid, besluit_url),
  constraint zaakbesluit_uuid_unique UNIQUE (uuid),
  constraint zaakbesluit_zaak_exists FOREIGN KEY (zaak_id) REFERENCES zaak(id),
  constraint zaakbesluit_one_besluit CHECK ((num_nonnulls(besluit_uuid, besluit_url) = 1))
);
CREATE INDEX zaakbesluit_besluit_uuid_idx ON zaakbesluit USING btree (besluit_uuid) WHERE (besluit_uuid IS NOT NULL);
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON zaakbesluit FOR EACH ROW EXECUTE FUNCTION feed_zaak_part('zaakbesluit');

-- A contactmoment about a case (Zaken API, ZaakContactMoment).
create table zaakcontactmoment (
  contactmoment text not null, -- Its URL.
  id bigint not null generated always as identity, -- Internal key.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  zaak_id bigint not null, -- The case.
  constraint zaakcontactmoment_pkey PRIMARY KEY (id),
  constraint zaakcontactmoment_unique UNIQUE (zaak_id, contactmoment),
  constraint zaakcontactmoment_uuid_unique UNIQUE (uuid),
  constraint zaakcontactmoment_zaak_id_fkey FOREIGN KEY (zaak_id) REFERENCES zaak(id) ON DELETE CASCADE
);
CREATE INDEX zaakcontactmoment_contactmoment_idx ON zaakcontactmoment USING btree (contactmoment);
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON zaakcontactmoment FOR EACH ROW EXECUTE FUNCTION feed_zaak_part('zaakcontactmoment');

-- A value that a case has for an eigenschap of its zaaktype (Zaken API, ZaakEigenschap).
create table zaakeigenschap (
  eigenschap_id bigint, -- The eigenschap; of the zaaktype of the case (zrc-018), when that is one of ours.
  eigenschap_url text, -- The eigenschap, when it stands elsewhere.
  id bigint not null generated always as identity, -- Internal key.
  naam text not null, -- Its name when the row was made.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  waarde text not null, -- The value.
  zaak_id bigint not null, -- The case.
  constraint zaakeigenschap_pkey PRIMARY KEY (id),
  constraint zaakeigenschap_uuid_unique UNIQUE (uuid),
  constraint zaakeigenschap_eigenschap_id_fkey FOREIGN KEY (eigenschap_id) REFERENCES eigenschap(id),
  constraint zaakeigenschap_zaak_id_fkey FOREIGN KEY (zaak_id) REFERENCES zaak(id) ON DELETE CASCADE,
  constraint zaakeigenschap_one_type CHECK ((num_nonnulls(eigenschap_id, eigenschap_url) = 1))
);
CREATE INDEX zaakeigenschap_eigenschap_id_idx ON zaakeigenschap USING btree (eigenschap_id);
CREATE INDEX zaakeigenschap_zaak_id_idx ON zaakeigenschap USING btree (zaak_id);
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON zaakeigenschap FOR EACH ROW EXECUTE FUNCTION feed_zaak_part('zaakeigenschap');

-- That a document belongs to a case (Zaken API, ZaakInformatieObject); an objectinformatieobject stands beside it (zrc-005).
create table zaakinformatieobject (
  beschrijving text not null default ''::text, -- Description.
  enkelvoudiginformatieobject_id bigint, -- The document, when it is one of ours; it cannot be deleted while this is here.
  id bigint not null generated always as identity, -- Internal key.
  informatieobject_url text, -- The document when it stands elsewhere.
  registratiedatum timestamp with time zone not null default now(), -- When it was linked (zrc-004).
  status_id bigint, -- The status for which it matters.
  titel text not null default ''::text, -- Name of the document within the case.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  vernietigingsdatum timestamp with time zone, -- When the document is to be destroyed.
  zaak_id bigint not null, -- The case.
  constraint zaakinformatieobject_pkey PRIMARY KEY (id),
  constraint zaakinformatieobject_unique UNIQUE (zaak_id, enkelvoudiginformatieobject_id),
  constraint zaakinformatieobject_uuid_unique UNIQUE (uuid),
  constraint zaakinformatieobject_enkelvoudiginformatieobject_id_fkey FOREIGN KEY (enkelvoudiginformatieobject_id) REFERENCES enkelvoudiginformatieobject(id),
  constraint zaakinformatieobject_status_id_fkey FOREIGN KEY (status_id) REFERENCES status(id) ON DELETE SET NULL,
  constraint zaakinformatieobject_zaak_id_fkey FOREIGN KEY (zaak_id) REFERENCES zaak(id) ON DELETE CASCADE,
  constraint zaakinformatieobject_one_document CHECK ((num_nonnulls(enkelvoudiginformatieobject_id, informatieobject_url) = 1))
);
CREATE UNIQUE INDEX zaakinformatieobject_elsewhere_unique ON zaakinformatieobject USING btree (zaak_id, informatieobject_url) WHERE (informatieobject_url IS NOT NULL);
CREATE INDEX zaakinformatieobject_enkelvoudiginformatieobject_id_idx ON zaakinformatieobject USING btree (enkelvoudiginformatieobject_id);
CREATE INDEX zaakinformatieobject_informatieobject_url_idx ON zaakinformatieobject USING btree (informatieobject_url) WHERE (informatieobject_url IS NOT NULL);
CREATE INDEX zaakinformatieobject_status_id_idx ON zaakinformatieobject USING btree (status_id) WHERE (status_id IS NOT NULL);
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON zaakinformatieobject FOR EACH ROW EXECUTE FUNCTION feed_zaak_part('zaakinformatieobject');
CREATE TRIGGER feed_status_id_delete AFTER DELETE ON zaakinformatieobject FOR EACH ROW WHEN ((old.status_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('status_id', 'status', 'zrc', 'status', 'r.zaak_id');
CREATE TRIGGER feed_status_id_insert AFTER INSERT ON zaakinformatieobject FOR EACH ROW WHEN ((new.status_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('status_id', 'status', 'zrc', 'status', 'r.zaak_id');
CREATE TRIGGER feed_status_id_update AFTER UPDATE ON zaakinformatieobject FOR EACH ROW WHEN ((old.status_id IS DISTINCT FROM new.status_id)) EXECUTE FUNCTION feed_touch('status_id', 'status', 'zrc', 'status', 'r.zaak_id');

-- A note on a case (Zaken API 1.7, ZaakNotitie).
create table zaaknotitie (
  aangemaakt_door text not null default ''::text, -- Who wrote it.
  aanmaakdatum timestamp with time zone not null default now(), -- When it was made.
  id bigint not null generated always as identity, -- Internal key.
  notitie_type text not null default 'intern'::text, -- intern or extern.
  onderwerp text not null, -- Subject.
  status text not null default 'concept'::text, -- concept or definitief; a definitive note does not change.
  tekst text not null, -- The note.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  wijzigingsdatum timestamp with time zone not null default now(), -- When it last changed.
  zaak_id bigint not null, -- The case.
  constraint zaaknotitie_pkey PRIMARY KEY (id),
  constraint zaaknotitie_uuid_unique UNIQUE (uuid),
  constraint zaaknotitie_zaak_id_fkey FOREIGN KEY (zaak_id) REFERENCES zaak(id) ON DELETE CASCADE,
  constraint zaaknotitie_notitie_type_check CHECK ((notitie_type = ANY (ARRAY['intern'::text, 'extern'::text]))),
  constraint zaaknotitie_status_check CHECK ((status = ANY (ARRAY['concept'::text, 'definitief'::text])))
);
CREATE INDEX zaaknotitie_zaak_id_idx ON zaaknotitie USING btree (zaak_id);
CREATE TRIGGER count_added AFTER INSERT ON zaaknotitie REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_zaaknotitie();
CREATE TRIGGER count_changed AFTER UPDATE ON zaaknotitie FOR EACH ROW WHEN ((((((((old.zaak_id IS DISTINCT FROM new.zaak_id) OR (''::text IS DISTINCT FROM ''::text)) OR (NULL::bigint IS DISTINCT FROM NULL::bigint)) OR (NULL::text IS DISTINCT FROM NULL::text)) OR (''::text IS DISTINCT FROM ''::text)) OR (''::text IS DISTINCT FROM ''::text)) OR (''::text IS DISTINCT FROM ''::text))) EXECUTE FUNCTION recount_zaaknotitie();
CREATE TRIGGER count_emptied AFTER TRUNCATE ON zaaknotitie FOR EACH STATEMENT EXECUTE FUNCTION forget_counts('zaak_part');
CREATE TRIGGER count_removed AFTER DELETE ON zaaknotitie REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_zaaknotitie();
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON zaaknotitie FOR EACH ROW EXECUTE FUNCTION feed_zaak_part('zaaknotitie');

-- What a case is about (Zaken API, ZaakObject).
create table zaakobject (
  id bigint not null generated always as identity, -- Internal key; order of lists, newest first.
  object text not null default ''::text, -- URL of the object; empty: object_identificatie says it.
  object_identificatie jsonb, -- The object, complete as the API shows it, with numbers of persons sealed.
  object_type text not null, -- Kind of object; decides the shape of object_identificatie.
  object_type_overige text not null default ''::text, -- Kind of object in words, where object_type is overige.
  object_type_overige_definitie jsonb, -- How the data of the object is found and judged, as the API shows it.
  relatieomschrijving text not null default ''::text, -- What the object is to the case.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  zaak_id bigint not null, -- The case.
  zaakobjecttype_id bigint, -- The zaakobjecttype, when one of ours was named.
  zaakobjecttype_url text, -- The zaakobjecttype, when one elsewhere was named.
  constraint zaakobject_pkey PRIMARY KEY (id),
  constraint zaakobject_uuid_unique UNIQUE (uuid),
  constraint zaakobject_zaak_id_fkey FOREIGN KEY (zaak_id) REFERENCES zaak(id) ON DELETE CASCADE,
  constraint zaakobject_zaakobjecttype_id_fkey FOREIGN KEY (zaakobjecttype_id) REFERENCES zaakobjecttype(id),
  constraint zaakobject_one_type CHECK ((num_nonnulls(zaakobjecttype_id, zaakobjecttype_url) <= 1))
);
CREATE INDEX zaakobject_object_idx ON zaakobject USING btree (object) WHERE (object <> ''::text);
CREATE INDEX zaakobject_object_type_idx ON zaakobject USING btree (object_type);
CREATE INDEX zaakobject_zaak_id_idx ON zaakobject USING btree (zaak_id);
CREATE INDEX zaakobject_zaakobjecttype_id_idx ON zaakobject USING btree (zaakobjecttype_id) WHERE (zaakobjecttype_id IS NOT NULL);
CREATE TRIGGER count_added AFTER INSERT ON zaakobject REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_zaakobject();
CREATE TRIGGER count_changed AFTER UPDATE ON zaakobject FOR EACH ROW WHEN ((((((((old.zaak_id IS DISTINCT FROM new.zaak_id) OR (old.object_type IS DISTINCT FROM new.object_type)) OR (NULL::bigint IS DISTINCT FROM NULL::bigint)) OR (NULL::text IS DISTINCT FROM NULL::text)) OR (''::text IS DISTINCT FROM ''::text)) OR (''::text IS DISTINCT FROM ''::text)) OR (''::text IS DISTINCT FROM ''::text))) EXECUTE FUNCTION recount_zaakobject();
CREATE TRIGGER count_emptied AFTER TRUNCATE ON zaakobject FOR EACH STATEMENT EXECUTE FUNCTION forget_counts('zaak_part');
CREATE TRIGGER count_removed AFTER DELETE ON zaakobject REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_zaakobject();
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON zaakobject FOR EACH ROW EXECUTE FUNCTION feed_zaak_part('zaakobject');

-- Objects that cases of a type can be about.
create table zaakobjecttype (
  ander_objecttype boolean not null, -- True: not a type of the RSGB or RGBZ.
  begin_geldigheid date, -- First day of validity; empty: as the case type.
  einde_geldigheid date, -- Last day of validity; empty: as the case type.
  id bigint not null generated always as identity, -- Internal key.
  objecttype text not null, -- URL of the type of object.
  relatie_omschrijving text not null, -- What the object is to the case.
  statustype_id bigint, -- The stage at which the object must be known.
  uuid uuid not null default gen_random_uuid(), -- Last part of its URL.
  zaaktype_id bigint not null, -- The version of the case type.
  constraint zaakobjecttype_pkey PRIMARY KEY (id),
  constraint zaakobjecttype_uuid_unique UNIQUE (uuid),
  constraint zaakobjecttype_statustype_id_fkey FOREIGN KEY (statustype_id) REFERENCES statustype(id) ON DELETE SET NULL,
  constraint zaakobjecttype_zaaktype_id_fkey FOREIGN KEY (zaaktype_id) REFERENCES zaaktype(id) ON DELETE CASCADE
);
CREATE INDEX zaakobjecttype_statustype_id_idx ON zaakobjecttype USING btree (statustype_id);
CREATE INDEX zaakobjecttype_zaaktype_id_idx ON zaakobjecttype USING btree (zaaktype_id);
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON zaakobjecttype FOR EACH ROW EXECUTE FUNCTION feed_type_part('zaakobjecttype');
CREATE TRIGGER zaakobjecttype_has_room BEFORE INSERT ON zaakobjecttype FOR EACH ROW EXECUTE FUNCTION has_room('zaaktype_id', '1000');

-- A version of a case type (Catalogi API, ZaakType).
create table zaaktype (
  aanleiding text not null, -- Cause.
  begin_geldigheid date not null, -- First day of validity.
  broncatalogus_domein text not null default ''::text, -- Catalogue it was taken from: domain.
  broncatalogus_rsin text not null default ''::text, -- Catalogue it was taken from: RSIN.
  broncatalogus_url text not null default ''::text, -- Catalogue it was taken from: URL.
  bronzaaktype_identificatie text not null default ''::text, -- Type it was taken from: identificatie.
  bronzaaktype_omschrijving text not null default ''::text, -- Type it was taken from: omschrijving.
  bronzaaktype_url text not null default ''::text, -- Type it was taken from: URL.
  catalogus_id bigint not null, -- The catalogue.
  concept boolean not null default true, -- True until it is published; only published types are used.
  doel text not null, -- Purpose.
  doorlooptijd text not null, -- Legal term (duration): uiterlijkeEinddatumAfdoening of a case follows from it.
  einde_geldigheid date, -- Last day of validity.
  handeling_behandelaar text not null, -- What the handler does.
  handeling_initiator text not null, -- What the initiator does.
  id bigint not null generated always as identity, -- Internal key.
  identificatie text not null, -- Key; versions of one type share it within their catalogue.
  indicatie_intern_of_extern text not null, -- Whether cases come from inside or outside.
  omschrijving text not null, -- Name.
  omschrijving_generiek text not null default ''::text, -- Generic name.
  onderwerp text not null, -- Subject.
  opschorting_en_aanhouding_mogelijk boolean not null, -- Whether cases may be suspended.
  producten_of_diensten text[] not null default '{}'::text[], -- URLs of products that cases of this type can be about.
  publicatie_indicatie boolean not null, -- Whether the start of a case is published.
  publicatietekst text not null default ''::text, -- Text of that publication.
  referentieproces_link text not null default ''::text, -- URL of the reference process.
  referentieproces_naam text not null, -- Name of the reference process.
  selectielijst_procestype text not null default ''::text, -- URL of the procestype in the selectielijst; empty: none.
  servicenorm text, -- Service level (duration): einddatumGepland of a case follows from it.
  toelichting text not null default ''::text, -- Explanation.
  trefwoorden text[] not null default '{}'::text[], -- Key words.
  uuid uuid not null default gen_random_uuid(), -- Last part of its URL.
  verantwoordelijke text not null, -- Who answers for the type.
  verantwoordingsrelatie text[] not null default '{}'::text[], -- Relations to accounting.
  verlenging_mogelijk boolean not null, -- Whether the term of cases may be extended.
  verlengingstermijn text, -- By how much (duration); empty when no extension is possible.
  versiedatum date not null, -- Date of this version.
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null, -- Confidentiality of cases that state none.
  constraint zaaktype_pkey PRIMARY KEY (id),
  constraint zaaktype_uuid_unique UNIQUE (uuid),
  constraint zaaktype_catalogus_id_fkey FOREIGN KEY (catalogus_id) REFERENCES catalogus(id),
  constraint zaaktype_doorlooptijd_is_term CHECK (is_term(doorlooptijd, 100)),
  constraint zaaktype_indicatie_intern_of_extern_check CHECK ((indicatie_intern_of_extern = ANY (ARRAY['intern'::text, 'extern'::text]))),
  constraint zaaktype_servicenorm_is_term CHECK (is_term(servicenorm, 100)),
  constraint zaaktype_verlengingstermijn_is_term CHECK (is_term(verlengingstermijn, 100))
);
CREATE INDEX zaaktype_catalogus_id_identificatie_idx ON zaaktype USING btree (catalogus_id, identificatie);
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON zaaktype FOR EACH ROW EXECUTE FUNCTION feed_type('zaaktype');
CREATE TRIGGER zaaktype_has_room BEFORE INSERT ON zaaktype FOR EACH ROW EXECUTE FUNCTION has_room('catalogus_id', '25000');

-- Decisions that can be taken in cases of a type; written on the case type.
create table zaaktype_besluittype (
  besluittype_id bigint not null, -- The decision type.
  by_url boolean not null default true, -- Whether the relation names one version, by its URL.
  zaaktype_id bigint not null, -- The case type.
  constraint zaaktype_besluittype_pkey PRIMARY KEY (zaaktype_id, besluittype_id),
  constraint zaaktype_besluittype_besluittype_id_fkey FOREIGN KEY (besluittype_id) REFERENCES besluittype(id) ON DELETE CASCADE,
  constraint zaaktype_besluittype_zaaktype_id_fkey FOREIGN KEY (zaaktype_id) REFERENCES zaaktype(id) ON DELETE CASCADE
);
CREATE INDEX zaaktype_besluittype_besluittype_id_idx ON zaaktype_besluittype USING btree (besluittype_id);
CREATE TRIGGER feed_besluittype_id_delete AFTER DELETE ON zaaktype_besluittype FOR EACH ROW WHEN ((old.besluittype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('besluittype_id', 'besluittype', 'ztc', 'besluittype', 'r.catalogus_id');
CREATE TRIGGER feed_besluittype_id_insert AFTER INSERT ON zaaktype_besluittype FOR EACH ROW WHEN ((new.besluittype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('besluittype_id', 'besluittype', 'ztc', 'besluittype', 'r.catalogus_id');
CREATE TRIGGER feed_besluittype_id_update AFTER UPDATE ON zaaktype_besluittype FOR EACH ROW WHEN (true) EXECUTE FUNCTION feed_touch('besluittype_id', 'besluittype', 'ztc', 'besluittype', 'r.catalogus_id');
CREATE TRIGGER feed_zaaktype_id_delete AFTER DELETE ON zaaktype_besluittype FOR EACH ROW WHEN ((old.zaaktype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('zaaktype_id', 'zaaktype', 'ztc', 'zaaktype', 'r.catalogus_id');
CREATE TRIGGER feed_zaaktype_id_insert AFTER INSERT ON zaaktype_besluittype FOR EACH ROW WHEN ((new.zaaktype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('zaaktype_id', 'zaaktype', 'ztc', 'zaaktype', 'r.catalogus_id');
CREATE TRIGGER feed_zaaktype_id_update AFTER UPDATE ON zaaktype_besluittype FOR EACH ROW WHEN (true) EXECUTE FUNCTION feed_touch('zaaktype_id', 'zaaktype', 'ztc', 'zaaktype', 'r.catalogus_id');

-- Case types of which a case can be part of a case of this type.
create table zaaktype_deelzaaktype (
  by_url boolean not null default true, -- Whether the relation names one version, by its URL.
  deelzaaktype_id bigint not null, -- The type of the part.
  zaaktype_id bigint not null, -- The type of the whole.
  constraint zaaktype_deelzaaktype_pkey PRIMARY KEY (zaaktype_id, deelzaaktype_id),
  constraint zaaktype_deelzaaktype_deelzaaktype_id_fkey FOREIGN KEY (deelzaaktype_id) REFERENCES zaaktype(id) ON DELETE CASCADE,
  constraint zaaktype_deelzaaktype_zaaktype_id_fkey FOREIGN KEY (zaaktype_id) REFERENCES zaaktype(id) ON DELETE CASCADE
);
CREATE INDEX zaaktype_deelzaaktype_deelzaaktype_id_idx ON zaaktype_deelzaaktype USING btree (deelzaaktype_id);
CREATE TRIGGER feed_zaaktype_id_delete AFTER DELETE ON zaaktype_deelzaaktype FOR EACH ROW WHEN ((old.zaaktype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('zaaktype_id', 'zaaktype', 'ztc', 'zaaktype', 'r.catalogus_id');
CREATE TRIGGER feed_zaaktype_id_insert AFTER INSERT ON zaaktype_deelzaaktype FOR EACH ROW WHEN ((new.zaaktype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('zaaktype_id', 'zaaktype', 'ztc', 'zaaktype', 'r.catalogus_id');
CREATE TRIGGER feed_zaaktype_id_update AFTER UPDATE ON zaaktype_deelzaaktype FOR EACH ROW WHEN (true) EXECUTE FUNCTION feed_touch('zaaktype_id', 'zaaktype', 'ztc', 'zaaktype', 'r.catalogus_id');

-- Case types that a case type is related to.
create table zaaktype_gerelateerd_zaaktype (
  aard_relatie text not null, -- vervolg, bijdrage or onderwerp.
  gerelateerd_zaaktype_id bigint, -- The other type, when it is one of ours.
  gerelateerd_zaaktype_url text, -- The other type, when it stands elsewhere.
  place integer not null, -- Position in the list.
  toelichting text not null default ''::text, -- Explanation.
  zaaktype_id bigint not null, -- The type that has the relation.
  constraint zaaktype_gerelateerd_zaaktype_pkey PRIMARY KEY (zaaktype_id, place),
  constraint zaaktype_gerelateerd_zaaktype_gerelateerd_zaaktype_id_fkey FOREIGN KEY (gerelateerd_zaaktype_id) REFERENCES zaaktype(id) ON DELETE CASCADE,
  constraint zaaktype_gerelateerd_zaaktype_zaaktype_id_fkey FOREIGN KEY (zaaktype_id) REFERENCES zaaktype(id) ON DELETE CASCADE,
  constraint zaaktype_gerelateerd_one_zaaktype CHECK ((num_nonnulls(gerelateerd_zaaktype_id, gerelateerd_zaaktype_url) = 1)),
  constraint zaaktype_gerelateerd_zaaktype_aard_relatie_check CHECK ((aard_relatie = ANY (ARRAY['vervolg'::text, 'bijdrage'::text, 'onderwerp'::text])))
);
CREATE INDEX zaaktype_gerelateerd_zaaktype_gerelateerd_zaaktype_id_idx ON zaaktype_gerelateerd_zaaktype USING btree (gerelateerd_zaaktype_id);
CREATE TRIGGER feed_zaaktype_id_delete AFTER DELETE ON zaaktype_gerelateerd_zaaktype FOR EACH ROW WHEN ((old.zaaktype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('zaaktype_id', 'zaaktype', 'ztc', 'zaaktype', 'r.catalogus_id');
CREATE TRIGGER feed_zaaktype_id_insert AFTER INSERT ON zaaktype_gerelateerd_zaaktype FOR EACH ROW WHEN ((new.zaaktype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('zaaktype_id', 'zaaktype', 'ztc', 'zaaktype', 'r.catalogus_id');
CREATE TRIGGER feed_zaaktype_id_update AFTER UPDATE ON zaaktype_gerelateerd_zaaktype FOR EACH ROW WHEN (true) EXECUTE FUNCTION feed_touch('zaaktype_id', 'zaaktype', 'ztc', 'zaaktype', 'r.catalogus_id');

-- Documents that belong to cases of a type.
create table zaaktype_informatieobjecttype (
  by_url boolean not null default true, -- Whether the relation names one version, by its URL.
  id bigint not null generated always as identity, -- Internal key.
  informatieobjecttype_id bigint not null, -- The document type.
  richting text not null, -- inkomend, intern or uitgaand.
  statustype_id bigint, -- The stage at which the document must be there.
  uuid uuid not null default gen_random_uuid(), -- Last part of its URL.
  volgnummer integer not null, -- Position within the case type.
  zaaktype_id bigint not null, -- The version of the case type.
  constraint zaaktype_informatieobjecttype_pkey PRIMARY KEY (id),
  constraint zaaktype_informatieobjecttype_uuid_unique UNIQUE (uuid),
  constraint zaaktype_informatieobjecttype_volgnummer_unique UNIQUE (zaaktype_id, volgnummer),
  constraint zaaktype_informatieobjecttype_informatieobjecttype_id_fkey FOREIGN KEY (informatieobjecttype_id) REFERENCES informatieobjecttype(id) ON DELETE CASCADE,
  constraint zaaktype_informatieobjecttype_statustype_id_fkey FOREIGN KEY (statustype_id) REFERENCES statustype(id) ON DELETE SET NULL,
  constraint zaaktype_informatieobjecttype_zaaktype_id_fkey FOREIGN KEY (zaaktype_id) REFERENCES zaaktype(id) ON DELETE CASCADE,
  constraint zaaktype_informatieobjecttype_richting_check CHECK ((richting = ANY (ARRAY['inkomend'::text, 'intern'::text, 'uitgaand'::text]))),
  constraint zaaktype_informatieobjecttype_volgnummer_check CHECK (((volgnummer >= 1) AND (volgnummer <= 999)))
);
CREATE INDEX zaaktype_informatieobjecttype_informatieobjecttype_id_idx ON zaaktype_informatieobjecttype USING btree (informatieobjecttype_id);
CREATE INDEX zaaktype_informatieobjecttype_statustype_id_idx ON zaaktype_informatieobjecttype USING btree (statustype_id);
CREATE TRIGGER feed_informatieobjecttype_id_delete AFTER DELETE ON zaaktype_informatieobjecttype FOR EACH ROW WHEN ((old.informatieobjecttype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('informatieobjecttype_id', 'informatieobjecttype', 'ztc', 'informatieobjecttype', 'r.catalogus_id');
CREATE TRIGGER feed_informatieobjecttype_id_insert AFTER INSERT ON zaaktype_informatieobjecttype FOR EACH ROW WHEN ((new.informatieobjecttype_id IS NOT NULL)) EXECUTE FUNCTION feed_touch('informatieobjecttype_id', 'informatieobjecttype', 'ztc', 'informatieobjecttype', 'r.catalogus_id');
CREATE TRIGGER feed_informatieobjecttype_id_update AFTER UPDATE ON zaaktype_informatieobjecttype FOR EACH ROW WHEN (true) EXECUTE FUNCTION feed_touch('informatieobjecttype_id', 'informatieobjecttype', 'ztc', 'informatieobjecttype', 'r.catalogus_id');
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON zaaktype_informatieobjecttype FOR EACH ROW EXECUTE FUNCTION feed_type_part('zaaktypeinformatieobjecttype');
CREATE TRIGGER zaaktype_informatieobjecttype_has_room BEFORE INSERT ON zaaktype_informatieobjecttype FOR EACH ROW EXECUTE FUNCTION has_room('zaaktype_id', '1000');

-- A verzoek that belongs to a case (Zaken API, ZaakVerzoek).
create table zaakverzoek (
  id bigint not null generated always as identity, -- Internal key.
  uuid uuid not null default uuid_v7(), -- Last part of its URL.
  verzoek text not null, -- Its URL.
  zaak_id bigint not null, -- The case.
  constraint zaakverzoek_pkey PRIMARY KEY (id),
  constraint zaakverzoek_unique UNIQUE (zaak_id, verzoek),
  constraint zaakverzoek_uuid_unique UNIQUE (uuid),
  constraint zaakverzoek_zaak_id_fkey FOREIGN KEY (zaak_id) REFERENCES zaak(id) ON DELETE CASCADE
);
CREATE INDEX zaakverzoek_verzoek_idx ON zaakverzoek USING btree (verzoek);
CREATE TRIGGER feed_row AFTER INSERT OR DELETE OR UPDATE ON zaakverzoek FOR EACH ROW EXECUTE FUNCTION feed_zaak_part('zaakverzoek');

-- The client ids of an application, those included that have another application too.
create view applicatie_client_all as
 SELECT applicatie_client.client_id,
    applicatie_client.applicatie_id,
    applicatie_client.place
   FROM applicatie_client
UNION ALL
 SELECT applicatie_client_more.client_id,
    applicatie_client_more.applicatie_id,
    applicatie_client_more.place
   FROM applicatie_client_more;

-- The types that rights can be about, with what versions of one type have in common (key).
create view autorisatie_type as
 SELECT 'zrc'::text AS component,
    zaaktype.id,
    zaaktype.uuid,
    zaaktype.catalogus_id,
    zaaktype.identificatie AS key
   FROM zaaktype
UNION ALL
 SELECT 'drc'::text AS component,
    informatieobjecttype.id,
    informatieobjecttype.uuid,
    informatieobjecttype.catalogus_id,
    informatieobjecttype.omschrijving AS key
   FROM informatieobjecttype
UNION ALL
 SELECT 'brc'::text AS component,
    besluittype.id,
    besluittype.uuid,
    besluittype.catalogus_id,
    besluittype.omschrijving AS key
   FROM besluittype;

-- Imports with their progress, newest first.
create view import_overview as
 SELECT uuid,
    status,
    total,
    processed,
    succeeded,
    failed,
        CASE
            WHEN (total > 0) THEN round(((100.0 * (processed)::numeric) / (total)::numeric), 1)
            ELSE NULL::numeric
        END AS percent,
        CASE
            WHEN ((processed > 0) AND (started_at IS NOT NULL)) THEN round(((processed)::numeric / GREATEST(EXTRACT(epoch FROM (COALESCE(ended_at, updated_at) - started_at)), 0.001)), 1)
            ELSE NULL::numeric
        END AS rows_per_second,
    reason,
    client_id,
    created_at,
    started_at,
    updated_at,
    ended_at
   FROM import i
  WHERE (deleted_at IS NULL)
  ORDER BY id DESC;

-- Jobs that are in the queue. A job that is done is gone.
create view job_overview as
 SELECT id,
    task,
    state,
    belongs_to,
    attempts,
    max_attempts,
    last_fault,
    created_at,
    run_at,
    busy_since,
    worker
   FROM job_rows() job_rows(id, task, state, belongs_to, attempts, max_attempts, last_fault, created_at, run_at, busy_since, worker)
  ORDER BY id;

-- Messages with their state, newest first.
create view notificatie_overview as
 SELECT uuid,
    kanaal,
    resource,
    actie,
    resource_url,
    aanmaakdatum,
    COALESCE(( SELECT max(l.status) AS max
           FROM delivery l
          WHERE (l.notificatie_id = n.id)), 'afgeleverd'::text) AS status,
    ( SELECT min(l.next_attempt_at) AS min
           FROM delivery l
          WHERE (l.notificatie_id = n.id)) AS next_attempt_at
   FROM notificatie n
  ORDER BY id DESC;

-- How the outcome of a case has it archived, wherever its resultaattype stands.
create view resultaat_archiving as
 SELECT r.zaak_id,
    COALESCE(y.omschrijving, (r.resultaattype_elsewhere ->> 'omschrijving'::text)) AS omschrijving,
    COALESCE(y.archiefnominatie, (r.resultaattype_elsewhere ->> 'archiefnominatie'::text)) AS archiefnominatie,
    COALESCE(y.archiefactietermijn, (r.resultaattype_elsewhere ->> 'archiefactietermijn'::text)) AS archiefactietermijn,
    COALESCE(y.brondatum_afleidingswijze, (r.resultaattype_elsewhere #>> '{brondatumArchiefprocedure,afleidingswijze}'::text[])) AS afleidingswijze,
    COALESCE(y.brondatum_datumkenmerk, (r.resultaattype_elsewhere #>> '{brondatumArchiefprocedure,datumkenmerk}'::text[])) AS datumkenmerk,
    COALESCE(y.brondatum_objecttype, (r.resultaattype_elsewhere #>> '{brondatumArchiefprocedure,objecttype}'::text[])) AS objecttype,
    COALESCE(y.brondatum_procestermijn, (r.resultaattype_elsewhere #>> '{brondatumArchiefprocedure,procestermijn}'::text[])) AS procestermijn
   FROM (resultaat r
     LEFT JOIN resultaattype y ON ((y.id = r.resultaattype_id)));

-- What hangs on cases, as zaak_part_count counts it.
create view zaak_part as
 SELECT ''::text AS kind,
    (0)::bigint AS zaak_id,
    ''::text AS groep,
    (0)::bigint AS type_id,
    ''::text AS type_url,
    ''::text AS omschrijving,
    ''::text AS betrokkene_type,
    ''::text AS indicatie_machtiging
  WHERE false
UNION ALL
 SELECT 'status'::text AS kind,
    r.zaak_id,
        CASE
            WHEN r.laatst THEN 'laatst'::text
            ELSE 'eerder'::text
        END AS groep,
    r.statustype_id AS type_id,
    r.statustype_url AS type_url,
    ''::text AS omschrijving,
    ''::text AS betrokkene_type,
    ''::text AS indicatie_machtiging
   FROM status r
UNION ALL
 SELECT 'rol'::text AS kind,
    r.zaak_id,
    r.omschrijving_generiek AS groep,
    r.roltype_id AS type_id,
    r.roltype_url AS type_url,
    r.omschrijving,
    r.betrokkene_type,
    r.indicatie_machtiging
   FROM rol r
UNION ALL
 SELECT 'resultaat'::text AS kind,
    r.zaak_id,
    ''::text AS groep,
    r.resultaattype_id AS type_id,
    r.resultaattype_url AS type_url,
    ''::text AS omschrijving,
    ''::text AS betrokkene_type,
    ''::text AS indicatie_machtiging
   FROM resultaat r
UNION ALL
 SELECT 'zaakobject'::text AS kind,
    r.zaak_id,
    r.object_type AS groep,
    NULL::bigint AS type_id,
    NULL::text AS type_url,
    ''::text AS omschrijving,
    ''::text AS betrokkene_type,
    ''::text AS indicatie_machtiging
   FROM zaakobject r
UNION ALL
 SELECT 'substatus'::text AS kind,
    r.zaak_id,
    ''::text AS groep,
    NULL::bigint AS type_id,
    NULL::text AS type_url,
    ''::text AS omschrijving,
    ''::text AS betrokkene_type,
    ''::text AS indicatie_machtiging
   FROM substatus r
UNION ALL
 SELECT 'klantcontact'::text AS kind,
    r.zaak_id,
    ''::text AS groep,
    NULL::bigint AS type_id,
    NULL::text AS type_url,
    ''::text AS omschrijving,
    ''::text AS betrokkene_type,
    ''::text AS indicatie_machtiging
   FROM klantcontact r
UNION ALL
 SELECT 'zaaknotitie'::text AS kind,
    r.zaak_id,
    ''::text AS groep,
    NULL::bigint AS type_id,
    NULL::text AS type_url,
    ''::text AS omschrijving,
    ''::text AS betrokkene_type,
    ''::text AS indicatie_machtiging
   FROM zaaknotitie r
UNION ALL
 SELECT DISTINCT v.kind,
    r.zaak_id,
    v.value AS groep,
    NULL::bigint AS type_id,
    NULL::text AS type_url,
    ''::text AS omschrijving,
    ''::text AS betrokkene_type,
    ''::text AS indicatie_machtiging
   FROM rol r,
    LATERAL ( VALUES ('rol.omschrijving_generiek'::text,r.omschrijving_generiek), ('rol.betrokkene_type'::text,r.betrokkene_type), ('rol.indicatie_machtiging'::text,r.indicatie_machtiging)) v(kind, value);

-- Part of count_rows_of and count_parts_of.
CREATE OR REPLACE FUNCTION add_count_triggers(counted text, changes text, kind text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  execute format('create trigger count_added after insert on %1$I
    referencing new table as changed for each statement execute function count_%1$s()', counted);
  execute format('create trigger count_removed after delete on %1$I
    referencing old table as changed for each statement execute function count_%1$s()', counted);
  execute format('create trigger count_changed after update on %1$I for each row when ((%2$s) is distinct from (%3$s))
    execute function recount_%1$s()', counted, replace(changes, 'r.', 'old.'), replace(changes, 'r.', 'new.'));
  execute format('create trigger count_emptied after truncate on %I
    for each statement execute function forget_counts(%L)', counted, kind);
end $function$;

-- Begins the feed anew: every position of before is refused.
CREATE OR REPLACE FUNCTION begin_feed()
 RETURNS void
 LANGUAGE sql
AS $function$
  delete from change;
  insert into feed (cluster) values (current_cluster()) on conflict (singleton)
    do update set epoch = excluded.epoch, cluster = excluded.cluster, first = excluded.first
$function$;

-- Begins another history: every position of before is refused.
CREATE OR REPLACE FUNCTION begin_history()
 RETURNS void
 LANGUAGE sql
AS $function$
  update history set epoch = left(md5(random()::text), 8), cluster = current_cluster();
  select begin_feed() where exists (select from feed)
$function$;

-- Refuses to change or remove records of changes.
CREATE OR REPLACE FUNCTION beheer_audit_stays()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'beheer_audit only grows' using errcode = 'restrict_violation';
end $function$;

-- The next generated identificatie, for a besluit of this day.
CREATE OR REPLACE FUNCTION besluit_identificatie(day date)
 RETURNS text
 LANGUAGE sql
AS $function$
  select 'BESLUIT-' || to_char(day, 'YYYY') || '-' || lpad(n::text, greatest(10, length(n::text)), '0')
  from nextval('besluit_nummer') n
$function$;

-- Claims deliveries that are due for a worker, and gives what is to be sent.
CREATE OR REPLACE FUNCTION claim_deliveries(p_worker integer, p_external integer, p_total integer, p_busy_messages bigint[], p_busy_receivers bigint[], p_open_receivers bigint[], p_sparing integer, p_age double precision, p_receivers bigint[], p_ages double precision[])
 RETURNS TABLE(notificatie_id bigint, abonnement_id bigint, hoofd_object_uuid uuid, due_age double precision, attempt integer, retries integer, replay boolean, message json, max_retries integer, backoff jsonb, backoff_max integer, base_factor integer, service json, abonnement json)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  settings record;
  ids bigint[] := '{}';
  receivers bigint[] := '{}';
  due timestamptz[] := '{}';
  -- Per delivery: an earlier one of the same main object that is not done, whether its last attempt was lost, whether its
  -- message was removed.
  earlier bigint[] := '{}';
  lost boolean[] := '{}';
  orphans boolean[] := '{}';
  of_subscribers record;
begin
  select i.*, i.paused_at is null and exists (select from abonnement a where a.status = 'actief') as has_subscribers,
      x.not_before, x.not_before is null as is_well, x.paused_at is not null as external_paused into settings
  from notificatie_settings i cross join external_receiver x where p_worker = 0 or exists (select from worker w where w.id = p_worker);
  if not found then return; end if;

  -- is_claimable cannot be inlined: the usual case is told before it.
  if settings.service_id is not null and not settings.external_paused and p_external > 0 and (settings.is_well or settings.not_before <= now()) then
    select coalesce(array_agg(c.notificatie_id), '{}'), coalesce(array_agg(0::bigint), '{}'), array_agg(e.notificatie_id),
        array_agg(c.next_attempt_at), array_agg(c.claimed_by is not null),
        array_agg(not exists (select from notificatie n where n.id = c.notificatie_id))
      into ids, receivers, earlier, due, lost, orphans
    from (
      select l.notificatie_id, l.hoofd_object_uuid, l.claimed_by, l.next_attempt_at, l.aside from delivery l
      where l.abonnement_id = 0 and l.status = 'gepland' and l.next_attempt_at <= now()
        and l.next_attempt_at >= looked_from(settings.is_well, settings.changed_at, p_age, 0, p_receivers, p_ages)
        and (l.claimed_by is null or is_claimable(l, p_worker, p_busy_messages, p_busy_receivers))
      order by l.next_attempt_at, l.notificatie_id limit p_external for update skip locked) c
    left join lateral (
      select e.notificatie_id from delivery e
      where settings.in_order and not c.aside and not e.aside and e.abonnement_id = 0 and e.hoofd_object_uuid = c.hoofd_object_uuid
        and e.status = 'gepland' and e.notificatie_id < c.notificatie_id
      order by e.notificatie_id limit 1) e on true;
  end if;
  if settings.has_subscribers then
    select array_agg(c.notificatie_id) as ids, array_agg(c.abonnement_id) as receivers, array_agg(e.notificatie_id) as earlier,
        array_agg(c.next_attempt_at) as due, array_agg(c.claimed_by is not null) as lost,
        array_agg(not exists (select from notificatie n where n.id = c.notificatie_id)) as orphans
      into of_subscribers
    from (
      select a.id as abonnement_id, a.in_order, l.notificatie_id, l.hoofd_object_uuid, l.claimed_by, l.next_attempt_at, l.aside
      from abonnement a,
        lateral (
          select l.notificatie_id, l.next_attempt_at, l.hoofd_object_uuid, l.claimed_by, l.aside from delivery l
          -- What is due; of one that is probed else what would be due first.
          where l.abonnement_id = a.id and l.status = 'gepland'
            and l.next_attempt_at <= case when a.failures >= p_sparing then 'infinity' else now() end
            and l.next_attempt_at >= looked_from(a.failures = 0 and a.not_before is null, a.status_since, p_age, a.id, p_receivers, p_ages)
            and (l.claimed_by is null or is_claimable(l, p_worker, p_busy_messages, p_busy_receivers))
          order by l.next_attempt_at, l.notificatie_id
          limit greatest(0, case when a.failures >= p_sparing then 1 else a.concurrency end
            - (select count(*) from unnest(p_open_receivers) b where b = a.id))
          for update skip locked) l
      where a.status = 'actief' and a.deleted_at is null and a.callback_url <> '' and (a.not_before is null or a.not_before <= now())
      order by row_number() over (partition by a.id order by l.next_attempt_at, l.notificatie_id), l.next_attempt_at
      limit p_total) c
    left join lateral (
      select e.notificatie_id from delivery e
      where c.in_order and not c.aside and not e.aside and e.abonnement_id = c.abonnement_id and e.hoofd_object_uuid = c.hoofd_object_uuid
        and e.status = 'gepland' and e.notificatie_id < c.notificatie_id
      order by e.notificatie_id limit 1) e on true;
    if of_subscribers.ids is not null then
      ids := ids || of_subscribers.ids;
      receivers := receivers || of_subscribers.receivers;
      earlier := earlier || of_subscribers.earlier;
      due := due || of_subscribers.due;
      lost := lost || of_subscribers.lost;
      orphans := orphans || of_subscribers.orphans;
    end if;
  end if;
  if cardinality(ids) = 0 then return; end if;

  if num_nonnulls(variadic earlier) > 0 then
    update delivery l set next_attempt_at = null
    from unnest(ids, receivers, earlier) as b(id, receiver, earlier),
      lateral (
        select e.notificatie_id from delivery e
        where e.notificatie_id = b.earlier and e.abonnement_id = b.receiver and e.status = 'gepland'
        for share skip locked) held
    where l.notificatie_id = b.id and l.abonnement_id = b.receiver;
  end if;
  if true = any (lost) then
    insert into delivery_attempt (notificatie_id, abonnement_id, number, begun_at, outcome)
      select l.notificatie_id, l.abonnement_id, l.attempt, coalesce(l.begun_at, now()), 'lost'
      from unnest(ids, receivers, earlier) as v(id, receiver, earlier)
      join delivery l on l.notificatie_id = v.id and l.abonnement_id = v.receiver
      where l.claimed_by is not null and v.earlier is null
      on conflict do nothing;
  end if;
  if true = any (orphans) then
    delete from delivery l using unnest(ids, receivers) as v(id, receiver)
      where l.notificatie_id = v.id and l.abonnement_id = v.receiver
        and not exists (select from notificatie n where n.id = v.id);
  end if;

  return query
  update delivery l set claimed_by = p_worker, attempt = l.attempt + 1, begun_at = clock_timestamp()
  from unnest(ids, receivers, earlier, due) as v(id, receiver, earlier, due)
  join notificatie n on n.id = v.id
  where v.earlier is null and l.notificatie_id = v.id and l.abonnement_id = v.receiver
  returning l.notificatie_id, l.abonnement_id, l.hoofd_object_uuid, extract(epoch from now() - v.due)::float8, l.attempt, l.retries, l.replay,
    message_of(n),
    settings.max_retries, settings.backoff, settings.backoff_max, settings.base_factor,
    case when l.abonnement_id = 0 then (
      select json_build_object('uuid', d.uuid, 'apiRoot', d.api_root,
        'authenticatie', d.authenticatie, 'clientId', d.client_id, 'header', d.header, 'sealedSecret', encode(d.sealed_secret, 'base64'),
        'gebruikersId', d.gebruikers_id, 'gebruikersWeergave', d.gebruikers_weergave, 'timeoutMs', d.timeout_ms,
        'tokenUrl', d.token_url, 'tokenScope', d.token_scope, 'certificaat', d.certificaat,
        'certificateKey', encode(d.certificate_key, 'base64'), 'ca', d.ca)
      from service d where d.id = settings.service_id) end,
    case when l.abonnement_id <> 0 then (
      select json_build_object('uuid', a.uuid, 'callbackUrl', a.callback_url,
        'authenticatie', a.authenticatie, 'auth', encode(a.auth, 'base64'), 'outgoingClientId', a.outgoing_client_id,
        'tokenUrl', a.token_url, 'tokenScope', a.token_scope, 'certificaat', a.certificaat,
        'certificateKey', encode(a.certificate_key, 'base64'),
        'ondertekening', array(select encode(s, 'base64') from unnest(a.ondertekening) s),
        'cloudevents', a.cloudevents, 'timeoutMs', a.timeout_ms, 'atOnce', a.concurrency)
      from abonnement a where a.id = l.abonnement_id) end;
  if num_nonnulls(variadic earlier) > 0 then
    return query select v.id, v.receiver, null::uuid, extract(epoch from now() - v.due)::float8, null::integer, null::integer,
      null::boolean, null::json, null::integer, null::jsonb, null::integer, null::integer, null::json, null::json
    from unnest(ids, receivers, earlier, due) as v(id, receiver, earlier, due) where v.earlier is not null;
  end if;
end $function$;

-- What a table of counts counts by; with row_of the values of that row (r., old., new.) for it.
CREATE OR REPLACE FUNCTION columns_of_counts(counts regclass, row_of text DEFAULT ''::text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select string_agg(case when row_of <> '' and atttypid = 'date'::regtype
    then format('case when %s%s is not null then ''infinity''::date end', row_of, attname) else row_of || attname end, ', ' order by attnum)
  from pg_attribute where attrelid = counts and attnum > 0 and not attisdropped and attname <> 'count'
$function$;

-- Filters, to compare with comparable_kenmerken; null where one name asks several values. The names in capitals are those of the message.
CREATE OR REPLACE FUNCTION comparable_filters(p_filters jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'zaakstroom', 'zaakstroom_queue'
AS $function$
  select coalesce(jsonb_object_agg(naam, waarde), '{}') || (
      select jsonb_strip_nulls(jsonb_build_object(
        'RESOURCE', case when p_filters ->> '#resource' <> '*' then
          to_jsonb(string_to_array(p_filters ->> '#resource', ',')) end,
        'ACTIE', case when p_filters ->> '#actie' <> '*' then
          to_jsonb(string_to_array(p_filters ->> '#actie', ',')) end)))
  from (
    select kenmerk_name(f.naam) as naam, case when min(short) = max(short) then to_jsonb(min(short)) else 'null' end as waarde
    from jsonb_each_text(p_filters) f(naam, waarde), lateral (select kenmerk_short(f.waarde) as short offset 0) v
    where f.waarde <> '*' and f.naam not in ('#resource', '#actie')
    group by 1) f
$function$;

-- Whether a message fits filters, both in the shape to compare (comparable_kenmerken, comparable_filters).
CREATE OR REPLACE FUNCTION comparable_fits(p_toets jsonb, p_kenmerken jsonb, p_resource text, p_actie text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select (p_toets -> 'RESOURCE' is null or p_toets -> 'RESOURCE' ? p_resource)
    and (p_toets -> 'ACTIE' is null or p_toets -> 'ACTIE' ? p_actie
      or p_actie = 'partial_update' and p_toets -> 'ACTIE' ? 'update')
    and (p_toets || p_kenmerken) @> p_toets
$function$;

-- The kenmerken of a message, to compare; false where one name has several values, which no filter lets through.
CREATE OR REPLACE FUNCTION comparable_kenmerken(p_kenmerken jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return (select coalesce(jsonb_object_agg(naam, waarde), '{}') from (
    select kenmerk_name(k.naam) as naam, case when min(short) = max(short) then to_jsonb(min(short)) else 'false' end as waarde
    from jsonb_each_text(p_kenmerken) k(naam, waarde), lateral (select kenmerk_short(coalesce(k.waarde, '')) as short offset 0) v
    group by 1) k);
end $function$;

-- The names of an organisation, a vestiging or a part of an organisation, as one text.
CREATE OR REPLACE FUNCTION concat_names(party jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (((((COALESCE((party ->> 'statutaireNaam'::text), ''::text) || ' '::text) || COALESCE((party ->> 'naam'::text), ''::text)) || ' '::text) || COALESCE((party ->> 'handelsnaam'::text), ''::text)) || ' '::text);

-- Counts all anew, while writing waits: for who wrote rows with the triggers switched off.
CREATE OR REPLACE FUNCTION count_anew()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  counted text;
begin
  lock table zaak, zaak_part, besluit, enkelvoudiginformatieobject, file in share row exclusive mode;
  foreach counted in array array['zaak', 'besluit', 'enkelvoudiginformatieobject', 'file'] loop
    execute format('delete from %I', counted || '_count');
    execute format('insert into %1$I (%2$s, count) select %3$s, sum(%6$s) from %4$I r group by %5$s', counted || '_count',
      columns_of_counts((counted || '_count')::regclass), columns_of_counts((counted || '_count')::regclass, 'r.'), counted,
      (select string_agg(n::text, ', ')
        from generate_series(1, cardinality(string_to_array(columns_of_counts((counted || '_count')::regclass), ', '))) n),
      case counted when 'file' then 'r.size' else '1' end);
  end loop;
  delete from zaak_part_count;
  insert into zaak_part_count (kind, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, count)
  select d.kind, d.groep, d.type_id, d.type_url, d.omschrijving, d.betrokkene_type, d.indicatie_machtiging,
    z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, count(*)
  from zaak_part d join zaak z on z.id = d.zaak_id
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;
end $function$;

CREATE OR REPLACE FUNCTION count_besluit()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into besluit_count (besluittype_id, besluittype_url, verantwoordelijke_organisatie, count)
      select r.besluittype_id, r.besluittype_url, r.verantwoordelijke_organisatie, sum(1) * case tg_op when 'INSERT' then 1 else -1 end from changed r group by 1, 2, 3;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION count_enkelvoudiginformatieobject()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into enkelvoudiginformatieobject_count (informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie, count)
      select r.informatieobjecttype_id, r.informatieobjecttype_url, r.vertrouwelijkheidaanduiding, r.bronorganisatie, r.is_gereed_voor_publicatie, sum(1) * case tg_op when 'INSERT' then 1 else -1 end from changed r group by 1, 2, 3, 4, 5;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION count_file()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into file_count (backend, count)
      select r.backend, sum(r.size) * case tg_op when 'INSERT' then 1 else -1 end from changed r group by 1;
      return null;
    end $function$;

-- Adds the failed rows of a batch to import_fault_kind.
CREATE OR REPLACE FUNCTION count_import_faults()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into import_fault_kind (import_id, hash, reason, count)
  select import_id, hashtextextended(reason, 0) as hash, min(reason), count(*)
  from (select import_id, import_reason(remark) as reason from added where not succeeded) f
  group by 1, 2 order by 1, 2
  on conflict (import_id, hash) do update set count = import_fault_kind.count + excluded.count;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION count_klantcontact()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count)
      select 'klantcontact', zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count(*) * case tg_op when 'INSERT' then 1 else -1 end
      from (
        select z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, '', null::bigint, null::text, '', '', ''
        from changed r join zaak z on z.id = r.zaak_id order by z.id for share of z
      ) part (zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging)
      group by 2, 3, 4, 5, 6, 7, 8, 9, 10;
      return null;
    end $function$;

-- Makes the triggers that keep how many rows of a table hang on cases, and their line in the view zaak_part. groep, type, also: what they are counted by besides; held: how strictly their case is held.
CREATE OR REPLACE FUNCTION count_parts_of(part text, groep text DEFAULT ''''''::text, type text DEFAULT NULL::text, also text[] DEFAULT '{}'::text[], held text DEFAULT 'share'::text)
 RETURNS void
 LANGUAGE plpgsql
AS $functionx$
declare
  columns text := 'groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging';
  counted text := concat_ws(', ', groep, case when type is null then 'null::bigint, null::text' else format('r.%1$s_id, r.%1$s_url', type) end,
    (select string_agg(case when name = any(also) then 'r.' || name else '''''' end, ', ' order by place)
      from unnest(array['omschrijving', 'betrokkene_type', 'indicatie_machtiging']) with ordinality as o(name, place)));
  parts text := format('select %L::text as kind, zaak_id, %s from %I r', part, counted, part);
begin
  execute format('create or replace view zaak_part (kind, zaak_id, %s) as %s %s', columns,
    rtrim(pg_get_viewdef(to_regclass('zaak_part')), ';') || ' union all', parts);
  execute format($function$
    create function count_%1$s() returns trigger language plpgsql as $body$
    begin
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, %2$s, count)
      select %1$L, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, %2$s, count(*) * case tg_op when 'INSERT' then 1 else -1 end
      from (
        select z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, %3$s
        from changed r join zaak z on z.id = r.zaak_id order by z.id for %6$s of z
      ) part (zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, %2$s)
      group by 2, 3, 4, 5, 6, 7, 8, 9, 10;
      return null;
    end $body$;
    create function recount_%1$s() returns trigger language plpgsql as $body$
    begin
      perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for %6$s;
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, %2$s, count)
      select %1$L, z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, %7$s, k.sign
      from (values (old.zaak_id, %4$s, -1), (new.zaak_id, %5$s, 1)) as k (zaak_id, %2$s, sign) join zaak z on z.id = k.zaak_id;
      return null;
    end $body$;
  $function$, part, columns, counted, replace(counted, 'r.', 'old.'), replace(counted, 'r.', 'new.'), held,
    'k.' || replace(columns, ', ', ', k.'));
  perform add_count_triggers(part, 'r.zaak_id, ' || counted, 'zaak_part');
end $functionx$;

CREATE OR REPLACE FUNCTION count_resultaat()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count)
      select 'resultaat', zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count(*) * case tg_op when 'INSERT' then 1 else -1 end
      from (
        select z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, '', r.resultaattype_id, r.resultaattype_url, '', '', ''
        from changed r join zaak z on z.id = r.zaak_id order by z.id for share of z
      ) part (zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging)
      group by 2, 3, 4, 5, 6, 7, 8, 9, 10;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION count_rol()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count)
      select 'rol', zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count(*) * case tg_op when 'INSERT' then 1 else -1 end
      from (
        select z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, r.omschrijving_generiek, r.roltype_id, r.roltype_url, r.omschrijving, r.betrokkene_type, r.indicatie_machtiging
        from changed r join zaak z on z.id = r.zaak_id order by z.id for no key update of z
      ) part (zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging)
      group by 2, 3, 4, 5, 6, 7, 8, 9, 10;
      return null;
    end $function$;

-- Makes the triggers that keep how many rows a table has, or the sum of amount of each, in the table …_count of its name, by the columns of that.
CREATE OR REPLACE FUNCTION count_rows_of(counted text, amount text DEFAULT '1'::text)
 RETURNS void
 LANGUAGE plpgsql
AS $functionx$
declare
  counts text := counted || '_count';
  columns text := columns_of_counts(counts::regclass);
begin
  execute format($function$
    create function count_%1$s() returns trigger language plpgsql as $body$
    begin
      insert into %2$I (%3$s, count)
      select %4$s, sum(%8$s) * case tg_op when 'INSERT' then 1 else -1 end from changed r group by %5$s;
      return null;
    end $body$;
    create function recount_%1$s() returns trigger language plpgsql as $body$
    begin
      insert into %2$I (%3$s, count) values (%6$s, -%9$s), (%7$s, %10$s);
      return null;
    end $body$;
  $function$, counted, counts, columns, columns_of_counts(counts::regclass, 'r.'),
    (select string_agg(n::text, ', ') from generate_series(1, cardinality(string_to_array(columns, ', '))) n),
    columns_of_counts(counts::regclass, 'old.'), columns_of_counts(counts::regclass, 'new.'),
    amount, replace(amount, 'r.', 'old.'), replace(amount, 'r.', 'new.'));
  perform add_count_triggers(counted, concat_ws(', ', columns_of_counts(counts::regclass, 'r.'), nullif(amount, '1')), '');
end $functionx$;

CREATE OR REPLACE FUNCTION count_status()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count)
      select 'status', zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count(*) * case tg_op when 'INSERT' then 1 else -1 end
      from (
        select z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, case when r.laatst then 'laatst' else 'eerder' end, r.statustype_id, r.statustype_url, '', '', ''
        from changed r join zaak z on z.id = r.zaak_id order by z.id for no key update of z
      ) part (zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging)
      group by 2, 3, 4, 5, 6, 7, 8, 9, 10;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION count_substatus()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count)
      select 'substatus', zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count(*) * case tg_op when 'INSERT' then 1 else -1 end
      from (
        select z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, '', null::bigint, null::text, '', '', ''
        from changed r join zaak z on z.id = r.zaak_id order by z.id for share of z
      ) part (zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging)
      group by 2, 3, 4, 5, 6, 7, 8, 9, 10;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION count_zaak()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into zaak_count (zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, bronorganisatie, archiefnominatie, archiefstatus, einddatum, archiefactiedatum, count)
      select r.zaaktype_id, r.zaaktype_url, r.vertrouwelijkheidaanduiding, r.bronorganisatie, r.archiefnominatie, r.archiefstatus, case when r.einddatum is not null then 'infinity'::date end, case when r.archiefactiedatum is not null then 'infinity'::date end, sum(1) * case tg_op when 'INSERT' then 1 else -1 end from changed r group by 1, 2, 3, 4, 5, 6, 7, 8;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION count_zaaknotitie()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count)
      select 'zaaknotitie', zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count(*) * case tg_op when 'INSERT' then 1 else -1 end
      from (
        select z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, '', null::bigint, null::text, '', '', ''
        from changed r join zaak z on z.id = r.zaak_id order by z.id for share of z
      ) part (zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging)
      group by 2, 3, 4, 5, 6, 7, 8, 9, 10;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION count_zaakobject()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count)
      select 'zaakobject', zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count(*) * case tg_op when 'INSERT' then 1 else -1 end
      from (
        select z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, r.object_type, null::bigint, null::text, '', '', ''
        from changed r join zaak z on z.id = r.zaak_id order by z.id for share of z
      ) part (zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging)
      group by 2, 3, 4, 5, 6, 7, 8, 9, 10;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION count_zaken_by_rol_delete()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        insert into zaak_part_count (kind, groep, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, count)
        select c.kind, c.value, z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, c.sign
        from (
          select r.zaak_id, v.kind, v.value, max(r.sign) as sign
          from (select -1 as sign, * from gone) r cross join lateral (values ('rol.omschrijving_generiek', r.omschrijving_generiek),
            ('rol.betrokkene_type', r.betrokkene_type), ('rol.indicatie_machtiging', r.indicatie_machtiging)) v (kind, value)
          group by 1, 2, 3 having max(r.sign) = min(r.sign)
        ) c join zaak z on z.id = c.zaak_id
        where (select true from rol o where o.zaak_id = z.id 
          and case c.kind when 'rol.omschrijving_generiek' then o.omschrijving_generiek
            when 'rol.betrokkene_type' then o.betrokkene_type else o.indicatie_machtiging end = c.value limit 1) is null;
        return null;
      end $function$;

CREATE OR REPLACE FUNCTION count_zaken_by_rol_insert()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        insert into zaak_part_count (kind, groep, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, count)
        select c.kind, c.value, z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, c.sign
        from (
          select r.zaak_id, v.kind, v.value, max(r.sign) as sign
          from (select 1 as sign, * from come) r cross join lateral (values ('rol.omschrijving_generiek', r.omschrijving_generiek),
            ('rol.betrokkene_type', r.betrokkene_type), ('rol.indicatie_machtiging', r.indicatie_machtiging)) v (kind, value)
          group by 1, 2, 3 having max(r.sign) = min(r.sign)
        ) c join zaak z on z.id = c.zaak_id
        where (select true from rol o where o.zaak_id = z.id and o.id not in (select id from come)
          and case c.kind when 'rol.omschrijving_generiek' then o.omschrijving_generiek
            when 'rol.betrokkene_type' then o.betrokkene_type else o.indicatie_machtiging end = c.value limit 1) is null;
        return null;
      end $function$;

CREATE OR REPLACE FUNCTION count_zaken_by_rol_update()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        insert into zaak_part_count (kind, groep, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, count)
        select c.kind, c.value, z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, c.sign
        from (
          select r.zaak_id, v.kind, v.value, max(r.sign) as sign
          from (select 1 as sign, * from come union all select -1, * from gone) r cross join lateral (values ('rol.omschrijving_generiek', r.omschrijving_generiek),
            ('rol.betrokkene_type', r.betrokkene_type), ('rol.indicatie_machtiging', r.indicatie_machtiging)) v (kind, value)
          group by 1, 2, 3 having max(r.sign) = min(r.sign)
        ) c join zaak z on z.id = c.zaak_id
        where (select true from rol o where o.zaak_id = z.id and o.id not in (select id from come)
          and case c.kind when 'rol.omschrijving_generiek' then o.omschrijving_generiek
            when 'rol.betrokkene_type' then o.betrokkene_type else o.indicatie_machtiging end = c.value limit 1) is null;
        return null;
      end $function$;

-- What hangs on one case, as zaak_part_count counts it.
CREATE OR REPLACE FUNCTION counts_of_parts(zaak bigint)
 RETURNS TABLE(kind text, groep text, type_id bigint, type_url text, omschrijving text, betrokkene_type text, indicatie_machtiging text, count bigint)
 LANGUAGE sql
 STABLE
AS $function$
  select kind, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count(*)
  from zaak_part where zaak_id = zaak group by 1, 2, 3, 4, 5, 6, 7
$function$;

-- Which numbers of transactions these are, of which table: restored, also within the same cluster, or after a failover, they are others.
CREATE OR REPLACE FUNCTION current_cluster()
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (select oid from pg_database where datname = current_database()) || '/' || 'feed'::regclass::oid
$function$;

-- What messages to one receiver are kept in order by.
CREATE OR REPLACE FUNCTION delivery_order(hoofd_object uuid, cloudevent text)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE
RETURN CASE WHEN (cloudevent IS NULL) THEN hoofd_object ELSE (OVERLAY((hoofd_object)::text PLACING 'ffffffff'::text FROM 1))::uuid END;

-- Comments a table or view, and columns of it.
CREATE OR REPLACE FUNCTION describe(place regclass, meaning text, VARIADIC columns text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  execute format('comment on %s %s is %L', (select case relkind when 'v' then 'view' else 'table' end from pg_class where oid = place), place, meaning);
  for n in 1 .. cardinality(columns) by 2 loop
    execute format('comment on column %s.%I is %L', place, columns[n], columns[n + 1]);
  end loop;
end $function$;

-- Comments the columns that have no comment yet and mean what their name means everywhere.
CREATE OR REPLACE FUNCTION describe_rest()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  bare record;
begin
  for bare in
    select c.oid::regclass as place, a.attname as name, coalesce(col_description(of_table.attrelid, of_table.attnum), word.meaning) as meaning
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join (values
      ('zaak_count', 'zaak'), ('besluit_count', 'besluit'), ('enkelvoudiginformatieobject_count', 'enkelvoudiginformatieobject'),
      ('import_overview', 'import'), ('applicatie_client_all', 'applicatie_client_more'), ('zaak_part', 'zaak_part_count'),
      ('notificatie_overview', 'notificatie')
    ) as copy(name, table_name) on copy.name = c.relname
    left join pg_attribute of_table on of_table.attrelid = to_regclass(copy.table_name) and of_table.attname = a.attname and a.attname <> 'id'
    left join (values
      ('aanleiding', 'Cause.'), ('actie', 'create, update, partial_update or destroy.'),
      ('afwijkende_naam_betrokkene', 'Name to use instead.'), ('ander_objecttype', 'True: not a type of the RSGB or RGBZ.'),
      ('applicatie_id', 'The application.'), ('archiefactiedatum', 'Day on which archiefnominatie is carried out.'),
      ('archiefnominatie', 'blijvend_bewaren, vernietigen or empty.'), ('auteur', 'Author.'),
      ('begin_geldigheid', 'First day of validity; empty: as the case type.'), ('begindatum_versie', 'First day of this version.'),
      ('beschrijving', 'Description.'), ('besluitcategorie', 'Category.'), ('besluittype_id', 'The decision type.'),
      ('betalingsindicatie', 'How far costs were paid.'), ('brondatum_einddatum_bekend', 'Whether the date is known when the case ends.'),
      ('bronorganisatie', 'RSIN.'), ('by_url', 'Whether the relation names one version, by its URL.'), ('catalogus_id', 'The catalogue.'),
      ('certificaat', 'Client certificate that we show (PEM); empty: none.'), ('changed_at', 'When it was last changed.'),
      ('client_id', 'The client id.'), ('concept', 'True until it is published; only published types are used.'),
      ('contact_persoon', 'URL of the contact person.'), ('contactpersoon_beheer_emailadres', 'E-mail address of the contact person.'),
      ('contactpersoon_beheer_naam', 'Contact person.'), ('contactpersoon_beheer_telefoonnummer', 'Phone number of the contact person.'),
      ('contactpersoonnaam', 'Name of the contact person.'), ('created_at', 'When it was made.'), ('definitie', 'Definition.'),
      ('doel', 'Purpose.'), ('doelgroep', 'For whom: betrokkenen, intern or empty.'), ('draft_id', 'The upload.'),
      ('einddatum_gepland', 'Planned end.'), ('einde_geldigheid', 'Last day of validity; empty: as the case type.'),
      ('emailadres', 'E-mail address.'), ('enkelvoudiginformatieobject_id', 'The document.'), ('faxnummer', 'Fax number.'),
      ('handeling_behandelaar', 'What the handler does.'), ('handeling_initiator', 'What the initiator does.'), ('id', 'Internal key.'),
      ('import_id', 'The import.'), ('indicatie_intern_of_extern', 'Whether cases come from inside or outside.'),
      ('indicatie_machtiging', 'gemachtigde, machtiginggever or empty.'),
      ('informatieobject_url', 'The document when it stands elsewhere.'), ('informatieobjectcategorie', 'Category.'),
      ('informatieobjecttype_id', 'The document type.'), ('informeren', 'Whether the initiator is told.'),
      ('inhoud_is_vervallen', 'Whether the content is no longer valid (1.5).'), ('issuer_id', 'The issuer.'),
      ('laatste_betaaldatum', 'Moment of the last payment.'), ('link', 'URL where the document can be read.'),
      ('max_vertrouwelijkheidaanduiding', 'Highest confidentiality that the right reaches (inclusive).'),
      ('notitie_type', 'intern or extern.'), ('omschrijving', 'Name.'), ('omschrijving_generiek', 'Generic name.'),
      ('omschrijving_voorwaarden', 'The conditions.'), ('ondertekening_datum', 'Day of signature.'),
      ('ondertekening_soort', 'Kind of signature.'), ('onderwerp', 'Subject.'), ('ontvangstdatum', 'Day of receipt.'),
      ('opschorting_en_aanhouding_mogelijk', 'Whether cases may be suspended.'), ('procesobjectaard', 'Nature of the process object.'),
      ('processobject_objecttype', 'Type of the process object.'), ('processobject_registratie', 'Register of the process object.'),
      ('processobjectaard', 'Kind of the process object.'), ('publicatiedatum', 'Day of publication.'),
      ('publicatietekst', 'Text of that publication.'), ('publicatietermijn', 'How long the publication stands (duration).'),
      ('reactietermijn', 'Term for objections (duration).'), ('referentieproces_link', 'URL of the reference process.'),
      ('referentieproces_naam', 'Name of the reference process.'), ('relatie_omschrijving', 'What the object is to the case.'),
      ('relatieomschrijving', 'What the object is to the case.'), ('resultaattype_id', 'The outcome.'),
      ('richting', 'inkomend, intern or uitgaand.'), ('roltoelichting', 'Explanation.'), ('rsin', 'RSIN of the owner.'),
      ('scopes', 'Scopes, such as documenten.lezen.'), ('specificatie_kardinaliteit', 'How many values: a number, or N.'),
      ('specificatie_waardenverzameling', 'Values to choose from; empty: free.'), ('statustekst', 'Text for the initiator.'),
      ('statustoelichting', 'Explanation.'), ('taal', 'Language, ISO 639-2/B.'), ('takeover_id', 'The takeover.'),
      ('telefoonnummer', 'Phone number.'), ('toelichting', 'Explanation.'), ('token_scope', 'Scope that is asked for (oauth2).'),
      ('token_url', 'Where a token is asked (oauth2).'), ('trefwoord', 'Key words.'), ('trefwoorden', 'Key words.'),
      ('uiterlijke_einddatum_afdoening', 'Legal deadline.'), ('uiterlijke_reactiedatum', 'Last day on which objections can be made.'),
      ('uuid', 'Last part of its URL.'), ('verantwoordelijke', 'Who answers for the type.'),
      ('verantwoordingsrelatie', 'Relations to accounting.'), ('verlenging_duur', 'By how much (ISO 8601); empty: not prolonged.'),
      ('verlenging_mogelijk', 'Whether the term of cases may be extended.'),
      ('vernietigingsdatum', 'When the document is to be destroyed.'), ('verschijningsvorm', 'Appearance.'),
      ('versiedatum', 'Date of this version.'), ('vertrouwelijkheidaanduiding', 'Confidentiality.'), ('verzenddatum', 'Day of sending.'),
      ('zaak_id', 'The case.'), ('zaaktype_id', 'The version of the case type.'), ('zaaktype_url', 'Zaaktype elsewhere.')
    ) as word(name, meaning) on word.name = a.attname
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'v') and col_description(c.oid, a.attnum) is null
      and coalesce(col_description(of_table.attrelid, of_table.attnum), word.meaning) is not null
  loop
    execute format('comment on column %s.%I is %L', bare.place, bare.name, bare.meaning);
  end loop;
end $function$;

-- The next generated identificatie, for a document of this creatiedatum.
CREATE OR REPLACE FUNCTION document_identificatie(creatiedatum date)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  number text;
begin
  loop
    select 'DOCUMENT-' || to_char(creatiedatum, 'YYYY') || '-' || lpad(n::text, greatest(10, length(n::text)), '0')
      into number from nextval('document_nummer') n;
    exit when not exists (select from enkelvoudiginformatieobject e where e.identificatie = number);
  end loop;
  return number;
end $function$;

-- Which of these types of documents a case has none of, in words.
CREATE OR REPLACE FUNCTION documents_lacking(p_zaak bigint, p_types bigint[])
 RETURNS SETOF text
 LANGUAGE sql
 STABLE
AS $function$
  select 'document ' || i.omschrijving from informatieobjecttype i
  where i.id = any(p_types) and not exists (
    select from zaakinformatieobject x
    join enkelvoudiginformatieobject d on d.id = x.enkelvoudiginformatieobject_id
    join informatieobjecttype y on y.id = d.informatieobjecttype_id
    where x.zaak_id = p_zaak and y.catalogus_id = i.catalogus_id and y.omschrijving = i.omschrijving)
$function$;

CREATE OR REPLACE FUNCTION feed_besluit()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'DELETE' then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('brc', tg_argv[0], old.uuid, old.id, old.id, 'delete', old.besluittype_id, old.besluittype_url, null, null);
      elsif tg_op = 'UPDATE' and current_setting('zaakstroom.reseal', true) = 'on' then
        null; -- Sealed with another key: its answer is the same.
      elsif tg_op = 'UPDATE' and (old.besluittype_id, old.besluittype_url) is distinct from (new.besluittype_id, new.besluittype_url) then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('brc', tg_argv[0], new.uuid, new.id, new.id, 'update', old.besluittype_id, old.besluittype_url, null, null);
      else
        insert into change (component, resource, uuid, row_id, main_id, operation)
        values ('brc', tg_argv[0], new.uuid, new.id, new.id, lower(tg_op));
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION feed_besluit_part()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'DELETE' then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('brc', tg_argv[0], old.uuid, old.id, old.besluit_id, 'delete', (select b.besluittype_id from besluit b where b.id = old.besluit_id),
    (select b.besluittype_url from besluit b where b.id = old.besluit_id), null, null);
      elsif tg_op = 'UPDATE' and current_setting('zaakstroom.reseal', true) = 'on' then
        null; -- Sealed with another key: its answer is the same.
      elsif tg_op = 'UPDATE' and (old.besluit_id) is distinct from (new.besluit_id) then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('brc', tg_argv[0], new.uuid, new.id, new.besluit_id, 'update', (select b.besluittype_id from besluit b where b.id = old.besluit_id),
    (select b.besluittype_url from besluit b where b.id = old.besluit_id), null, null);
      else
        insert into change (component, resource, uuid, row_id, main_id, operation)
        values ('brc', tg_argv[0], new.uuid, new.id, new.besluit_id, lower(tg_op));
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION feed_catalogus()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'DELETE' then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('ztc', tg_argv[0], old.uuid, old.id, old.id, 'delete', null, null, null, null);
      elsif tg_op = 'UPDATE' and current_setting('zaakstroom.reseal', true) = 'on' then
        null; -- Sealed with another key: its answer is the same.
      elsif tg_op = 'UPDATE' and (1) is distinct from (1) then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('ztc', tg_argv[0], new.uuid, new.id, new.id, 'update', null, null, null, null);
      else
        insert into change (component, resource, uuid, row_id, main_id, operation)
        values ('ztc', tg_argv[0], new.uuid, new.id, new.id, lower(tg_op));
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION feed_document()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'DELETE' then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('drc', tg_argv[0], old.uuid, old.id, old.id, 'delete', old.informatieobjecttype_id, old.informatieobjecttype_url, old.vertrouwelijkheidaanduiding, old.is_gereed_voor_publicatie);
      elsif tg_op = 'UPDATE' and current_setting('zaakstroom.reseal', true) = 'on' then
        null; -- Sealed with another key: its answer is the same.
      elsif tg_op = 'UPDATE' and (old.informatieobjecttype_id, old.informatieobjecttype_url, old.vertrouwelijkheidaanduiding, old.is_gereed_voor_publicatie) is distinct from (new.informatieobjecttype_id, new.informatieobjecttype_url, new.vertrouwelijkheidaanduiding, new.is_gereed_voor_publicatie) then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('drc', tg_argv[0], new.uuid, new.id, new.id, 'update', old.informatieobjecttype_id, old.informatieobjecttype_url, old.vertrouwelijkheidaanduiding, old.is_gereed_voor_publicatie);
      else
        insert into change (component, resource, uuid, row_id, main_id, operation)
        values ('drc', tg_argv[0], new.uuid, new.id, new.id, lower(tg_op));
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION feed_document_part()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'DELETE' then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('drc', tg_argv[0], old.uuid, old.id, old.enkelvoudiginformatieobject_id, 'delete', (select e.informatieobjecttype_id from enkelvoudiginformatieobject e where e.id = old.enkelvoudiginformatieobject_id),
    (select e.informatieobjecttype_url from enkelvoudiginformatieobject e where e.id = old.enkelvoudiginformatieobject_id),
    (select e.vertrouwelijkheidaanduiding from enkelvoudiginformatieobject e where e.id = old.enkelvoudiginformatieobject_id),
    (select e.is_gereed_voor_publicatie from enkelvoudiginformatieobject e where e.id = old.enkelvoudiginformatieobject_id));
      elsif tg_op = 'UPDATE' and current_setting('zaakstroom.reseal', true) = 'on' then
        null; -- Sealed with another key: its answer is the same.
      elsif tg_op = 'UPDATE' and (old.enkelvoudiginformatieobject_id) is distinct from (new.enkelvoudiginformatieobject_id) then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('drc', tg_argv[0], new.uuid, new.id, new.enkelvoudiginformatieobject_id, 'update', (select e.informatieobjecttype_id from enkelvoudiginformatieobject e where e.id = old.enkelvoudiginformatieobject_id),
    (select e.informatieobjecttype_url from enkelvoudiginformatieobject e where e.id = old.enkelvoudiginformatieobject_id),
    (select e.vertrouwelijkheidaanduiding from enkelvoudiginformatieobject e where e.id = old.enkelvoudiginformatieobject_id),
    (select e.is_gereed_voor_publicatie from enkelvoudiginformatieobject e where e.id = old.enkelvoudiginformatieobject_id));
      else
        insert into change (component, resource, uuid, row_id, main_id, operation)
        values ('drc', tg_argv[0], new.uuid, new.id, new.enkelvoudiginformatieobject_id, lower(tg_op));
      end if;
      return null;
    end $function$;

-- Makes the function that tells the feed of each row of a table.
CREATE OR REPLACE FUNCTION feed_of(shape text, component text, main text, subject text DEFAULT 'null, null, null, null'::text, looked text DEFAULT '1'::text)
 RETURNS void
 LANGUAGE plpgsql
AS $functionx$
begin
  execute format($function$
    create function feed_%1$s() returns trigger language plpgsql as $body$
    begin
      if tg_op = 'DELETE' then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values (%2$L, tg_argv[0], old.uuid, old.id, %3$s, 'delete', %4$s);
      elsif tg_op = 'UPDATE' and current_setting('zaakstroom.reseal', true) = 'on' then
        null; -- Sealed with another key: its answer is the same.
      elsif tg_op = 'UPDATE' and (%5$s) is distinct from (%6$s) then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values (%2$L, tg_argv[0], new.uuid, new.id, %7$s, 'update', %4$s);
      else
        insert into change (component, resource, uuid, row_id, main_id, operation)
        values (%2$L, tg_argv[0], new.uuid, new.id, %7$s, lower(tg_op));
      end if;
      return null;
    end $body$
  $function$, shape, component, replace(main, 'r.', 'old.'), replace(subject, 'r.', 'old.'), replace(looked, 'r.', 'old.'),
    replace(looked, 'r.', 'new.'), replace(main, 'r.', 'new.'));
end $functionx$;

-- Tells the feed of a resource whose answer changes by a row of another table.
CREATE OR REPLACE FUNCTION feed_touch()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  execute format('insert into change (component, resource, uuid, row_id, main_id, operation)
    select %L, %L, r.uuid, r.id, %s, ''update'' from %I r where r.id in (($1).%5$I, ($2).%5$I)',
    tg_argv[2], tg_argv[3], tg_argv[4], tg_argv[1], tg_argv[0]) using old, new;
  return null;
end $function$;

-- Makes the triggers for this.
CREATE OR REPLACE FUNCTION feed_touches(counted text, key text, target text, component text, main text DEFAULT 'r.id'::text, events text[] DEFAULT '{insert,update,delete}'::text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  event text;
begin
  foreach event in array events loop
    execute format('create trigger feed_%2$s_%3$s after %3$s on %1$I for each row when (%4$s) execute function feed_touch(%2$L, %5$L, %6$L, %5$L, %7$L)',
      counted, key, event, case event when 'insert' then format('new.%I is not null', key) when 'delete' then format('old.%I is not null', key)
        when 'update' then case when counted in ('zaak', 'status', 'zaakinformatieobject')
          then format('old.%1$I is distinct from new.%1$I', key) else 'true' end end, target, component, main);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION feed_type()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'DELETE' then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('ztc', tg_argv[0], old.uuid, old.id, old.catalogus_id, 'delete', null, null, null, null);
      elsif tg_op = 'UPDATE' and current_setting('zaakstroom.reseal', true) = 'on' then
        null; -- Sealed with another key: its answer is the same.
      elsif tg_op = 'UPDATE' and (1) is distinct from (1) then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('ztc', tg_argv[0], new.uuid, new.id, new.catalogus_id, 'update', null, null, null, null);
      else
        insert into change (component, resource, uuid, row_id, main_id, operation)
        values ('ztc', tg_argv[0], new.uuid, new.id, new.catalogus_id, lower(tg_op));
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION feed_type_part()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'DELETE' then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('ztc', tg_argv[0], old.uuid, old.id, (select t.catalogus_id from zaaktype t where t.id = old.zaaktype_id), 'delete', null, null, null, null);
      elsif tg_op = 'UPDATE' and current_setting('zaakstroom.reseal', true) = 'on' then
        null; -- Sealed with another key: its answer is the same.
      elsif tg_op = 'UPDATE' and (1) is distinct from (1) then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('ztc', tg_argv[0], new.uuid, new.id, (select t.catalogus_id from zaaktype t where t.id = new.zaaktype_id), 'update', null, null, null, null);
      else
        insert into change (component, resource, uuid, row_id, main_id, operation)
        values ('ztc', tg_argv[0], new.uuid, new.id, (select t.catalogus_id from zaaktype t where t.id = new.zaaktype_id), lower(tg_op));
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION feed_zaak()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'DELETE' then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('zrc', tg_argv[0], old.uuid, old.id, old.id, 'delete', old.zaaktype_id, old.zaaktype_url, old.vertrouwelijkheidaanduiding, null);
      elsif tg_op = 'UPDATE' and current_setting('zaakstroom.reseal', true) = 'on' then
        null; -- Sealed with another key: its answer is the same.
      elsif tg_op = 'UPDATE' and (old.zaaktype_id, old.zaaktype_url, old.vertrouwelijkheidaanduiding) is distinct from (new.zaaktype_id, new.zaaktype_url, new.vertrouwelijkheidaanduiding) then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('zrc', tg_argv[0], new.uuid, new.id, new.id, 'update', old.zaaktype_id, old.zaaktype_url, old.vertrouwelijkheidaanduiding, null);
      else
        insert into change (component, resource, uuid, row_id, main_id, operation)
        values ('zrc', tg_argv[0], new.uuid, new.id, new.id, lower(tg_op));
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION feed_zaak_part()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'DELETE' then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('zrc', tg_argv[0], old.uuid, old.id, old.zaak_id, 'delete', (select z.zaaktype_id from zaak z where z.id = old.zaak_id),
    (select z.zaaktype_url from zaak z where z.id = old.zaak_id), (select z.vertrouwelijkheidaanduiding from zaak z where z.id = old.zaak_id), null);
      elsif tg_op = 'UPDATE' and current_setting('zaakstroom.reseal', true) = 'on' then
        null; -- Sealed with another key: its answer is the same.
      elsif tg_op = 'UPDATE' and (old.zaak_id) is distinct from (new.zaak_id) then
        insert into change (component, resource, uuid, row_id, main_id, operation, type_id, type_url, level, ready)
        values ('zrc', tg_argv[0], new.uuid, new.id, new.zaak_id, 'update', (select z.zaaktype_id from zaak z where z.id = old.zaak_id),
    (select z.zaaktype_url from zaak z where z.id = old.zaak_id), (select z.vertrouwelijkheidaanduiding from zaak z where z.id = old.zaak_id), null);
      else
        insert into change (component, resource, uuid, row_id, main_id, operation)
        values ('zrc', tg_argv[0], new.uuid, new.id, new.zaak_id, lower(tg_op));
      end if;
      return null;
    end $function$;

-- Whether a message fits the filters of one row of abonnement_kanaal.
CREATE OR REPLACE FUNCTION filters_fit(p_filters jsonb, p_kenmerken jsonb, p_resource text, p_actie text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select comparable_fits(comparable_filters(p_filters), comparable_kenmerken(p_kenmerken), p_resource, p_actie)
$function$;

-- Leaves one row a combination of all counts, or of those of one table. What others add meanwhile stays; two at once do no harm. Rows that stand alone stay as they are: while an old snapshot is held, all that is replaced is passed by every count.
CREATE OR REPLACE FUNCTION fold_counts(of_table text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  counts text;
begin
  foreach counts in array array['zaak_count', 'zaak_part_count', 'besluit_count', 'enkelvoudiginformatieobject_count', 'file_count'] loop
    continue when of_table <> counts;
    execute format('with gone as (
        delete from %1$I where ctid = any(array(select unnest(array_agg(ctid)) from %1$I group by %2$s having count(*) > 1 or sum(count) = 0))
        returning *)
      insert into %1$I (%2$s, count) select %2$s, sum(count) from gone group by %2$s having sum(count) <> 0',
      counts, columns_of_counts(counts::regclass));
  end loop;
end $function$;

-- Keeps when an attempt last failed and what an abonnement misses; without its applicatie it is paused.
CREATE OR REPLACE FUNCTION follow_abonnement()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.failures > old.failures then new.last_fault_at := now(); end if;
  -- Whoever plans messages without seeing this status does it with a higher key: that is given out after this was committed.
  if old.status in ('actief', 'gepauzeerd') and new.status in ('geblokkeerd', 'opgezegd') then
    new.missed_after := coalesce(old.missed_after, pg_sequence_last_value(pg_get_serial_sequence('notificatie', 'id')::regclass), 0);
  end if;
  if old.applicatie_id is not null and new.applicatie_id is null and new.status = 'actief' then
    new.status := 'gepauzeerd';
    new.reason := '';
    new.status_since := now();
  end if;
  return new;
end $function$;

-- A table was emptied: so are its counts.
CREATE OR REPLACE FUNCTION forget_counts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_argv[0] = 'zaak_part' then
    delete from zaak_part_count where split_part(kind, '.', 1) = tg_table_name;
  else
    execute format('delete from %I', tg_table_name || '_count');
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION has_room()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  is_full boolean;
begin
  execute format('select exists (select from %I b where b.%I = ($1).%I offset %s)', tg_table_name, tg_argv[0], tg_argv[0],
    tg_argv[1]::integer - 1) into is_full using new;
  if is_full then
    raise exception '% has as many rows as there may be', tg_table_name using errcode = '23514', constraint = 'has_room';
  end if;
  return new;
end $function$;

-- The highest number that a zaak of this year has, or that was handed out for one.
CREATE OR REPLACE FUNCTION highest_zaaknummer(day date)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(max(substring(identificatie from '^ZAAK-\d{4}-(\d{10,18})$')::bigint), 0)
  from (select identificatie from zaak union all select identificatie from reserved_zaaknummer) n
  where identificatie like 'ZAAK-' || to_char(day, 'YYYY') || '-%'
$function$;

-- The number that a row of an uploaded file has in it.
CREATE OR REPLACE FUNCTION import_draft_line(draft bigint, row_number integer)
 RETURNS integer
 LANGUAGE sql
 STABLE
AS $function$
  select row_number + coalesce((
    select shift from import_draft_shift where draft_id = draft and number <= row_number order by number desc limit 1), 0)
$function$;

-- The rows of an uploaded file that was not imported yet.
CREATE OR REPLACE FUNCTION import_draft_rows(draft bigint)
 RETURNS TABLE(number integer, cells json, bytes integer)
 LANGUAGE sql
 STABLE
AS $function$
  select r.number, r.cells, r.bytes from import_row r where r.import_id = -draft
  union all select r.number, r.cells, octet_length(r.cells::text) from import_draft_row r where r.draft_id = draft
$function$;

-- The number that a row of an import has in its file.
CREATE OR REPLACE FUNCTION import_line(import bigint, row_number integer)
 RETURNS integer
 LANGUAGE sql
 STABLE
AS $function$
  select row_number + coalesce((
    select shift from import_shift where import_id = import and number <= row_number order by number desc limit 1), 0)
$function$;

-- Why a row failed, without what differs from row to row: a # stands for it. src/documenten/import/judge.ts has it in words.
CREATE OR REPLACE FUNCTION import_reason(remark text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select left(regexp_replace(regexp_replace(remark, '^\w+ \d+: ', ''), '\d+(?= bytes \w+\.)', '#', 'g'), 1000)
$function$;

-- Whether nobody makes an attempt to deliver it: nobody claimed it, or whoever did is gone or knows nothing of it.
CREATE OR REPLACE FUNCTION is_claimable(l delivery, p_worker integer, p_busy_messages bigint[], p_busy_receivers bigint[])
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select l.claimed_by is null
    or l.claimed_by = p_worker and not exists (
      select from unnest(p_busy_messages, p_busy_receivers) as b(message, receiver)
      where b.message = l.notificatie_id and b.receiver = l.abonnement_id)
    or l.claimed_by <> p_worker and not exists (select from worker w where w.id = l.claimed_by)
$function$;

-- Whether it is a normalised ISO 8601 duration of at most five hundred years; empty for no term at all, which a check lets pass. The same reading as src/http/duration.ts.
CREATE OR REPLACE FUNCTION is_term(term text)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
begin
  return case
    when term ~ '^P(?=.)(\d{1,3}Y)?(\d{1,4}M)?(\d{1,6}D)?(T(?=.)(\d{1,2}H)?(\d{1,2}M)?(\d{1,2}(\.\d{1,6})?S)?)?$'
    then timestamp '2000-01-01' + term::interval <= timestamp '2500-01-01'
    else false
  end;
end $function$;

-- The same of at most so many years. The bounds are those of MAX_YEARS in src/http/duration.ts.
CREATE OR REPLACE FUNCTION is_term(term text, years integer)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'zaakstroom', 'zaakstroom_queue'
AS $function$
begin
  return case
    when is_term(term) then timestamp '2000-01-01' + term::interval <= timestamp '2000-01-01' + make_interval(years => years)
    else false
  end;
end $function$;

-- The rows of the view job_overview, for who may read that.
CREATE OR REPLACE FUNCTION job_rows()
 RETURNS TABLE(id bigint, task text, state text, belongs_to text, attempts integer, max_attempts integer, last_fault text, created_at timestamp with time zone, run_at timestamp with time zone, busy_since timestamp with time zone, worker text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'zaakstroom', 'zaakstroom_queue', 'pg_temp'
AS $function$
begin
  -- Whoever may read the view needs no right of their own on the queue.
  if not has_table_privilege(coalesce(nullif(current_setting('role'), 'none'), session_user), 'job_overview', 'select') then
    raise insufficient_privilege using message = 'permission denied for view job_overview';
  end if;
  return query select * from job_rows(null);
end $function$;

-- These jobs, or all, as the view job_overview shows them.
CREATE OR REPLACE FUNCTION job_rows(p_ids bigint[])
 RETURNS TABLE(id bigint, task text, state text, belongs_to text, attempts integer, max_attempts integer, last_fault text, created_at timestamp with time zone, run_at timestamp with time zone, busy_since timestamp with time zone, worker text)
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return query
  select
    j.id::bigint,
    j.task_identifier::text,
    job_state(j.locked_at, j.attempts, j.max_attempts, j.run_at),
    case when j.key like 'import:%' then 'import ' || substr(j.key, 8) when j.key <> j.task_identifier then j.key end,
    j.attempts::integer,
    j.max_attempts::integer,
    j.last_error,
    j.created_at,
    j.run_at,
    j.locked_at,
    (select w.name || ' (' || w.host || ', pid ' || w.pid || ')' from worker w where w.pool_id = j.locked_by)
  from jobs j
  where p_ids is null or j.id = any(p_ids);
end $function$;

-- State of a job: gepland (later), wacht (for a worker), bezig (a worker has it) or mislukt (all attempts used).
CREATE OR REPLACE FUNCTION job_state(busy_since timestamp with time zone, attempts integer, max_attempts integer, run_at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select case
    when busy_since is not null then 'bezig'
    when attempts >= max_attempts then 'mislukt'
    when run_at > now() then 'gepland'
    else 'wacht'
  end
$function$;

-- Notes what of archiving is not as the outcome of its case says, of a takeover or of all cases.
CREATE OR REPLACE FUNCTION keep_decided_archiving(p_takeover bigint, p_set_by text)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into archive_by_hand (zaak_id, field, set_by)
  select z.id, f.field, p_set_by from zaak z left join resultaat_archiving r on r.zaak_id = z.id
  cross join lateral (values ('archiefnominatie', z.archiefnominatie), ('archiefactiedatum', z.archiefactiedatum::text),
    ('startdatum_bewaartermijn', z.startdatum_bewaartermijn::text)) f(field, value)
  where f.value is not null
    and (z.einddatum is null or f.field <> 'startdatum_bewaartermijn' and z.archiefnominatie <> r.archiefnominatie)
    and (p_takeover is null or exists (
      select from takeover_object o where o.takeover_id = p_takeover and o.kind = 'zaak' and o.uuid = z.uuid))
  on conflict do nothing
$function$;

-- A name of a kenmerk for comparing: camelCase and snake_case are one name.
CREATE OR REPLACE FUNCTION kenmerk_name(p_name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select lower(replace(p_name, '_', ''))
$function$;

-- A value of a kenmerk for comparing, of 64 characters at most.
CREATE OR REPLACE FUNCTION kenmerk_short(p_value text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when length(w) <= 60 then w else md5(w) || md5(w || '+') end from (select kenmerk_value(p_value) as w) v
$function$;

-- A value of a kenmerk for comparing: of the URL of a resource only its kind and uuid, since a service may have several names.
CREATE OR REPLACE FUNCTION kenmerk_value(p_value text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select coalesce(substring(p_value from '^https?://[^?#]*(/[^/?#]+/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$'), p_value)
$function$;

-- The same before a resultaat.
CREATE OR REPLACE FUNCTION lacking_for_resultaat(p_zaak bigint, p_resultaattype bigint)
 RETURNS text[]
 LANGUAGE sql
 STABLE
AS $function$
  select array(
    select documents_lacking(p_zaak, array(
      select informatieobjecttype_id from resultaattype_informatieobjecttype where resultaattype_id = p_resultaattype))
    order by 1)
$function$;

-- What a case lacks that its type asks before this status, in words; nothing without a type of ours.
CREATE OR REPLACE FUNCTION lacking_for_status(p_zaak bigint, p_statustype bigint)
 RETURNS text[]
 LANGUAGE sql
 STABLE
AS $function$
  select array(
    select 'eigenschap ' || e.naam from eigenschap e
    where e.statustype_id = p_statustype and not exists (
      select from zaakeigenschap x where x.zaak_id = p_zaak and x.eigenschap_id = e.id and x.waarde <> '')
    union select documents_lacking(p_zaak, array(
      select informatieobjecttype_id from zaaktype_informatieobjecttype where statustype_id = p_statustype))
    order by 1)
$function$;

CREATE OR REPLACE FUNCTION level_of_import_row(json, uuid, integer, integer)
 RETURNS vertrouwelijkheidaanduiding
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select coalesce(
    (select vertrouwelijkheidaanduiding from enkelvoudiginformatieobject where uuid = $2),
    (select l from unnest(enum_range(null::vertrouwelijkheidaanduiding)) l where $3 >= 0 and l::text = lower(btrim($1 ->> $3))),
    (select vertrouwelijkheidaanduiding from informatieobjecttype where $4 >= 0
      and uuid = substring(lower(btrim($1 ->> $4)) from '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$')::uuid),
    'zeer_geheim')
$function$;

CREATE OR REPLACE FUNCTION level_of_object(uuid)
 RETURNS vertrouwelijkheidaanduiding
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select coalesce(
    (select vertrouwelijkheidaanduiding from zaak where uuid = $1),
    (select vertrouwelijkheidaanduiding from enkelvoudiginformatieobject where uuid = $1),
    (select coalesce(z.vertrouwelijkheidaanduiding, 'openbaar') from besluit b left join zaak z on z.id = b.zaak_id where b.uuid = $1))
$function$;

-- From which moment on a sender looks for what is due to a receiver.
CREATE OR REPLACE FUNCTION looked_from(p_well boolean, p_changed timestamp with time zone, p_age double precision, p_receiver bigint, p_receivers bigint[], p_ages double precision[])
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select coalesce(nullif(greatest(now() - interval '1 second' * case when p_well then
    case when p_receiver = any (p_receivers) then p_ages[array_position(p_receivers, p_receiver)] else p_age end end, p_changed),
    p_changed), '-infinity')
$function$;

CREATE OR REPLACE FUNCTION mark_last_status()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    update status s set laatst = false
    where s.zaak_id in (select zaak_id from changed) and s.laatst
      and exists (select from status o where o.zaak_id = s.zaak_id and o.datum_status_gezet > s.datum_status_gezet);
  else
    update status s set laatst = true
    where s.zaak_id in (select zaak_id from changed) and not s.laatst
      and not exists (select from status o where o.zaak_id = s.zaak_id and o.datum_status_gezet > s.datum_status_gezet);
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION mark_last_status_anew()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for no key update;
  update status s set laatst = not s.laatst
  where s.zaak_id in (old.zaak_id, new.zaak_id) and s.laatst <> not exists (
    select from status o where o.zaak_id = s.zaak_id and o.datum_status_gezet > s.datum_status_gezet);
  return null;
end $function$;

-- A message as it goes to whoever delivers it. Its moment has six digits behind the seconds, or none where its sender gave none.
CREATE OR REPLACE FUNCTION message_of(n notificatie)
 RETURNS json
 LANGUAGE sql
 STABLE
AS $function$
  select json_build_object('uuid', n.uuid, 'kanaal', n.kanaal, 'hoofdObject', n.hoofd_object, 'resource', n.resource,
    'resourceUrl', n.resource_url, 'actie', n.actie, 'bron', n.bron, 'kenmerken', n.kenmerken,
    'cloudevent', n.cloudevent, 'requestId', n.request_id, 'traceparent', n.traceparent,
    'aanmaakdatum', coalesce(
      regexp_replace(regexp_replace(n.aanmaakdatum_text, '(\.\d+)', '\1000000'), '(\.\d{6})\d*', '\1'),
      to_char(n.aanmaakdatum at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))
$function$;

-- This very moment, and never before the one that stands there. To be asked when the row is held.
CREATE OR REPLACE FUNCTION moment_from(stands timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
AS $function$
  select greatest(stands, clock_timestamp())
$function$;

CREATE OR REPLACE FUNCTION move_counts_of_parts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into zaak_part_count (kind, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, count)
  select d.kind, d.groep, d.type_id, d.type_url, d.omschrijving, d.betrokkene_type, d.indicatie_machtiging,
    k.zaaktype_id, k.zaaktype_url, k.level, d.count * k.sign
  from counts_of_parts(new.id) d, (values
    (old.zaaktype_id, old.zaaktype_url, old.vertrouwelijkheidaanduiding, -1),
    (new.zaaktype_id, new.zaaktype_url, new.vertrouwelijkheidaanduiding, 1)
  ) as k (zaaktype_id, zaaktype_url, level, sign);
  return null;
end $function$;

-- The next mark to be kept beside the documents, where the newest one there is this; another history begins when that is newer than ours.
CREATE OR REPLACE FUNCTION next_mark(known bigint)
 RETURNS TABLE(mark bigint, is_other boolean)
 LANGUAGE plpgsql
AS $function$
declare
  before history%rowtype;
begin
  select * into strict before from history for update;
  if known > before.mark or before.cluster <> current_cluster() then
    perform begin_history();
    is_other := true;
  else
    is_other := false;
  end if;
  update history h set mark = greatest(known, before.mark) + 1, told = told_so_far() returning h.mark into mark;
  return next;
end $function$;

-- Who is involved in these cases, and who these rollen are, since when; `lookup` is empty for those that nobody is found by.
CREATE OR REPLACE FUNCTION persons_of(zaken uuid[], rollen uuid[])
 RETURNS TABLE(zaak uuid, rol uuid, since timestamp with time zone, lookup bytea, person jsonb)
 LANGUAGE sql
 STABLE
AS $function$
  with involved as (
    select z.uuid as zaak, r.uuid as rol, r.registratiedatum as since,
      coalesce(r.inp_bsn_lookup, r.anp_identificatie_lookup, r.inp_a_nummer_lookup) as lookup,
      r.betrokkene_identificatie as person, r.authenticatie_context -> 'representee' as representee
    from rol r join zaak z on z.id = r.zaak_id
    where r.id = any(array(select q.id from zaak y join rol q on q.zaak_id = y.id where y.uuid = any(zaken)
        union all select id from rol where uuid = any(rollen)))
      and (r.inp_bsn_lookup is not null or r.anp_identificatie_lookup is not null or r.inp_a_nummer_lookup is not null
        or r.authenticatie_context is not null)
  )
  select zaak, rol, since, lookup, jsonb_build_object('inpBsn', nullif(person -> 'inpBsn', '""'), 'anpIdentificatie', nullif(person -> 'anpIdentificatie', '""'),
      'inpA_nummer', nullif(person -> 'inpA_nummer', '""')) from involved where lookup is not null
  union all select zaak, rol, since, null, jsonb_build_object('identifier', representee -> 'identifier', 'identifierType', representee -> 'identifierType')
    from involved where representee ->> 'identifier' <> ''
  union all select z.uuid, null, null, null, jsonb_strip_nulls(jsonb_build_object(
      'inpBsn', nullif(o.person -> 'inpBsn', '""'), 'anpIdentificatie', nullif(o.person -> 'anpIdentificatie', '""'),
      'inpA_nummer', nullif(o.person -> 'inpA_nummer', '""')))
    from zaak z join zaakobject q on q.zaak_id = z.id
      cross join lateral (select q.object_identificatie as person
        union all select q.object_identificatie -> 'heeftAlsGerechtigde' -> 'natuurlijkPersoon') o
    where z.uuid = any(zaken) and (o.person ->> 'inpBsn' <> '' or o.person ->> 'anpIdentificatie' <> '' or o.person ->> 'inpA_nummer' <> '')
$function$;

-- The order of the names of confidentiality, which existing clients know.
CREATE OR REPLACE FUNCTION place_in_alphabet(vertrouwelijkheidaanduiding)
 RETURNS smallint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case $1
    when 'beperkt_openbaar' then 1 when 'confidentieel' then 2 when 'geheim' then 3 when 'intern' then 4
    when 'openbaar' then 5 when 'vertrouwelijk' then 6 when 'zaakvertrouwelijk' then 7 else 8 end::smallint
$function$;

-- A receiver accepts messages: its rest ends, and from so many failures on what waits goes at once (empty: never). Gives whether it does.
CREATE OR REPLACE FUNCTION receiver_answers(p_receiver bigint, p_failures integer)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  failures integer;
  since timestamptz;
begin
  if p_receiver = 0 then
    select x.failures, x.failing_since into failures, since from external_receiver x for update;
    update external_receiver set failures = 0, failing_since = null, not_before = null, last_outcome = null, last_http_status = null;
  else
    select a.failures, a.failing_since into failures, since from abonnement a where a.id = p_receiver for update;
    update abonnement a set failures = 0, failing_since = null, not_before = null, last_outcome = null, last_http_status = null
      where a.id = p_receiver;
    if (select a.callback_url = '' from abonnement a where a.id = p_receiver) then return false; end if;
  end if;
  if coalesce(failures < p_failures, true) then return false; end if;
  update delivery l set next_attempt_at = n.aanmaakdatum, retries = l.refusals, aside = false
    from notificatie n
    where l.abonnement_id = p_receiver and l.status = 'gepland' and l.claimed_by is null and (l.next_attempt_at > now() or l.aside)
      and n.id = l.notificatie_id;
  update delivery l set status = 'gepland', next_attempt_at = n.aanmaakdatum, retries = l.refusals, aside = false, cause = null
    from notificatie n
    where l.abonnement_id = p_receiver and l.status = 'mislukt' and l.ended_at >= since and l.place is null
      and (l.refusals = 0 or l.refusals < (select max_retries from notificatie_settings)) and n.id = l.notificatie_id;
  return true;
end $function$;

-- Records attempts to deliver: the delivery goes, is planned again or has failed, its receiver is well or not, and what waited for it may go.
CREATE OR REPLACE FUNCTION record_attempts(p_messages bigint[], p_receivers bigint[], p_numbers integer[], p_outcomes text[], p_statuses integer[], p_answers text[], p_ms integer[], p_waits double precision[], p_rests double precision[], p_sparing integer, p_probes double precision[], p_unsubscribed text, OUT places integer[], OUT released boolean, OUT recovered boolean, OUT failed integer[])
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  settings record;
  objects uuid[];
  well bigint[];
  well_at timestamptz[];
  more integer[];
  more_objects uuid[];
  more_ended timestamptz[];
  next_ids bigint[];
  next_receivers bigint[];
  receiver bigint;
begin
  recovered := false;
  select i.max_retries, i.backoff_max, i.outage_counts into settings from notificatie_settings i;
  with gone as (
    delete from delivery l
    using unnest(p_messages, p_receivers, p_numbers, p_outcomes) with ordinality as u(message, receiver, number, outcome, place)
    where u.outcome = 'delivered' and l.notificatie_id = u.message and l.abonnement_id = u.receiver
      and l.attempt = u.number and l.claimed_by is not null
    returning u.place::integer as place, l.abonnement_id, l.begun_at, l.hoofd_object_uuid
  ), logged as (
    insert into delivery_attempt (notificatie_id, abonnement_id, number, begun_at, duration_ms, outcome, http_status, answer)
    select p_messages[place], p_receivers[place], p_numbers[place], coalesce(begun_at, now()), p_ms[place], p_outcomes[place],
      p_statuses[place], p_answers[place]
    from gone on conflict do nothing
  )
  select coalesce(array_agg(place), '{}'), coalesce(array_agg(hoofd_object_uuid), '{}'), array_agg(abonnement_id),
      array_agg(begun_at + p_ms[place] * interval '1 ms')
    into places, objects, well, well_at from gone;
  if 'delivered' <> any (p_outcomes) then
    with judged as (
      select u.*, o.retries, o.refusals + case when is_refused then 1 else 0 end as refusals, is_refused, is_well_else,
        always_counts and is_early as keeps, always_counts and not is_early and o.retries >= settings.max_retries
          or not always_counts and is_well_else and o.refusals + case when is_refused then 1 else 0 end >= settings.max_retries as is_last,
        coalesce(o.begun_at, now()) + coalesce(u.ms, 0) * interval '1 ms' as ended,
        -- The next moment is counted from when this attempt was planned: a sender that is late does not shift the schedule.
        case when o.retries > 0 and o.begun_at - o.next_attempt_at between interval '0' and interval '1 hour'
          then least(o.begun_at - o.next_attempt_at, interval '5 seconds',
          u.wait * interval '0.5 second') else interval '0' end as late
      from unnest(p_messages, p_receivers, p_numbers, p_outcomes, p_statuses, p_ms, p_waits, p_rests)
        with ordinality as u(message, receiver, number, outcome, status, ms, wait, rest, place)
      join delivery o on o.notificatie_id = u.message and o.abonnement_id = u.receiver
      left join lateral (
        select a.failing_since from abonnement a where a.id = u.receiver
        union all select x.failing_since from external_receiver x where u.receiver = 0) r on true
      -- Whether the receiver accepted something since the last attempt of this one.
      cross join lateral (select r.failing_since is null or coalesce(r.failing_since > o.ended_at, false) as is_well_else,
        o.next_attempt_at > o.begun_at as is_early,
        settings.outage_counts = 'alle' or settings.outage_counts = 'extern' and u.receiver = 0 as always_counts) w
      cross join lateral (select o.ended_at is not null and is_well_else as is_refused) x
      where u.outcome <> 'delivered'
    ), kept as (
      update delivery l set
        status = case when is_last then 'mislukt' else 'gepland' end,
        next_attempt_at = case when is_last then null when keeps then l.next_attempt_at
          else greatest(ended + coalesce(wait, settings.backoff_max) * interval '1 second' - late, ended + rest * interval '1 second') end,
        ended_at = ended,
        cause = case when is_last then case u.outcome when 'http' then 'http-' || u.status else u.outcome end end,
        retries = l.retries + case when is_last or keeps then 0 else 1 end,
        refusals = u.refusals,
        -- Of these statuses the message is the cause, where the receiver accepts others.
        aside = is_refused and coalesce(u.status in (400, 413, 415, 422), false),
        claimed_by = null
      from judged u
      where l.notificatie_id = u.message and l.abonnement_id = u.receiver
        and l.attempt = u.number and l.claimed_by is not null
      returning u.place::integer as place, l.begun_at, l.hoofd_object_uuid, l.ended_at, l.status = 'mislukt' as is_last
    ), logged as (
      insert into delivery_attempt (notificatie_id, abonnement_id, number, begun_at, duration_ms, outcome, http_status, answer, is_last)
      select p_messages[place], p_receivers[place], p_numbers[place], coalesce(begun_at, now()), p_ms[place],
        p_outcomes[place], p_statuses[place], p_answers[place], is_last
      from kept on conflict do nothing
    )
    select array_agg(place), array_agg(hoofd_object_uuid), array_agg(ended_at), array_agg(place) filter (where is_last)
      into more, more_objects, more_ended, failed from kept;
    places := places || coalesce(more, '{}');
    objects := objects || coalesce(more_objects, '{}');
  end if;

  -- Whoever parks a message holds the earlier one under a share lock until that commits. So what was parked behind the messages
  -- of above was committed before they could be taken away, and this statement, which begins later, sees it.
  select array_agg(f.notificatie_id), array_agg(f.abonnement_id) into next_ids, next_receivers
  from unnest(places, objects) as o(place, object),
    lateral (
      select e.notificatie_id, e.abonnement_id, e.next_attempt_at from delivery e
      where e.abonnement_id = p_receivers[o.place] and e.hoofd_object_uuid = o.object and e.status = 'gepland' and not e.aside
      order by e.notificatie_id limit 1) f
  where f.next_attempt_at is null;
  released := next_ids is not null;
  if released then
    update delivery l set next_attempt_at = now()
    from (
      -- In one order, so that two who record at once never wait for each other.
      select n.notificatie_id, n.abonnement_id from delivery n
      join unnest(next_ids, next_receivers) as v(id, receiver) on n.notificatie_id = v.id and n.abonnement_id = v.receiver
      where n.status = 'gepland' and n.next_attempt_at is null
      order by n.notificatie_id, n.abonnement_id for update of n) first
    where l.notificatie_id = first.notificatie_id and l.abonnement_id = first.abonnement_id;
  end if;

  -- What a receiver accepted before it began to fail says nothing of how it is now.
  for receiver in
    select w.id from (select v.id, max(v.at) as at from unnest(well, well_at) as v(id, at) group by 1) w
    cross join lateral (
      select a.failures, a.failing_since, a.not_before from abonnement a where a.id = w.id
      union all select x.failures, x.failing_since, x.not_before from external_receiver x where w.id = 0) r
    where (r.failures > 0 or r.not_before is not null) and w.at >= coalesce(r.failing_since, '-infinity')
    order by 1
  loop
    recovered := receiver_answers(receiver, case when receiver <> 0 or settings.outage_counts = 'geen' then p_sparing end) or recovered;
  end loop;
  released := released or recovered;
  if more is null then return; end if;
  with f as (
    select p_receivers[o.place] as receiver, count(*)::integer as count, max(p_rests[o.place]) as rest, min(o.ended) as since,
      coalesce(bool_or(p_statuses[o.place] = 410), false) as unsubscribed,
      (array_agg(p_outcomes[o.place] order by o.place desc))[1] as outcome,
      (array_agg(p_statuses[o.place] order by o.place desc))[1] as http_status
    from unnest(more, more_ended) as o(place, ended)
    where o.ended > coalesce((select max(v.at) from unnest(well, well_at) as v(id, at) where v.id = p_receivers[o.place]), '-infinity')
    group by 1
  ), of_external as (
    update external_receiver x set failures = x.failures + f.count, failing_since = coalesce(x.failing_since, f.since),
      last_outcome = f.outcome, last_http_status = f.http_status,
      not_before = greatest(x.not_before, now() + f.rest * interval '1 second')
    from f where f.receiver = 0
  )
  update abonnement a set failures = a.failures + f.count, failing_since = coalesce(a.failing_since, f.since),
      last_outcome = f.outcome, last_http_status = f.http_status,
      -- Before the first probe there is no such place, and greatest looks at nothing that is empty.
      not_before = greatest(a.not_before, now() + f.rest * interval '1 second', now() + interval '1 second'
        * p_probes[least(a.failures + f.count - p_sparing + 1, cardinality(p_probes))]),
      status = case when f.unsubscribed and a.status = 'actief' then 'opgezegd' else a.status end,
      reason = case when f.unsubscribed and a.status = 'actief' then p_unsubscribed else a.reason end,
      status_since = case when f.unsubscribed and a.status = 'actief' then now() else a.status_since end
    from f where a.id = f.receiver;
end $function$;

CREATE OR REPLACE FUNCTION recount_besluit()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into besluit_count (besluittype_id, besluittype_url, verantwoordelijke_organisatie, count) values (old.besluittype_id, old.besluittype_url, old.verantwoordelijke_organisatie, -1), (new.besluittype_id, new.besluittype_url, new.verantwoordelijke_organisatie, 1);
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION recount_enkelvoudiginformatieobject()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into enkelvoudiginformatieobject_count (informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding, bronorganisatie, is_gereed_voor_publicatie, count) values (old.informatieobjecttype_id, old.informatieobjecttype_url, old.vertrouwelijkheidaanduiding, old.bronorganisatie, old.is_gereed_voor_publicatie, -1), (new.informatieobjecttype_id, new.informatieobjecttype_url, new.vertrouwelijkheidaanduiding, new.bronorganisatie, new.is_gereed_voor_publicatie, 1);
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION recount_file()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into file_count (backend, count) values (old.backend, -old.size), (new.backend, new.size);
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION recount_klantcontact()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for share;
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count)
      select 'klantcontact', z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, k.groep, k.type_id, k.type_url, k.omschrijving, k.betrokkene_type, k.indicatie_machtiging, k.sign
      from (values (old.zaak_id, '', null::bigint, null::text, '', '', '', -1), (new.zaak_id, '', null::bigint, null::text, '', '', '', 1)) as k (zaak_id, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, sign) join zaak z on z.id = k.zaak_id;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION recount_resultaat()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for share;
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count)
      select 'resultaat', z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, k.groep, k.type_id, k.type_url, k.omschrijving, k.betrokkene_type, k.indicatie_machtiging, k.sign
      from (values (old.zaak_id, '', old.resultaattype_id, old.resultaattype_url, '', '', '', -1), (new.zaak_id, '', new.resultaattype_id, new.resultaattype_url, '', '', '', 1)) as k (zaak_id, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, sign) join zaak z on z.id = k.zaak_id;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION recount_rol()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for no key update;
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count)
      select 'rol', z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, k.groep, k.type_id, k.type_url, k.omschrijving, k.betrokkene_type, k.indicatie_machtiging, k.sign
      from (values (old.zaak_id, old.omschrijving_generiek, old.roltype_id, old.roltype_url, old.omschrijving, old.betrokkene_type, old.indicatie_machtiging, -1), (new.zaak_id, new.omschrijving_generiek, new.roltype_id, new.roltype_url, new.omschrijving, new.betrokkene_type, new.indicatie_machtiging, 1)) as k (zaak_id, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, sign) join zaak z on z.id = k.zaak_id;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION recount_status()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for no key update;
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count)
      select 'status', z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, k.groep, k.type_id, k.type_url, k.omschrijving, k.betrokkene_type, k.indicatie_machtiging, k.sign
      from (values (old.zaak_id, case when old.laatst then 'laatst' else 'eerder' end, old.statustype_id, old.statustype_url, '', '', '', -1), (new.zaak_id, case when new.laatst then 'laatst' else 'eerder' end, new.statustype_id, new.statustype_url, '', '', '', 1)) as k (zaak_id, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, sign) join zaak z on z.id = k.zaak_id;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION recount_substatus()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for share;
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count)
      select 'substatus', z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, k.groep, k.type_id, k.type_url, k.omschrijving, k.betrokkene_type, k.indicatie_machtiging, k.sign
      from (values (old.zaak_id, '', null::bigint, null::text, '', '', '', -1), (new.zaak_id, '', null::bigint, null::text, '', '', '', 1)) as k (zaak_id, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, sign) join zaak z on z.id = k.zaak_id;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION recount_zaak()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into zaak_count (zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, bronorganisatie, archiefnominatie, archiefstatus, einddatum, archiefactiedatum, count) values (old.zaaktype_id, old.zaaktype_url, old.vertrouwelijkheidaanduiding, old.bronorganisatie, old.archiefnominatie, old.archiefstatus, case when old.einddatum is not null then 'infinity'::date end, case when old.archiefactiedatum is not null then 'infinity'::date end, -1), (new.zaaktype_id, new.zaaktype_url, new.vertrouwelijkheidaanduiding, new.bronorganisatie, new.archiefnominatie, new.archiefstatus, case when new.einddatum is not null then 'infinity'::date end, case when new.archiefactiedatum is not null then 'infinity'::date end, 1);
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION recount_zaaknotitie()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for share;
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count)
      select 'zaaknotitie', z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, k.groep, k.type_id, k.type_url, k.omschrijving, k.betrokkene_type, k.indicatie_machtiging, k.sign
      from (values (old.zaak_id, '', null::bigint, null::text, '', '', '', -1), (new.zaak_id, '', null::bigint, null::text, '', '', '', 1)) as k (zaak_id, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, sign) join zaak z on z.id = k.zaak_id;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION recount_zaakobject()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform from zaak where id in (old.zaak_id, new.zaak_id) order by id for share;
      insert into zaak_part_count (kind, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, count)
      select 'zaakobject', z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, k.groep, k.type_id, k.type_url, k.omschrijving, k.betrokkene_type, k.indicatie_machtiging, k.sign
      from (values (old.zaak_id, old.object_type, null::bigint, null::text, '', '', '', -1), (new.zaak_id, new.object_type, null::bigint, null::text, '', '', '', 1)) as k (zaak_id, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging, sign) join zaak z on z.id = k.zaak_id;
      return null;
    end $function$;

-- Removes a portion of the changes whose term is over, and refuses the positions of before them. Returns how many.
CREATE OR REPLACE FUNCTION remove_changes(term interval, portion integer)
 RETURNS integer
 LANGUAGE sql
AS $function$
  with old as materialized (
    -- The oldest of each feed, by its key: they became visible in about the order in which they were made.
    select head.* from (values ('zrc'), ('drc'), ('brc'), ('ztc')) f (component) cross join lateral (
      select component, xact, id, made_at from change c where c.component = f.component order by xact, id limit portion
    ) head where made_at < now() - term
  ), removed as (
    delete from change c using old o where c.component = o.component and c.xact = o.xact and c.id = o.id returning c.xact
  ), moved as (
    update feed set first = greatest(first, (select max(xact) from removed)) where exists (select from removed)
  ) select count(*)::integer from removed
$function$;

CREATE OR REPLACE FUNCTION remove_counts_of_parts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into zaak_part_count (kind, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, count)
  select kind, groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
    old.zaaktype_id, old.zaaktype_url, old.vertrouwelijkheidaanduiding, -count
  from counts_of_parts(old.id);
  return old;
end $function$;

-- Removes a portion of the keys whose term is over, and of those beyond what one application may have, the oldest first. Returns how many.
CREATE OR REPLACE FUNCTION remove_keys(term interval, most_of_one bigint, portion integer)
 RETURNS integer
 LANGUAGE sql
AS $function$
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
$function$;

-- Refuses while a takeover is under way that lets nothing be changed. A merge closes only what it brought.
CREATE OR REPLACE FUNCTION require_switch()
 RETURNS void
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if exists (select from takeover where read_only and status <> 'omgeschakeld' and not trial
      and settings ->> 'samenvoegen' is distinct from 'true') then
    raise exception 'taken over, and read-only until the switch'
      using errcode = 'integrity_constraint_violation', constraint = 'takeover_read_only';
  end if;
end $function$;

-- Sends the lines that were set aside once more. Returns how many.
CREATE OR REPLACE FUNCTION send_lines_again()
 RETURNS bigint
 LANGUAGE sql
AS $function$
  with again as (delete from verwerking_aside returning id),
  spooled as (insert into verwerking_spool select id, id from again on conflict do nothing)
  select count(*) from again
$function$;

-- Moves the sequence of generated numbers past the numbers that besluiten of this year have.
CREATE OR REPLACE FUNCTION skip_besluitnummers(day date)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  highest bigint;
begin
  select max(substring(identificatie from '^BESLUIT-\d{4}-(\d{10,18})$')::bigint) into highest
  from besluit where identificatie like 'BESLUIT-' || to_char(day, 'YYYY') || '-%';
  perform skip_numbers('besluit_nummer', coalesce(highest, 0));
end $function$;

-- Moves the sequence of generated numbers past the numbers that documents of this year have.
CREATE OR REPLACE FUNCTION skip_documentnummers(creatiedatum date)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  highest bigint;
begin
  select max(substring(identificatie from '^DOCUMENT-\d{4}-(\d{10,18})$')::bigint) into highest
  from enkelvoudiginformatieobject
  where identificatie like 'DOCUMENT-' || to_char(creatiedatum, 'YYYY') || '-%';
  perform skip_numbers('document_nummer', coalesce(highest, 0));
end $function$;

-- Moves a sequence on to a number, by ten million at most, and never back.
CREATE OR REPLACE FUNCTION skip_numbers(p_sequence regclass, p_highest bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  reached bigint;
  steps bigint;
begin
  -- One at a time: whoever comes second finds the sequence moved.
  perform pg_advisory_xact_lock(hashtext(current_schema() || ' numbers'), (p_sequence::oid::bigint % 2147483648)::int);
  execute format('select last_value from %s', p_sequence) into reached;
  steps := least(p_highest - reached, 10000000);
  -- Who takes a number meanwhile does not wait. A few steps are taken one by one; many are more than are taken in between.
  if steps > 10000 then
    perform setval(p_sequence, reached + steps);
  else
    perform nextval(p_sequence) from generate_series(1, steps);
  end if;
end $function$;

-- Moves the sequence of generated numbers past the numbers that zaken of this year have.
CREATE OR REPLACE FUNCTION skip_zaaknummers(day date)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform skip_numbers('zaak_nummer', highest_zaaknummer(day));
end $function$;

-- Moves the sequence of this way past the numbers that zaken have already.
CREATE OR REPLACE FUNCTION skip_zaaknummers(day date, way text, current_day date)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  last_place bigint;
  letters text;
  highest bigint;
begin
  if way = 'use-creation-year' then perform skip_zaaknummers(current_day); return; end if;
  if way = 'use-number-per-year' then
    update zaak_number_year
    set starts_after = least(starts_after, (select last_value from zaak_nummer) - highest_zaaknummer(day))
    where year = extract(year from day);
    return;
  end if;
  if way <> 'use-uwv-identification' then perform skip_zaaknummers(day); return; end if;
  select last_value into last_place from zaak_nummer_uwv;
  letters := zaaknummer_uwv_letters(last_place);
  select max(substring(identificatie from '^[A-Z]{1,2}(\d{7})\d$')::bigint) into highest
  from zaak where identificatie like letters || '________' and identificatie ~ ('^' || letters || '\d{8}$');
  perform skip_numbers('zaak_nummer_uwv', last_place - last_place % 10000000 + coalesce(highest, 0));
end $function$;

-- The abonnementen that a message goes to, each with the moment at which it is sent; empty: it fetches them.
CREATE OR REPLACE FUNCTION subscribers_of(p_kanaal text, p_kenmerken jsonb, p_resource text, p_actie text, p_cloudevent text)
 RETURNS TABLE(abonnement_id bigint, next_attempt_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  comparable jsonb;
begin
  if not exists (select from kanaal k join abonnement_kanaal ak on ak.kanaal_id = k.id where k.naam = p_kanaal) then return; end if;
  comparable := comparable_kenmerken(p_kenmerken);
  return query select distinct s.id, case when s.callback_url <> '' then now() end from (
    select a.id, a.callback_url, ak.comparable as filters
    from kanaal k join abonnement_kanaal ak on ak.kanaal_id = k.id
    join abonnement a on a.id = ak.abonnement_id and a.status in ('actief', 'gepauzeerd') and a.deleted_at is null
    where k.naam = p_kanaal and (p_cloudevent is null or a.cloudevents)
    offset 0 -- only those of this kanaal, and never before that is known
  ) s where comparable_fits(s.filters, comparable, p_resource, p_actie);
end $function$;

-- Switches the triggers of the feed, for the owner of the tables: while they are off a change costs nothing. Returns whether they were otherwise.
CREATE OR REPLACE FUNCTION switch_feed(turn_on boolean)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  one record;
  switched boolean := false;
begin
  for one in select tgrelid::regclass as place, tgname as name from pg_trigger
    where tgname like 'feed\_%' and tgrelid in (select oid from pg_class where relnamespace = current_schema()::regnamespace)
      and (tgenabled <> 'D') <> turn_on order by tgrelid::regclass::text loop
    execute format('alter table %s %s trigger %I', one.place, case when turn_on then 'enable' else 'disable' end, one.name);
    switched := true;
  end loop;
  if switched then
    if turn_on then perform begin_feed(); else delete from feed; delete from change; end if;
  end if;
  return switched;
end $function$;

-- Whether this main object was taken over and the switch is still to come: its changes are not announced. Refuses changes of the registers when they are not allowed either.
CREATE OR REPLACE FUNCTION taken_over(object uuid, component text)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
declare closed boolean;
begin
  if not exists (select from takeover where status <> 'omgeschakeld' and not trial) then return false; end if;
  if component in ('zrc', 'drc', 'brc', 'ztc') then perform require_switch(); end if;
  select bool_or(o.read_only) into closed from takeover_object w join takeover o on o.id = w.takeover_id
    where w.uuid = object and o.status <> 'omgeschakeld';
  if closed is null then return false; end if;
  if closed then
    raise exception 'taken over, and read-only until the switch'
      using errcode = 'integrity_constraint_violation', constraint = 'takeover_read_only';
  end if;
  return true;
end $function$;

-- The day that it is in this time zone.
CREATE OR REPLACE FUNCTION today(zone text)
 RETURNS date
 LANGUAGE sql
 STABLE
AS $function$ select (now() at time zone zone)::date $function$;

-- Another text once readers may have been told more: changes, or messages that they fetch.
CREATE OR REPLACE FUNCTION told_so_far()
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select concat_ws(' ', (select sum(place + confirmed) from abonnement), (select string_agg(l.last, ' ' order by component)
    from unnest(array['zrc', 'drc', 'brc', 'ztc']) component, lateral (
      select c.xact || '/' || c.id as last from change c where c.component = component.component order by c.xact desc, c.id desc limit 1) l))
$function$;

-- A new uuid, in order of time.
CREATE OR REPLACE FUNCTION uuid_v7()
 RETURNS uuid
 LANGUAGE plpgsql
 PARALLEL SAFE
AS $function$
declare
  moment text := lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0');
begin
  return left(moment, 8) || '-' || right(moment, 4) || '-7' || substr(gen_random_uuid()::text, 16);
end $function$;

-- Wakes a sender, unless one looks by itself or is about to; returns whether it did. To be called after the rows in delivery were written.
CREATE OR REPLACE FUNCTION wake_sender()
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select from active_sender z join worker w on w.id = z.worker_id) then return false; end if;
  if exists (
    select from jobs
    where key = 'send-notificaties' and run_at <= clock_timestamp() and locked_at is null and attempts < max_attempts
  ) then return false; end if;
  perform add_job('send-notificaties', job_key => 'send-notificaties');
  return true;
end $function$;

-- The next generated identificatie, for a zaak of this startdatum.
CREATE OR REPLACE FUNCTION zaak_identificatie(day date)
 RETURNS text
 LANGUAGE sql
AS $function$
  select 'ZAAK-' || to_char(day, 'YYYY') || '-' || to_char(nextval('zaak_nummer'), 'FM9999999990000000000')
$function$;

-- The next generated identificatie in this way, for a zaak of this startdatum.
CREATE OR REPLACE FUNCTION zaak_identificatie(day date, way text, current_day date)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  number text;
begin
  if way = 'use-creation-year' then return zaak_identificatie(current_day); end if;
  if way = 'use-number-per-year' then return zaak_identificatie_of_year(day); end if;
  if way <> 'use-uwv-identification' then return zaak_identificatie(day); end if;
  while number is null loop
    number := zaaknummer_uwv(nextval('zaak_nummer_uwv'));
  end loop;
  return number;
end $function$;

-- The next generated identificatie when each year begins at 1, for a zaak of this startdatum.
CREATE OR REPLACE FUNCTION zaak_identificatie_of_year(day date)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  n bigint; start bigint;
begin
  loop
    n := nextval('zaak_nummer');
    select starts_after into start from zaak_number_year where year = extract(year from day);
    if not found then
      insert into zaak_number_year values (extract(year from day), n - 1 - highest_zaaknummer(day)) on conflict do nothing;
      select starts_after into start from zaak_number_year where year = extract(year from day);
    end if;
    exit when n > start;
  end loop;
  return 'ZAAK-' || to_char(day, 'YYYY') || '-' || to_char(n - start, 'FM9999999990000000000');
end $function$;

-- The number at this place in the order of UWV; null where there is none.
CREATE OR REPLACE FUNCTION zaaknummer_uwv(n bigint)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  with number as (select zaaknummer_uwv_letters(n) || lpad((n % 10000000)::text, 7, '0') as body),
  weight as (
    select sum(place * (ascii(sign) - case when sign between '0' and '9' then 48 else 65 end)) as weight
    from number, unnest(string_to_array(body, null)) with ordinality as t(sign, place)
  )
  select (
    select body || digit from generate_series(0, 9) digit
    where (weight + (length(body) + 1) * digit) % 11 = 10
  ) from number, weight
$function$;

-- The letters before the number at this place in the order of UWV: A to Z, then AA to ZZ.
CREATE OR REPLACE FUNCTION zaaknummer_uwv_letters(n bigint)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case when prefix_at < 26 then chr(65 + prefix_at) else chr(65 + prefix_at / 26 - 1) || chr(65 + prefix_at % 26) end
  from (select (n / 10000000)::integer) as prefix(prefix_at)
$function$;
