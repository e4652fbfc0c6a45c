-- A message keeps the trace context of the request that it came from (W3C traceparent), so that its delivery belongs to the same trace.
-- Empty unless traces are on. An operator notices nothing: a column without a default is added at once.
alter table notificatie add column traceparent text;
comment on column notificatie.traceparent is 'Trace context of the request that the message came from; empty: it was not traced.';

-- The claim gives it with the message.
do $$
declare
  claim regprocedure;
begin
  select oid into strict claim from pg_proc
    where proname = 'claim_deliveries' and pronamespace = current_schema()::regnamespace and prosrc like '%n.verzoek_id,%';
  execute replace(pg_get_functiondef(claim), '''verzoekId'', n.verzoek_id,',
    '''verzoekId'', n.verzoek_id, ''traceparent'', n.traceparent,');
end $$;
