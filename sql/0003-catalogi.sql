-- Catalogi, as far as documents need them: catalogussen and informatieobjecttypen.

create table catalogus (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint catalogus_uuid_uniek unique,
  domein text not null,
  rsin text not null,
  contactpersoon_beheer_naam text not null,
  contactpersoon_beheer_telefoonnummer text not null default '',
  contactpersoon_beheer_emailadres text not null default '',
  naam text not null default '',
  versie text not null default '',
  begindatum_versie date,
  constraint catalogus_domein_rsin_uniek unique (domein, rsin)
);
comment on table catalogus is 'A catalogue of types (Catalogi API, Catalogus).';
comment on column catalogus.id is 'Internal key.';
comment on column catalogus.uuid is 'Last part of its URL.';
comment on column catalogus.domein is 'Domain, five capitals at most; unique together with rsin.';
comment on column catalogus.rsin is 'RSIN of the owner.';
comment on column catalogus.contactpersoon_beheer_naam is 'Contact person.';
comment on column catalogus.contactpersoon_beheer_telefoonnummer is 'Phone number of the contact person.';
comment on column catalogus.contactpersoon_beheer_emailadres is 'E-mail address of the contact person.';
comment on column catalogus.naam is 'Name.';
comment on column catalogus.versie is 'Version.';
comment on column catalogus.begindatum_versie is 'First day of this version.';

create table informatieobjecttype (
  id bigint generated always as identity primary key,
  uuid uuid not null default gen_random_uuid() constraint informatieobjecttype_uuid_uniek unique,
  catalogus_id bigint not null references catalogus,
  omschrijving text not null,
  vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding not null,
  begin_geldigheid date not null,
  einde_geldigheid date,
  concept boolean not null default true,
  informatieobjectcategorie text not null,
  trefwoord text[] not null default '{}',
  omschrijving_generiek jsonb not null default '{}'
);
create index on informatieobjecttype (catalogus_id, omschrijving);
comment on table informatieobjecttype is 'A version of a document type (Catalogi API, InformatieObjectType).';
comment on column informatieobjecttype.id is 'Internal key.';
comment on column informatieobjecttype.uuid is 'Last part of its URL.';
comment on column informatieobjecttype.catalogus_id is 'The catalogue.';
comment on column informatieobjecttype.omschrijving is 'Name; versions of one type share it within their catalogue.';
comment on column informatieobjecttype.vertrouwelijkheidaanduiding is 'Confidentiality of documents that state none (drc-007).';
comment on column informatieobjecttype.begin_geldigheid is 'First day of validity.';
comment on column informatieobjecttype.einde_geldigheid is 'Last day of validity.';
comment on column informatieobjecttype.concept is 'True until it is published; only published types are used.';
comment on column informatieobjecttype.informatieobjectcategorie is 'Category.';
comment on column informatieobjecttype.trefwoord is 'Key words.';
comment on column informatieobjecttype.omschrijving_generiek is 'Group omschrijvingGeneriek as the API shows it.';
