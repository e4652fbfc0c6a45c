-- Several workers prepare batches of one import before it is their turn. An operator notices that a second worker makes an import
-- faster where its files take long, as with a blob store. Unlogged, because what a crash loses of it is prepared again.
create unlogged table import_vooruit (
  import_id bigint not null references import on delete cascade,
  vanaf integer not null,
  rijen integer not null,
  claim uuid not null,
  gezien_op timestamptz not null default now(),
  inhoud json,
  primary key (import_id, vanaf)
);
-- It lives for seconds: packing it would cost more than its place.
alter table import_vooruit alter column inhoud set storage external;
comment on table import_vooruit is 'Batches of the active import that a worker prepares, or has prepared, before they are written.';
comment on column import_vooruit.import_id is 'The import.';
comment on column import_vooruit.vanaf is 'How many rows lie before its first one.';
comment on column import_vooruit.rijen is 'How many rows it has.';
comment on column import_vooruit.claim is 'Id of the claim: who prepares it, and whose files these are.';
comment on column import_vooruit.gezien_op is 'Last sign of life of who prepares it; when it was ready.';
comment on column import_vooruit.inhoud is 'What was prepared: rows that failed, and rows with their copied file; empty: not ready.';
