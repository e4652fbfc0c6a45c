-- Rules of the standard, as its newest text has them, and moments as clients read them.

create or replace function message_of(n notificatie) returns json language sql stable as $$
  select json_build_object('uuid', n.uuid, 'kanaal', n.kanaal, 'hoofdObject', n.hoofd_object, 'resource', n.resource,
    'resourceUrl', n.resource_url, 'actie', n.actie, 'bron', n.bron, 'kenmerken', n.kenmerken,
    'cloudevent', n.cloudevent, 'requestId', n.request_id, 'traceparent', n.traceparent,
    'aanmaakdatum', coalesce(
      regexp_replace(regexp_replace(n.aanmaakdatum_text, '(\.\d+)', '\1000000'), '(\.\d{6})\d*', '\1'),
      to_char(n.aanmaakdatum at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))
$$;
comment on function message_of is 'A message as it goes to whoever delivers it. Its moment has six digits behind the seconds, or none where its sender gave none.';
