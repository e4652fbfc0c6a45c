// Kept counts held against what is there.
import type postgres from 'postgres'

/**
 * Where they differ: `kept` of a table …_count and `there` of what that counts, per combination of what it counts by. All in one statement,
 * so that others may write meanwhile.
 */
export async function wrongCounts(sql: postgres.Sql | postgres.TransactionSql): Promise<Wrong[]> {
  return [
    ...(await sql<Wrong[]>`
      with kept as (
        select 'zaak' as of, jsonb_build_array(zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, bronorganisatie,
          archiefnominatie, archiefstatus, einddatum is null, archiefactiedatum is null) as by, sum(count)::int as n
        from zaak_count group by 2
        union all
        select kind, jsonb_build_array(groep, type_id, type_url, omschrijving, betrokkene_type, indicatie_machtiging,
          zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding), sum(count)::int
        from zaak_part_count group by 1, 2
        union all
        select 'besluit', jsonb_build_array(besluittype_id, besluittype_url, verantwoordelijke_organisatie), sum(count)::int
        from besluit_count group by 2
        union all
        select 'document', jsonb_build_array(informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding,
          bronorganisatie, is_gereed_voor_publicatie), sum(count)::int
        from enkelvoudiginformatieobject_count group by 2
        union all
        select 'file', jsonb_build_array(backend), sum(count)::int from file_count group by 2
      ), parts as (
        select 'status' as of, zaak_id, case when exists (select from status o where o.zaak_id = s.zaak_id
            and o.datum_status_gezet > s.datum_status_gezet) then 'eerder' else 'laatst' end as groep,
          statustype_id as type_id, statustype_url as type_url, '' as omschrijving, '' as betrokkene, '' as machtiging
        from status s
        union all select 'rol', zaak_id, omschrijving_generiek, roltype_id, roltype_url, omschrijving, betrokkene_type, indicatie_machtiging
        from rol
        union all select distinct 'rol.omschrijving_generiek', zaak_id, omschrijving_generiek, null::bigint, null, '', '', '' from rol
        union all select distinct 'rol.betrokkene_type', zaak_id, betrokkene_type, null::bigint, null, '', '', '' from rol
        union all select distinct 'rol.indicatie_machtiging', zaak_id, indicatie_machtiging, null::bigint, null, '', '', '' from rol
        union all select 'resultaat', zaak_id, '', resultaattype_id, resultaattype_url, '', '', '' from resultaat
        union all select 'zaakobject', zaak_id, object_type, null, null, '', '', '' from zaakobject
        union all select 'substatus', zaak_id, '', null, null, '', '', '' from substatus
        union all select 'klantcontact', zaak_id, '', null, null, '', '', '' from klantcontact
        union all select 'zaaknotitie', zaak_id, '', null, null, '', '', '' from zaaknotitie
      ), there as (
        select 'zaak' as of, jsonb_build_array(zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, bronorganisatie,
          archiefnominatie, archiefstatus, einddatum is null, archiefactiedatum is null) as by, count(*)::int as n
        from zaak group by 2
        union all
        select p.of, jsonb_build_array(p.groep, p.type_id, p.type_url, p.omschrijving, p.betrokkene, p.machtiging,
          z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding), count(*)::int
        from parts p join zaak z on z.id = p.zaak_id group by 1, 2
        union all
        select 'besluit', jsonb_build_array(besluittype_id, besluittype_url, verantwoordelijke_organisatie), count(*)::int
        from besluit group by 2
        union all
        select 'document', jsonb_build_array(informatieobjecttype_id, informatieobjecttype_url, vertrouwelijkheidaanduiding,
          bronorganisatie, is_gereed_voor_publicatie), count(*)::int
        from enkelvoudiginformatieobject group by 2
        union all
        select 'file', jsonb_build_array(backend), sum(size)::int from file group by 2
      )
      select coalesce(k.of, t.of) as of, coalesce(k.by, t.by) as by, coalesce(k.n, 0) as kept, coalesce(t.n, 0) as there
      from kept k full join there t on t.of = k.of and t.by = k.by
      where coalesce(k.n, 0) <> coalesce(t.n, 0) order by 1, 2`),
  ]
}

export type Wrong = { of: string; by: unknown[]; kept: number; there: number }
