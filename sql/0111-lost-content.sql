-- Content of which the bytes are gone from the store is our loss: an operator has to hear of it, not only the client that asked.
-- No rewrite of the table; the index holds nothing as long as nothing is lost.

alter table bestand add column vermist_sinds timestamptz;
comment on column bestand.vermist_sinds is 'When its bytes were first not found in the store; empty: they were there when last asked for.';
create index bestand_vermist on bestand (vermist_sinds) where vermist_sinds is not null;
