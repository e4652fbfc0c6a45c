-- What operators need to look after abonnementen: when the last attempt failed, when an abonnement is blocked because too much
-- waits for it, which messages it missed since then, and sending messages again. An operator notices pages for all of it; an
-- abonnement for which a million messages wait, or one for two weeks, is blocked until somebody resumes it.

alter table abonnement add column laatste_fout_op timestamptz;
alter table abonnement add column gemist_na bigint;
comment on column abonnement.laatste_fout_op is 'When an attempt last failed; empty: never.';
comment on column abonnement.gemist_na is 'Key of a message before it was blocked or unsubscribed; later ones were not planned for it. Empty: it missed nothing.';

create function volg_abonnement() returns trigger language plpgsql as $$
begin
  if new.fouten > old.fouten then new.laatste_fout_op := now(); end if;
  -- Whoever plans messages without seeing this status does it with a higher key: that is given out after this was committed.
  if old.status in ('actief', 'gepauzeerd') and new.status in ('geblokkeerd', 'opgezegd') then
    new.gemist_na := coalesce(old.gemist_na, pg_sequence_last_value(pg_get_serial_sequence('notificatie', 'id')::regclass), 0);
  end if;
  if old.applicatie_id is not null and new.applicatie_id is null and new.status = 'actief' then
    new.status := 'gepauzeerd';
    new.reden := 'De applicatie van dit abonnement is verwijderd.';
    new.status_sinds := now();
  end if;
  return new;
end $$;
comment on function volg_abonnement is 'Keeps when an attempt last failed and what an abonnement misses; without its applicatie it is paused.';
create trigger abonnement_gevolgd before update of fouten, status, applicatie_id on abonnement
  for each row execute function volg_abonnement();

alter table notificatie_instelling add column blokkeer_na_uren integer not null default 336
  constraint notificatie_instelling_blokkeer_na_uren_check check (blokkeer_na_uren between 1 and 87600);
alter table notificatie_instelling add column blokkeer_vanaf_aantal integer not null default 1000000
  constraint notificatie_instelling_blokkeer_vanaf_aantal_check check (blokkeer_vanaf_aantal between 1 and 100000000);
comment on column notificatie_instelling.blokkeer_na_uren is 'An abonnement is blocked when a message waits for it for so many hours.';
comment on column notificatie_instelling.blokkeer_vanaf_aantal is 'An abonnement is blocked when so many messages wait for it.';

create table herzending (
  id bigint generated always as identity primary key,
  abonnement_id bigint not null references abonnement on delete cascade,
  soort text not null constraint herzending_soort_check check (soort in ('mislukt', 'vanaf', 'gemist')),
  vanaf timestamptz not null default '-infinity',
  tot timestamptz,
  na_bericht bigint not null default 0,
  wacht_op text[],
  positie_op timestamptz not null default '-infinity',
  positie bigint not null default 0,
  per_minuut integer not null constraint herzending_per_minuut_check check (per_minuut between 1 and 600000),
  gepland integer not null default 0,
  gestart_door text not null,
  gestart_op timestamptz not null default now(),
  beeindigd_op timestamptz,
  gestopt boolean not null default false
);
create unique index herzending_een_tegelijk on herzending (abonnement_id) where beeindigd_op is null;
create index herzending_abonnement on herzending (abonnement_id, id);
comment on table herzending is 'Sending messages again to one abonnement: a job plans them in portions, at a rate. The newest is shown.';
comment on column herzending.id is 'Internal key.';
comment on column herzending.abonnement_id is 'Who gets them.';
comment on column herzending.soort is 'mislukt (those that failed), vanaf (all since a moment) or gemist (those that were not planned while it was blocked).';
comment on column herzending.vanaf is 'Messages that were made since this moment.';
comment on column herzending.tot is 'And before this one; empty: it is not known yet.';
comment on column herzending.na_bericht is 'Only messages with a higher key (gemist).';
comment on column herzending.wacht_op is 'Transactions (virtualtransaction of pg_locks) that have to end before it begins: they may not have seen yet that messages are planned again (gemist).';
comment on column herzending.positie_op is 'Moment of the last message that was looked at.';
comment on column herzending.positie is 'Key of that message.';
comment on column herzending.per_minuut is 'Deliveries that it plans in a minute, at most.';
comment on column herzending.gepland is 'Deliveries that it planned until now.';
comment on column herzending.gestart_door is 'Who asked for it.';
comment on column herzending.gestart_op is 'When.';
comment on column herzending.beeindigd_op is 'When all was planned, or somebody stopped it; empty: it goes on.';
comment on column herzending.gestopt is 'Somebody stopped it.';
