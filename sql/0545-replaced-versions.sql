-- no-transaction
-- Documents with more than one version: a list that is filtered by versions alone counts all versions that fit, less those that
-- were replaced. An operator notices that this takes a second with a million documents. A new document has no entry in it.
drop index concurrently if exists enkelvoudiginformatieobject_meer_versies_idx;
create index concurrently enkelvoudiginformatieobject_meer_versies_idx on enkelvoudiginformatieobject (id) where versie > 1;
