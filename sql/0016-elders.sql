-- What refers to other servers: besluiten in cases elsewhere, documents elsewhere, and the other side of such relations, which
-- we keep in step there. An operator notices nothing: existing rows keep their meaning.

alter table zaakinformatieobject
  alter column enkelvoudiginformatieobject_id drop not null,
  add column informatieobject_url text,
  add constraint zaakinformatieobject_een_document check (num_nonnulls(enkelvoudiginformatieobject_id, informatieobject_url) = 1);
create unique index zaakinformatieobject_elders_uniek on zaakinformatieobject (zaak_id, informatieobject_url)
  where informatieobject_url is not null;
create index on zaakinformatieobject (informatieobject_url) where informatieobject_url is not null;
comment on column zaakinformatieobject.enkelvoudiginformatieobject_id is 'The document, when it is one of ours; it cannot be deleted while this is here.';
comment on column zaakinformatieobject.informatieobject_url is 'The document when it stands elsewhere.';

alter table besluit
  add column zaak_url text,
  add constraint besluit_een_zaak check (num_nonnulls(zaak_id, zaak_url) <= 1);
create index on besluit (zaak_url) where zaak_url is not null;
comment on column besluit.zaak_id is 'The case in which it was taken, if that is one of ours. A case with decisions is not deleted: the reference does not cascade.';
comment on column besluit.zaak_url is 'The case in which it was taken, if that stands elsewhere.';

alter table besluitinformatieobject
  alter column enkelvoudiginformatieobject_id drop not null,
  add column informatieobject_url text,
  add constraint besluitinformatieobject_een_document check (num_nonnulls(enkelvoudiginformatieobject_id, informatieobject_url) = 1);
create unique index besluitinformatieobject_elders_uniek on besluitinformatieobject (besluit_id, informatieobject_url)
  where informatieobject_url is not null;
create index on besluitinformatieobject (informatieobject_url) where informatieobject_url is not null;
comment on column besluitinformatieobject.enkelvoudiginformatieobject_id is 'The document, when it is one of ours.';
comment on column besluitinformatieobject.informatieobject_url is 'The document when it stands elsewhere.';

-- A change that needs another server is committed first, since that server looks here whether it is true, and recorded
-- (audit trail, notification) when that server has done its part. In between stands a row here, for a job to end what a
-- process left.
create table spiegeling (
  id bigint generated always as identity primary key,
  soort text not null check (soort in ('maken', 'verwijderen')),
  actor jsonb not null,
  wijzigingen jsonb not null,
  rijen jsonb not null,
  begonnen_op timestamptz not null default now()
);
comment on table spiegeling is 'Changes that wait for another server to do its part. Rows live as long as one call to it; a job ends those of a process that died.';
comment on column spiegeling.id is 'Internal key.';
comment on column spiegeling.soort is 'maken: our rows are there, and go when the other side refuses; verwijderen: our rows are gone, and come back then.';
comment on column spiegeling.actor is 'Who made the change, as audit records name him.';
comment on column spiegeling.wijzigingen is 'The changes as they will be recorded.';
comment on column spiegeling.rijen is 'What undoes it: [{"tabel", "uuid"}] for maken, [{"tabel", "rij"}] for verwijderen.';
comment on column spiegeling.begonnen_op is 'When it began.';

create table spiegel (
  id bigint generated always as identity primary key,
  soort text not null check (soort in ('zaakbesluit', 'objectinformatieobject', 'objectcontactmoment', 'objectverzoek')),
  bron text not null,
  bron_uuid uuid not null,
  lijst text not null,
  inhoud jsonb not null,
  url text not null default '',
  spiegeling_id bigint references spiegeling,
  weg boolean not null default false
);
create index on spiegel (bron_uuid);
create index on spiegel (spiegeling_id) where spiegeling_id is not null;
comment on table spiegel is 'The other side of a relation of ours, at another server: made and removed there by us.';
comment on column spiegel.id is 'Internal key.';
comment on column spiegel.soort is 'Kind of resource at the other side.';
comment on column spiegel.bron is 'Our table that holds the relation.';
comment on column spiegel.bron_uuid is 'Our row in it.';
comment on column spiegel.lijst is 'URL of the list at the other side that it is posted to.';
comment on column spiegel.inhoud is 'What is posted: it also tells ours from others in that list.';
comment on column spiegel.url is 'Its URL; empty until the other side said it.';
comment on column spiegel.spiegeling_id is 'The change that waits for it; empty: none.';
comment on column spiegel.weg is 'Whether our side is gone for good: a job removes it there, then here.';
