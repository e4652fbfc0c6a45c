-- breaks-older: yes
-- Wrong passwords and codes slow down whoever enters them, in place of locking the account, which let anybody keep an
-- administrator out. Attempts are counted by name and address; a browser that signed in before has a count of its own.
-- An operator notices that no account is locked any more.

alter table beheer_account drop column geblokkeerd_tot;
alter table beheer_account add column mislukt_sinds timestamptz;
alter table beheer_account add column mislukt_laatst timestamptz;
update beheer_account set mislukte_pogingen = 0 where mislukte_pogingen > 0;
comment on column beheer_account.mislukte_pogingen is 'Wrong passwords and codes since it last signed in, told to whoever signs in.';
comment on column beheer_account.mislukt_sinds is 'When the first of them was; empty: none.';
comment on column beheer_account.mislukt_laatst is 'When the last of them was; empty: none.';

create table beheer_inlogpoging (
  sleutel bytea constraint beheer_inlogpoging_pkey primary key,
  account_id bigint references beheer_account on delete cascade,
  aantal integer not null,
  open_op timestamptz not null,
  vergeet_op timestamptz not null
);
create index beheer_inlogpoging_account on beheer_inlogpoging (account_id);
create index beheer_inlogpoging_vergeet_op on beheer_inlogpoging (vergeet_op);
comment on table beheer_inlogpoging is 'Failed attempts to sign in, counted by what slows them down. A row that is gone is a count that starts anew.';
comment on column beheer_inlogpoging.sleutel is 'SHA-256 of what is counted: a name and an address, a name, a known browser, codes of an account.';
comment on column beheer_inlogpoging.account_id is 'Whose account; empty: a name that nobody has.';
comment on column beheer_inlogpoging.aantal is 'Attempts, also one that is being looked at.';
comment on column beheer_inlogpoging.open_op is 'No attempt is looked at before this moment.';
comment on column beheer_inlogpoging.vergeet_op is 'After this moment the count starts anew.';

create table beheer_browser (
  id bigint generated always as identity primary key,
  sleutel bytea not null,
  account_id bigint not null references beheer_account on delete cascade,
  gezien_op timestamptz not null default now(),
  constraint beheer_browser_uniek unique (sleutel, account_id)
);
create index beheer_browser_account on beheer_browser (account_id);
comment on table beheer_browser is 'Browsers that signed in to an account before. They get nothing but a count of failed attempts of their own.';
comment on column beheer_browser.id is 'Number; stays when the cookie gets another value.';
comment on column beheer_browser.sleutel is 'SHA-256 of the value in the cookie.';
comment on column beheer_browser.account_id is 'The account.';
comment on column beheer_browser.gezien_op is 'When it last signed in.';
