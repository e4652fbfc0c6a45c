-- The pages find cases by an index of number and description together (0290); lists of the API use the same one, so that a case
-- is not indexed twice. And documents are ordered by the name of their confidentiality by an index: the name itself is no part of
-- one, because PostgreSQL lets names be changed. An operator notices that writing of documents waits a second with a million.
drop index if exists zaak_deel_van_tekst;

create function plaats_in_alfabet(vertrouwelijkheidaanduiding) returns smallint language sql immutable parallel safe as $$
  select case $1
    when 'beperkt_openbaar' then 1 when 'confidentieel' then 2 when 'geheim' then 3 when 'intern' then 4
    when 'openbaar' then 5 when 'vertrouwelijk' then 6 when 'zaakvertrouwelijk' then 7 else 8 end::smallint
$$;
comment on function plaats_in_alfabet is 'The order of the names of confidentiality, which existing clients know.';
create index enkelvoudiginformatieobject_plaats_in_alfabet_id_idx
  on enkelvoudiginformatieobject (plaats_in_alfabet(vertrouwelijkheidaanduiding), id);
