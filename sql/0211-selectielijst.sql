-- The selectielijst as `zaakstroom selectielijst import` read it from files: every process of the service looks in it, and
-- none has to reach another server for it. An operator notices nothing until one is imported.

create table selectielijst_regel (
  url text primary key,
  soort text not null
    constraint selectielijst_regel_soort_check check (soort in ('ProcesType', 'Resultaat', 'ResultaattypeOmschrijvingGeneriek')),
  procestype text,
  inhoud jsonb not null
);
create index selectielijst_regel_soort_idx on selectielijst_regel (soort, procestype);
comment on table selectielijst_regel is 'What was imported of the selectielijst: procestypen, resultaten and generic descriptions.';
comment on column selectielijst_regel.url is 'Its URL at the selectielijst, without a slash at the end.';
comment on column selectielijst_regel.soort is 'Kind of resource.';
comment on column selectielijst_regel.procestype is 'URL of the procestype that a Resultaat belongs to.';
comment on column selectielijst_regel.inhoud is 'The resource as the selectielijst serves it.';

create table selectielijst_import (
  id boolean primary key default true constraint selectielijst_import_een check (id),
  datum date not null,
  bestanden text[] not null,
  ingelezen timestamptz not null default now()
);
comment on table selectielijst_import is 'The last import of the selectielijst; one row at most.';
comment on column selectielijst_import.id is 'Always true: there is one selectielijst.';
comment on column selectielijst_import.datum is 'The day of the files.';
comment on column selectielijst_import.bestanden is 'Names of the files.';
comment on column selectielijst_import.ingelezen is 'When it was imported.';
