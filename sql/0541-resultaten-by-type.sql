-- no-transaction
-- Resultaten of a type in the order of their list, with the case that rights look at, as statuses and rollen have it: a page is
-- found by walking the index, whatever its reader may see. It takes the place of an index that there was. An operator notices that
-- this takes some seconds with a million cases, and some 20 MB more.
drop index concurrently if exists resultaat_resultaattype_idx;
create index concurrently resultaat_resultaattype_idx on resultaat (resultaattype_id, id) include (zaak_id);
drop index concurrently if exists resultaat_resultaattype_id_idx;
