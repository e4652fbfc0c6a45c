-- Which status is the last of its case is marked, since lists ask for it: among a million cases it would be found by comparing
-- all statuses with all. The next file fills it in and keeps it.

alter table status add column laatst boolean not null default true;
comment on column status.laatst is 'Whether its case has no later status. Kept by triggers.';
