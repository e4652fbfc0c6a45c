-- Whether a relation between types names one version by its URL. Such a version stays in the answers beside the one that is
-- valid today, also as a concept. A relation by omschrijving or identificatie names the type and leaves its concepts out.
alter table zaaktype_besluittype add column by_url boolean not null default true;
alter table zaaktype_deelzaaktype add column by_url boolean not null default true;
alter table zaaktype_informatieobjecttype add column by_url boolean not null default true;
alter table besluittype_informatieobjecttype add column by_url boolean not null default true;
alter table resultaattype_besluittype add column by_url boolean not null default true;
alter table resultaattype_informatieobjecttype add column by_url boolean not null default true;
comment on column zaaktype_besluittype.by_url is 'Whether the relation names one version, by its URL.';
comment on column zaaktype_deelzaaktype.by_url is 'Whether the relation names one version, by its URL.';
comment on column zaaktype_informatieobjecttype.by_url is 'Whether the relation names one version, by its URL.';
comment on column besluittype_informatieobjecttype.by_url is 'Whether the relation names one version, by its URL.';
comment on column resultaattype_besluittype.by_url is 'Whether the relation names one version, by its URL.';
comment on column resultaattype_informatieobjecttype.by_url is 'Whether the relation names one version, by its URL.';
