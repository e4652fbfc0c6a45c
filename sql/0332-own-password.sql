-- A password that somebody else chose or saw is replaced at the first sign-in. An operator notices nothing: accounts that are there
-- keep the password that they have.
alter table beheer_account add column wachtwoord_gegeven boolean not null default false;
comment on column beheer_account.wachtwoord_gegeven is 'The password was given by somebody else: the next sign-in asks for another.';
