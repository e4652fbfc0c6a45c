-- Cases whose zaaktype stands in a catalogue at another server. What such a case needs of its type later is kept beside its
-- URL, so that nothing has to be asked while rows are locked. An operator notices that this takes some seconds with millions
-- of cases, in which nothing is written to them; existing rows keep their meaning.

alter table zaak
  alter column zaaktype_id drop not null,
  add column zaaktype_url text,
  add column zaaktype_catalogus_url text,
  add column zaaktype_identificatie text,
  add column zaaktype_omschrijving text,
  add constraint zaak_een_zaaktype check (num_nonnulls(zaaktype_id, zaaktype_url) = 1),
  add constraint zaak_gegevens_van_type_elders check (
    num_nonnulls(zaaktype_catalogus_url, zaaktype_identificatie, zaaktype_omschrijving)
      = case when zaaktype_url is null then 0 else 3 end);
create index on zaak (zaaktype_url, vertrouwelijkheidaanduiding, id) where zaaktype_url is not null;
comment on column zaak.zaaktype_id is 'The version of the case type, when it is one of ours; it never changes.';
comment on column zaak.zaaktype_url is 'The version of the case type, when it stands elsewhere; rights compare it as it was written.';
comment on column zaak.zaaktype_catalogus_url is 'The catalogue of a type elsewhere: notifications name it.';
comment on column zaak.zaaktype_identificatie is 'identificatie of a type elsewhere, when the case was made.';
comment on column zaak.zaaktype_omschrijving is 'omschrijving of a type elsewhere, when the case was made; lists are filtered by it.';

alter table status
  alter column statustype_id drop not null,
  add column statustype_url text,
  add column statustype_omschrijving text,
  add column is_eindstatus boolean,
  add constraint status_een_type check (num_nonnulls(statustype_id, statustype_url) = 1),
  add constraint status_gegevens_van_type_elders check (
    num_nonnulls(statustype_omschrijving, is_eindstatus) = case when statustype_url is null then 0 else 2 end);
create index on status (statustype_url) where statustype_url is not null;
comment on column status.statustype_id is 'The stage; a statustype of the zaaktype of the case (zrc-016), when that is one of ours.';
comment on column status.statustype_url is 'The stage, when it stands elsewhere.';
comment on column status.statustype_omschrijving is 'Name of a stage elsewhere, when it was reached.';
comment on column status.is_eindstatus is 'Whether a stage elsewhere is the last of its zaaktype, as that server said when it was reached. Of ours the volgnummer says it.';

alter table resultaat
  alter column resultaattype_id drop not null,
  add column resultaattype_url text,
  add column resultaattype_elders jsonb,
  add constraint resultaat_een_type check (num_nonnulls(resultaattype_id, resultaattype_url) = 1),
  add constraint resultaat_gegevens_van_type_elders check ((resultaattype_url is null) = (resultaattype_elders is null));
create index on resultaat (resultaattype_url) where resultaattype_url is not null;
comment on column resultaat.resultaattype_id is 'The kind of outcome; of the zaaktype of the case (zrc-020), when that is one of ours.';
comment on column resultaat.resultaattype_url is 'The kind of outcome, when it stands elsewhere.';
comment on column resultaat.resultaattype_elders is 'What archiving needs of a kind of outcome elsewhere, as that server said when the outcome was given: {"omschrijving", "archiefnominatie", "archiefactietermijn", "brondatumArchiefprocedure"}.';

create view resultaat_regeling as
  select r.zaak_id,
    coalesce(y.omschrijving, r.resultaattype_elders ->> 'omschrijving') as omschrijving,
    coalesce(y.archiefnominatie, r.resultaattype_elders ->> 'archiefnominatie') as archiefnominatie,
    coalesce(y.archiefactietermijn, r.resultaattype_elders ->> 'archiefactietermijn') as archiefactietermijn,
    coalesce(y.brondatum_afleidingswijze, r.resultaattype_elders #>> '{brondatumArchiefprocedure,afleidingswijze}') as afleidingswijze,
    coalesce(y.brondatum_datumkenmerk, r.resultaattype_elders #>> '{brondatumArchiefprocedure,datumkenmerk}') as datumkenmerk,
    coalesce(y.brondatum_objecttype, r.resultaattype_elders #>> '{brondatumArchiefprocedure,objecttype}') as objecttype,
    coalesce(y.brondatum_procestermijn, r.resultaattype_elders #>> '{brondatumArchiefprocedure,procestermijn}') as procestermijn
  from resultaat r left join resultaattype y on y.id = r.resultaattype_id;
comment on view resultaat_regeling is 'How the outcome of a case has it archived, wherever its resultaattype stands.';

alter table rol
  alter column roltype_id drop not null,
  add column roltype_url text,
  add constraint rol_een_type check (num_nonnulls(roltype_id, roltype_url) = 1);
create index on rol (roltype_url) where roltype_url is not null;
comment on column rol.roltype_id is 'As what; a roltype of the zaaktype of the case (zrc-019), when that is one of ours.';
comment on column rol.roltype_url is 'As what, when the roltype stands elsewhere.';

alter table zaakeigenschap
  alter column eigenschap_id drop not null,
  add column eigenschap_url text,
  add constraint zaakeigenschap_een_type check (num_nonnulls(eigenschap_id, eigenschap_url) = 1);
comment on column zaakeigenschap.eigenschap_id is 'The eigenschap; of the zaaktype of the case (zrc-018), when that is one of ours.';
comment on column zaakeigenschap.eigenschap_url is 'The eigenschap, when it stands elsewhere.';

alter table zaakobject
  add column zaakobjecttype_url text,
  add constraint zaakobject_een_type check (num_nonnulls(zaakobjecttype_id, zaakobjecttype_url) <= 1);
comment on column zaakobject.zaakobjecttype_id is 'The zaakobjecttype, when one of ours was named.';
comment on column zaakobject.zaakobjecttype_url is 'The zaakobjecttype, when one elsewhere was named.';
