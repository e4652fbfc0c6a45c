-- The log of processing is sent without a transaction: who sends holds a lease. What a collector refuses for good is set aside, so that
-- one line does not hold up all others. An operator sees a table more, and `select send_lines_again()` once the collector takes them.

create table verwerking_lease (
  id boolean constraint verwerking_lease_pkey primary key default true constraint verwerking_lease_id_check check (id),
  holder uuid not null, until timestamptz not null
);
select describe('verwerking_lease', 'The process that sends lines of the log of processing now.',
  'id', 'There is one row at most.', 'holder', 'The portion that is being sent.', 'until', 'When another process may go on.');

create table verwerking_aside (
  id bigint constraint verwerking_aside_pkey primary key, reason text not null, at timestamptz not null default now()
);
select describe('verwerking_aside', 'Lines of `verwerking` that the collector refused, each by itself; they stay until send_lines_again().',
  'id', 'The line.', 'reason', 'What the collector said.', 'at', 'When it refused.');

create function send_lines_again() returns bigint language sql as $$
  with again as (delete from verwerking_aside returning id),
  spooled as (insert into verwerking_spool select id, id from again on conflict do nothing)
  select count(*) from again
$$;
comment on function send_lines_again is 'Sends the lines that were set aside once more. Returns how many.';

-- An organisation that is represented is not a person: its number is told with its kind. A rol that came later was not looked at.
drop function persons_of(uuid[], uuid[]);
create function persons_of(zaken uuid[], rollen uuid[])
returns table (zaak uuid, rol uuid, since timestamptz, lookup bytea, person jsonb)
language sql stable as $$
  with involved as (
    select z.uuid as zaak, r.uuid as rol, r.registratiedatum as since,
      coalesce(r.inp_bsn_lookup, r.anp_identificatie_lookup, r.inp_a_nummer_lookup) as lookup,
      r.betrokkene_identificatie as person, r.authenticatie_context -> 'representee' as representee
    from rol r join zaak z on z.id = r.zaak_id
    where r.id = any(array(select q.id from zaak y join rol q on q.zaak_id = y.id where y.uuid = any(zaken)
        union all select id from rol where uuid = any(rollen)))
      and (r.inp_bsn_lookup is not null or r.anp_identificatie_lookup is not null or r.inp_a_nummer_lookup is not null
        or r.authenticatie_context is not null)
  )
  select zaak, rol, since, lookup, jsonb_build_object('inpBsn', nullif(person -> 'inpBsn', '""'), 'anpIdentificatie', nullif(person -> 'anpIdentificatie', '""'),
      'inpA_nummer', nullif(person -> 'inpA_nummer', '""')) from involved where lookup is not null
  union all select zaak, rol, since, null, jsonb_build_object('identifier', representee -> 'identifier', 'identifierType', representee -> 'identifierType')
    from involved where representee ->> 'identifier' <> ''
  union all select z.uuid, null, null, null, jsonb_strip_nulls(jsonb_build_object(
      'inpBsn', nullif(o.person -> 'inpBsn', '""'), 'anpIdentificatie', nullif(o.person -> 'anpIdentificatie', '""'),
      'inpA_nummer', nullif(o.person -> 'inpA_nummer', '""')))
    from zaak z join zaakobject q on q.zaak_id = z.id
      cross join lateral (select q.object_identificatie as person
        union all select q.object_identificatie -> 'heeftAlsGerechtigde' -> 'natuurlijkPersoon') o
    where z.uuid = any(zaken) and (o.person ->> 'inpBsn' <> '' or o.person ->> 'anpIdentificatie' <> '' or o.person ->> 'inpA_nummer' <> '')
$$;
comment on function persons_of is 'Who is involved in these cases, and who these rollen are, since when; `lookup` is empty for those that nobody is found by.';
