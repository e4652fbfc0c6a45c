-- A value that was encrypted with SECRET_KEY when this database was first used, so that a start with another key is noticed
-- before clients are refused for it. Filled by the first process that starts.

create table secret_key_check (
  singleton boolean not null default true constraint secret_key_check_pkey primary key constraint secret_key_check_singleton check (singleton),
  sealed bytea not null
);
comment on table secret_key_check is 'Tells whether SECRET_KEY is the key with which this database was written.';
comment on column secret_key_check.singleton is 'True: there is one row.';
comment on column secret_key_check.sealed is 'A known text, encrypted with SECRET_KEY.';
