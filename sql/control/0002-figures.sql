create table organisation_figures (
  organisation_id bigint primary key references organisation on delete cascade,
  asked_at timestamptz not null,
  fault text not null default '',
  fault_since timestamptz,
  read_at timestamptz,
  figures jsonb
);
create index organisation_change_rsin_idx on organisation_change (rsin, id);

comment on table organisation_figures is 'What workers read of each organisation last, once a minute, for the page of the centre.';
comment on column organisation_figures.organisation_id is 'Of which organisation.';
comment on column organisation_figures.asked_at is 'When a worker took it upon itself to read them.';
comment on column organisation_figures.fault is 'Why they could not be read: away (its database does not answer) or unreadable (its tables are not there, or in use); empty: they were.';
comment on column organisation_figures.fault_since is 'Since when that is so.';
comment on column organisation_figures.read_at is 'When they were read.';
comment on column organisation_figures.figures is 'The figures (Figures of src/organisations/figures.ts).';
