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

-- What somebody decided of archiving stays when it is derived again: a paragraph of the law is not lost by a typo that is mended.
create table archive_by_hand (
  zaak_id bigint not null references zaak on delete cascade,
  field text not null constraint archive_by_hand_field_check
    check (field in ('archiefnominatie', 'archiefactiedatum', 'startdatum_bewaartermijn')),
  set_by text not null, set_at timestamptz not null default clock_timestamp(),
  constraint archive_by_hand_pkey primary key (zaak_id, field)
);
select describe('archive_by_hand', 'Fields of archiving that somebody set. The others are derived from the resultaattype and what it counts from.',
  'zaak_id', 'The case.', 'field', 'Column of table zaak.', 'set_by', 'Who set it, as the audit trail names him.', 'set_at', 'When.');

-- What a service before had, or ours before it was kept where a field comes from: what is not as the outcome says was decided by somebody.
create function keep_decided_archiving(p_takeover bigint, p_set_by text) returns void language sql as $$
  insert into archive_by_hand (zaak_id, field, set_by)
  select z.id, f.field, p_set_by from zaak z left join resultaat_archiving r on r.zaak_id = z.id
  cross join lateral (values ('archiefnominatie', z.archiefnominatie), ('archiefactiedatum', z.archiefactiedatum::text),
    ('startdatum_bewaartermijn', z.startdatum_bewaartermijn::text)) f(field, value)
  where f.value is not null
    and (z.einddatum is null or f.field <> 'startdatum_bewaartermijn' and z.archiefnominatie <> r.archiefnominatie)
    and (p_takeover is null or exists (
      select from takeover_object o where o.takeover_id = p_takeover and o.kind = 'zaak' and o.uuid = z.uuid))
  on conflict do nothing
$$;
comment on function keep_decided_archiving is 'Notes what of archiving is not as the outcome of its case says, of a takeover or of all cases.';
select keep_decided_archiving(null, '');

-- What descriptions of types ask before a status or a resultaat. A document counts in whatever version of its type.
create function documents_lacking(p_zaak bigint, p_types bigint[]) returns setof text language sql stable as $$
  select 'document ' || i.omschrijving from informatieobjecttype i
  where i.id = any(p_types) and not exists (
    select from zaakinformatieobject x
    join enkelvoudiginformatieobject d on d.id = x.enkelvoudiginformatieobject_id
    join informatieobjecttype y on y.id = d.informatieobjecttype_id
    where x.zaak_id = p_zaak and y.catalogus_id = i.catalogus_id and y.omschrijving = i.omschrijving)
$$;
comment on function documents_lacking is 'Which of these types of documents a case has none of, in words.';

create function lacking_for_status(p_zaak bigint, p_statustype bigint) returns text[] language sql stable as $$
  select array(
    select 'eigenschap ' || e.naam from eigenschap e
    where e.statustype_id = p_statustype and not exists (
      select from zaakeigenschap x where x.zaak_id = p_zaak and x.eigenschap_id = e.id and x.waarde <> '')
    union select documents_lacking(p_zaak, array(
      select informatieobjecttype_id from zaaktype_informatieobjecttype where statustype_id = p_statustype))
    order by 1)
$$;
comment on function lacking_for_status is 'What a case lacks that its type asks before this status, in words; nothing without a type of ours.';

create function lacking_for_resultaat(p_zaak bigint, p_resultaattype bigint) returns text[] language sql stable as $$
  select array(
    select documents_lacking(p_zaak, array(
      select informatieobjecttype_id from resultaattype_informatieobjecttype where resultaattype_id = p_resultaattype))
    order by 1)
$$;
comment on function lacking_for_resultaat is 'The same before a resultaat.';

-- Processes that run tell their settings, so that those that differ say so.
create table process_setting (
  id uuid primary key, role text not null, host text not null, pid integer not null,
  settings jsonb not null, fixed text[] not null, seen_at timestamptz not null default now()
);
select describe('process_setting', 'Settings of the processes that run, of what all of them have to have alike.',
  'id', 'Id of the process, new at each start.', 'role', 'What it was started as: api, worker or start.',
  'host', 'Name of its machine or container.', 'pid', 'Process id on that machine.',
  'settings', 'Values by the name of the setting; a secret as a fingerprint of it.',
  'fixed', 'Settings of the pages that its environment fixes.', 'seen_at', 'Its last sign of life.');
