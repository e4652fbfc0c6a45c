-- A log of requests to other services: what was asked, and what came of it. Never a body or a secret. An operator notices that
-- the daily clean-up removes rows after OUTGOING_LOG_RETENTION_DAYS.

create table uitgaand_verzoek (
  id bigint generated always as identity primary key,
  tijdstip timestamptz not null,
  dienst text not null,
  methode text not null,
  host text not null,
  pad text not null,
  status integer,
  uitkomst text not null,
  ms integer not null,
  verzoek text not null default ''
);
create index uitgaand_verzoek_tijdstip_idx on uitgaand_verzoek (tijdstip);
create index uitgaand_verzoek_dienst_idx on uitgaand_verzoek (dienst, id);
comment on table uitgaand_verzoek is 'Requests to other services, for a while. Deliveries of notifications are in levering_poging.';
comment on column uitgaand_verzoek.id is 'Number, about in the order of their ends.';
comment on column uitgaand_verzoek.tijdstip is 'When it began.';
comment on column uitgaand_verzoek.dienst is 'Root of the service.';
comment on column uitgaand_verzoek.methode is 'Method.';
comment on column uitgaand_verzoek.host is 'Host and port.';
comment on column uitgaand_verzoek.pad is 'Path and query; numbers of nine digits and the values of secrets are covered.';
comment on column uitgaand_verzoek.status is 'Status of the answer; empty when none came.';
comment on column uitgaand_verzoek.uitkomst is 'answered, or why no answer came.';
comment on column uitgaand_verzoek.ms is 'Milliseconds that it took.';
comment on column uitgaand_verzoek.verzoek is 'Id of the request to us that it was done for; empty when there is none.';
