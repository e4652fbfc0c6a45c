-- Whether a relation between types names one version by its URL. Such a version stays in the answers beside the one that is
-- valid today, also as a concept. A relation by omschrijving or identificatie names the type and leaves its concepts out.
alter table zaaktype_besluittype add column by_url boolean not null default true;
alter table zaaktype_deelzaaktype add column by_url boolean not null default true;
alter table zaaktype_informatieobjecttype add column by_url boolean not null default true;
alter table besluittype_informatieobjecttype add column by_url boolean not null default true;
alter table resultaattype_besluittype add column by_url boolean not null default true;
alter table resultaattype_informatieobjecttype add column by_url boolean not null default true;
