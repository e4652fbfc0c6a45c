-- An import can be paused and go on, and a dry run keeps which rows are wrong. An operator notices nothing.
alter table import add column gepauzeerd_op timestamptz;
comment on column import.gepauzeerd_op is 'Since when it is paused (status active): no batch is begun until it goes on.';

create table import_concept_fout (
  concept_id bigint not null references import_concept on delete cascade,
  nummer integer not null,
  opmerking text not null,
  primary key (concept_id, nummer)
);
comment on table import_concept_fout is 'Rows of an uploaded CSV that would not be imported, as the dry run found.';
comment on column import_concept_fout.concept_id is 'The upload.';
comment on column import_concept_fout.nummer is 'The row.';
comment on column import_concept_fout.opmerking is 'Why not, naming the column.';
