-- Notificaties: a message for every change, written in the transaction of that change, and its delivery: to an external
-- notifications service, or to the abonnementen of the one that is built in. src/notificaties/claims.ts tells how.

create table notificatie (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint notificatie_uuid_uniek unique,
  kanaal text not null,
  hoofd_object text not null,
  hoofd_object_uuid uuid not null,
  resource text not null,
  resource_url text not null,
  actie text not null,
  kenmerken jsonb not null,
  aanmaakdatum timestamptz not null default now(),
  bron text not null default '',
  aanmaakdatum_tekst text
) with (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
create index notificatie_aanmaakdatum on notificatie (aanmaakdatum, id);
create index notificatie_kanaal on notificatie (kanaal, aanmaakdatum, id);
-- Messages of one object: the main object, or what lies below it by the uuid at the end of its URL.
create index notificatie_hoofd_object on notificatie (hoofd_object_uuid);
create index notificatie_resource on notificatie (right(resource_url, 36)) where resource_url <> hoofd_object;
comment on table notificatie is 'Messages about changes, written in the transaction of the change. Rows are only added, and removed after their term; what has to be delivered is in levering.';
comment on column notificatie.id is 'Internal key; order of the changes.';
comment on column notificatie.uuid is 'Constant id of the message: goes along with every attempt.';
comment on column notificatie.kanaal is 'Channel, such as documenten.';
comment on column notificatie.hoofd_object is 'URL of the main object.';
comment on column notificatie.hoofd_object_uuid is 'uuid of the main object: messages of one object keep their order.';
comment on column notificatie.resource is 'Kind of the changed object.';
comment on column notificatie.resource_url is 'URL of the changed object.';
comment on column notificatie.actie is 'create, update, partial_update or destroy.';
comment on column notificatie.kenmerken is 'Attributes on which subscribers filter.';
comment on column notificatie.aanmaakdatum is 'When the change was made.';
comment on column notificatie.bron is 'Attribute source of a message that another publisher gave; empty: none.';
comment on column notificatie.aanmaakdatum_tekst is 'The moment as another publisher wrote it; empty: it is our own message.';

create table levering (
  notificatie_id bigint not null,
  abonnement_id bigint not null default 0,
  hoofd_object_uuid uuid not null,
  status text not null default 'gepland' constraint levering_status_check check (status in ('gepland', 'mislukt')),
  volgende_poging_op timestamptz default now(),
  herhalingen integer not null default 0,
  poging integer not null default 0,
  genomen_door integer,
  begonnen_op timestamptz,
  beeindigd_op timestamptz,
  replay boolean not null default false,
  primary key (notificatie_id, abonnement_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.05);
create index levering_beurt on levering (abonnement_id, volgende_poging_op, notificatie_id) where status = 'gepland';
create index levering_volgorde on levering (abonnement_id, hoofd_object_uuid, notificatie_id) where status = 'gepland';
create index levering_mislukt on levering (abonnement_id, notificatie_id) where status = 'mislukt';
comment on table levering is 'What is still to be delivered, or failed: one row per message and receiver. It goes when the receiver has accepted the message.';
comment on column levering.notificatie_id is 'The message.';
comment on column levering.abonnement_id is 'The receiver: an abonnement, or 0 for the external notifications service.';
comment on column levering.hoofd_object_uuid is 'Main object of the message: those of one object keep their order.';
comment on column levering.status is 'gepland (waits) or mislukt (all attempts used).';
comment on column levering.volgende_poging_op is 'When it is to be sent. Empty: it waits for an earlier message of its main object, or it failed.';
comment on column levering.herhalingen is 'Retries that were planned since it was made or resent.';
comment on column levering.poging is 'Number of the last attempt that was begun; 0: none.';
comment on column levering.genomen_door is 'The worker that makes an attempt now (table worker). When that worker is gone, another makes the attempt again.';
comment on column levering.begonnen_op is 'When that attempt began.';
comment on column levering.beeindigd_op is 'When it failed for the last time.';
comment on column levering.replay is 'It was delivered or failed before and is sent again because somebody asked.';

create table notificatie_poging (
  notificatie_id bigint not null,
  abonnement_id bigint not null default 0,
  nummer integer not null,
  begonnen_op timestamptz not null default clock_timestamp(),
  duur_ms integer,
  uitkomst text not null constraint notificatie_poging_uitkomst_check check (uitkomst in
    ('delivered', 'http', 'refused', 'dns', 'tls', 'timeout', 'connection', 'protocol', 'blocked', 'unknown', 'lost')),
  http_status integer,
  antwoord text,
  primary key (notificatie_id, abonnement_id, nummer)
) with (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
-- For the last outcomes at a receiver.
create index notificatie_poging_begonnen on notificatie_poging (abonnement_id, begonnen_op);
comment on table notificatie_poging is 'Attempts to deliver a message that ended.';
comment on column notificatie_poging.notificatie_id is 'The message.';
comment on column notificatie_poging.abonnement_id is 'The receiver, as in levering.';
comment on column notificatie_poging.nummer is 'Number of the attempt, from 1.';
comment on column notificatie_poging.begonnen_op is 'When it began.';
comment on column notificatie_poging.duur_ms is 'Milliseconds that it took.';
comment on column notificatie_poging.uitkomst is 'delivered; http (a status that is no success); the kind of failure; lost (the worker died before it could tell).';
comment on column notificatie_poging.http_status is 'Status of the answer.';
comment on column notificatie_poging.antwoord is 'Start of the body of the answer, at most 4 KB.';

create view notificatie_overzicht as
select n.uuid, n.kanaal, n.resource, n.actie, n.resource_url, n.aanmaakdatum,
  coalesce((select max(l.status) from levering l where l.notificatie_id = n.id), 'afgeleverd') as status,
  (select min(l.volgende_poging_op) from levering l where l.notificatie_id = n.id) as volgende_poging_op
from notificatie n order by n.id desc;
comment on view notificatie_overzicht is 'Messages with their state, newest first.';
comment on column notificatie_overzicht.status is 'mislukt (for some receiver), gepland (for some receiver) or afgeleverd (nothing is left to do).';
comment on column notificatie_overzicht.volgende_poging_op is 'When it is sent next.';

create table notificatie_instelling (
  enig boolean primary key default true constraint notificatie_instelling_enig_check check (enig),
  ingestelde_dienst_id bigint constraint notificatie_dienst_in_gebruik references dienst,
  gepauzeerd_op timestamptz,
  dienst_id bigint generated always as (case when gepauzeerd_op is null then ingestelde_dienst_id end) stored,
  max_retries integer not null default 7
    constraint notificatie_instelling_max_retries_check check (max_retries between 0 and 100),
  backoff jsonb not null default '25' constraint notificatie_instelling_backoff_check check (case jsonb_typeof(backoff)
    when 'boolean' then true when 'number' then backoff::numeric between 0 and 1000000 else false end),
  backoff_max integer not null default 52000
    constraint notificatie_instelling_backoff_max_check check (backoff_max between 1 and 31536000),
  base_factor integer not null default 4
    constraint notificatie_instelling_base_factor_check check (base_factor between 1 and 1000),
  op_volgorde boolean not null default true,
  modus text not null default 'extern'
    constraint notificatie_instelling_modus_check check (modus in ('extern', 'ingebouwd', 'beide')),
  gewijzigd_op timestamptz not null default now()
);
comment on table notificatie_instelling is 'How notifications are delivered: one row, read at every attempt.';
comment on column notificatie_instelling.enig is 'True; keeps it to one row.';
comment on column notificatie_instelling.ingestelde_dienst_id is 'The notifications service (soort nrc) of the settings; empty: none.';
comment on column notificatie_instelling.gepauzeerd_op is 'Since when sending is paused; empty: it is not.';
comment on column notificatie_instelling.dienst_id is 'The service that messages go to now; empty: messages wait. It follows from the two above.';
comment on column notificatie_instelling.max_retries is 'Attempts after the first, before a message has failed.';
comment on column notificatie_instelling.backoff is 'Factor of the delay in seconds; true: binary exponential; false or 0: always 180 s.';
comment on column notificatie_instelling.backoff_max is 'Longest delay in seconds, unless backoff is false.';
comment on column notificatie_instelling.base_factor is 'Base of the power in the delay.';
comment on column notificatie_instelling.op_volgorde is 'Messages of one main object wait for each other.';
comment on column notificatie_instelling.modus is 'Who gets our messages: an external notifications service (extern), the abonnementen here (ingebouwd), or both (beide).';
comment on column notificatie_instelling.gewijzigd_op is 'When it was last changed.';
insert into notificatie_instelling default values;

-- Not logged: when it is lost, senders are woken once more than needed.
create unlogged table notificatie_zender (
  worker_id integer primary key,
  gezien_op timestamptz not null default now()
);
comment on table notificatie_zender is 'Workers that look for what is due by themselves at this moment. While there is one, nobody is woken.';
comment on column notificatie_zender.worker_id is 'The worker (table worker).';
comment on column notificatie_zender.gezien_op is 'When it last said so.';

-- Reads what is committed now, and not when the statement that calls it began: src/notificaties/sender.ts tells why.
create function wek_zender() returns void language plpgsql volatile as $$
begin
  if not exists (select from notificatie_zender z join worker w on w.id = z.worker_id) then
    perform graphile_worker.add_job('verstuur-notificaties', job_key => 'verstuur-notificaties');
  end if;
end $$;
comment on function wek_zender is 'Wakes a sender, unless one looks by itself. To be called after the rows in levering were written.';

-- ---- the notifications service that is built in: who subscribes ----

create table kanaal (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint kanaal_uuid_uniek unique,
  naam text not null constraint kanaal_naam_uniek unique constraint kanaal_naam_check check (length(naam) between 1 and 50),
  documentatie_link text not null default ''
    constraint kanaal_documentatie_link_check check (length(documentatie_link) <= 200),
  filters text[] not null default '{}',
  eigen boolean not null default false,
  gemaakt_op timestamptz not null default now()
);
comment on table kanaal is 'Channels of the notifications service that is built in.';
comment on column kanaal.id is 'Internal key; order of lists.';
comment on column kanaal.uuid is 'Last part of its URL.';
comment on column kanaal.naam is 'Name, such as zaken. It never changes.';
comment on column kanaal.documentatie_link is 'Where its kenmerken are explained; may be empty.';
comment on column kanaal.filters is 'Names of the kenmerken that one may filter on.';
comment on column kanaal.eigen is 'This service publishes on it: its filters come from the program.';
comment on column kanaal.gemaakt_op is 'When it was made.';

create table abonnement (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint abonnement_uuid_uniek unique,
  applicatie_id bigint constraint abonnement_applicatie references applicatie on delete set null,
  client_id text not null default '',
  callback_url text not null constraint abonnement_callback_url_check check (length(callback_url) between 1 and 2000),
  authenticatie text not null default 'header'
    constraint abonnement_authenticatie_check check (authenticatie in ('header', 'jwt', 'oauth2')),
  auth bytea not null,
  uitgaand_client_id text not null default '',
  token_url text not null default '',
  token_scope text not null default '',
  certificaat text not null default '',
  certificaat_sleutel bytea,
  ondertekening bytea[] not null default '{}'
    constraint abonnement_ondertekening_check check (cardinality(ondertekening) <= 2),
  cloudevents boolean not null default false,
  op_volgorde boolean not null default true,
  gelijktijdig integer not null default 4 constraint abonnement_gelijktijdig_check check (gelijktijdig between 1 and 50),
  termijn_ms integer not null default 10000 constraint abonnement_termijn_ms_check check (termijn_ms between 1000 and 60000),
  status text not null default 'actief'
    constraint abonnement_status_check check (status in ('actief', 'gepauzeerd', 'geblokkeerd', 'opgezegd')),
  reden text not null default '',
  status_sinds timestamptz not null default now(),
  fouten integer not null default 0,
  storing_sinds timestamptz,
  niet_voor timestamptz,
  laatste_uitkomst text,
  laatste_http_status integer,
  gemaakt_op timestamptz not null default now(),
  gewijzigd_op timestamptz not null default now(),
  verwijderd_op timestamptz
);
create index abonnement_applicatie on abonnement (applicatie_id);
comment on table abonnement is 'Who gets messages of the notifications service that is built in, and where.';
comment on column abonnement.id is 'Internal key; order of lists. Never 0: that stands for the external service.';
comment on column abonnement.uuid is 'Last part of its URL, and what its secrets are bound to.';
comment on column abonnement.applicatie_id is 'Who may see and change it; empty: that applicatie is gone.';
comment on column abonnement.client_id is 'Client id of the token that made it, for the log.';
comment on column abonnement.callback_url is 'Where messages go.';
comment on column abonnement.authenticatie is 'How we identify ourselves there: header (auth as it is), jwt (signed for each message) or oauth2 (client credentials).';
comment on column abonnement.auth is 'Value of the header Authorization, or the secret (jwt, oauth2); encrypted with SECRET_KEY.';
comment on column abonnement.uitgaand_client_id is 'Our client id there (jwt, oauth2).';
comment on column abonnement.token_url is 'Where a token is asked (oauth2).';
comment on column abonnement.token_scope is 'Scope that is asked for (oauth2).';
comment on column abonnement.certificaat is 'Client certificate that we show (PEM); empty: none.';
comment on column abonnement.certificaat_sleutel is 'Private key of that certificate; encrypted with SECRET_KEY.';
comment on column abonnement.ondertekening is 'Secrets of the signature (Standard Webhooks), newest first; encrypted. Two during a change.';
comment on column abonnement.cloudevents is 'It gets cloud events instead of messages of the standard.';
comment on column abonnement.op_volgorde is 'Messages of one main object wait for each other.';
comment on column abonnement.gelijktijdig is 'Messages that are sent to it at once.';
comment on column abonnement.termijn_ms is 'Milliseconds that one attempt may take, from connecting to the last byte of the answer.';
comment on column abonnement.status is 'actief, gepauzeerd (messages wait), geblokkeerd (no new messages are planned; they stay in the log for a replay) or opgezegd (the receiver said 410).';
comment on column abonnement.reden is 'Why it has that status.';
comment on column abonnement.status_sinds is 'Since when it has that status.';
comment on column abonnement.fouten is 'Attempts that failed since the last one that succeeded.';
comment on column abonnement.storing_sinds is 'Since when attempts fail; empty: they do not.';
comment on column abonnement.niet_voor is 'Nothing is sent to it before this moment: it asked for that, or it fails and is probed.';
comment on column abonnement.laatste_uitkomst is 'Outcome of the last attempt that failed; empty: the last one succeeded.';
comment on column abonnement.laatste_http_status is 'Status of that answer.';
comment on column abonnement.gemaakt_op is 'When it was made.';
comment on column abonnement.gewijzigd_op is 'When it was last changed.';
comment on column abonnement.verwijderd_op is 'When it was deleted: nothing is sent any more, and a worker removes what is left.';

create table abonnement_kanaal (
  id bigint generated always as identity primary key,
  abonnement_id bigint not null references abonnement on delete cascade,
  kanaal_id bigint not null constraint abonnement_kanaal_bestaat references kanaal,
  filters jsonb not null default '{}'
);
create index abonnement_kanaal_abonnement on abonnement_kanaal (abonnement_id);
create index abonnement_kanaal_kanaal on abonnement_kanaal (kanaal_id);
comment on table abonnement_kanaal is 'What an abonnement wants: it gets a message when one of these rows fits, and once however many do.';
comment on column abonnement_kanaal.id is 'Internal key; order in which they were given.';
comment on column abonnement_kanaal.abonnement_id is 'The abonnement.';
comment on column abonnement_kanaal.kanaal_id is 'The channel.';
comment on column abonnement_kanaal.filters is 'Names and values that all have to fit, as they were registered; * fits all.';

create function kenmerk_naam(p_naam text) returns text language sql immutable parallel safe as $$
  select lower(replace(p_naam, '_', ''))
$$;
comment on function kenmerk_naam is 'A name of a kenmerk for comparing: camelCase and snake_case are one name.';

create function kenmerk_waarde(p_waarde text) returns text language sql immutable parallel safe as $$
  select coalesce(substring(p_waarde from '^https?://[^?#]*(/[^/?#]+/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$'), p_waarde)
$$;
comment on function kenmerk_waarde is 'A value of a kenmerk for comparing: of the URL of a resource only its kind and uuid, since a service may have several names.';

-- A kenmerk that a message does not have fits every filter: older publishers leave some out.
create function filters_passen(p_filters jsonb, p_kenmerken jsonb, p_resource text, p_actie text)
returns boolean language sql immutable parallel safe as $$
  select not exists (
    select from jsonb_each_text(p_filters) as f(naam, waarde)
    where f.waarde <> '*' and case f.naam
      when '#resource' then not p_resource = any(string_to_array(f.waarde, ','))
      when '#actie' then not (p_actie = any(string_to_array(f.waarde, ','))
        or p_actie = 'partial_update' and 'update' = any(string_to_array(f.waarde, ',')))
      else exists (
        select from jsonb_each_text(p_kenmerken) as k(naam, waarde)
        where kenmerk_naam(k.naam) = kenmerk_naam(f.naam)
          and kenmerk_waarde(coalesce(k.waarde, '')) <> kenmerk_waarde(f.waarde))
      end)
$$;
comment on function filters_passen is 'Whether a message fits the filters of one row of abonnement_kanaal.';
