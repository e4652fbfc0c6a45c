-- Settings that are changed in the pages instead of in the environment. Every process keeps them in memory and reads them again
-- on a signal. An operator notices nothing: the table begins empty, and what the environment says still wins.
create table instelling (
  naam text constraint instelling_pkey primary key,
  waarde text not null,
  gewijzigd_op timestamptz not null default now()
);
comment on table instelling is 'Settings that were given a value in the pages.';
comment on column instelling.naam is 'Its name in the environment, such as JWT_EXPIRY.';
comment on column instelling.waarde is 'Its value, written as in the environment.';
comment on column instelling.gewijzigd_op is 'When it was changed last.';

create function meld_instelling_wijziging() returns trigger language plpgsql as $$
begin
  perform pg_notify('zaakstroom_instellingen', '');
  return null;
end;
$$;
create trigger instelling_gewijzigd after insert or update or delete or truncate on instelling
  for each statement execute function meld_instelling_wijziging();
