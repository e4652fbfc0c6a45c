-- Whose tables these are, in an installation of more than one organisation: a schema that does not say so is not dropped, and a session
-- that a pooler sent to the tables of another is noticed.

create table of_organisation (
  is_one boolean primary key default true constraint of_organisation_is_one check (is_one),
  rsin text not null constraint of_organisation_rsin check (rsin ~ '^\d{9}$')
);
select describe('of_organisation', 'Whose tables these are. No row: an installation by itself.',
  'is_one', 'There is one row at most.', 'rsin', 'RSIN of the organisation.');
