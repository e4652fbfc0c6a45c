// The row that an account of the centre has among the accounts of an organisation, so that sessions, rights and records there know it
// as any other. It has no password: that, and which role it has, is in the registry (src/organisations/accounts.ts).
import type { TransactionSql } from 'postgres'
import { type Database, type Db, kyselyOn } from '../../database/database.ts'
import type { Member } from '../../organisations/accounts.ts'
import type { AuditEntry } from '../frame/change.ts'
import type { SignedIn } from './accounts.ts'

type Audit = (db: Db, record: AuditEntry) => Promise<void>
type Row = {
  id: number
  actief: boolean
  rol: string
  mayRepair: boolean
  maxVertrouwelijkheidaanduiding: string
  stamp: string | null
}

/**
 * Makes its row, or brings it to what the registry says. Sessions of before another stamp end.
 * @param audit writes the record of a row that was made or got another role, in the same transaction
 * @returns what it is here, with `actief` false when the organisation does not let it in; undefined when that has an account of its own with
 * that name
 */
export async function bringAlong(
  { sql }: Pick<Database, 'sql'>,
  member: Member,
  audit: Audit,
): Promise<(SignedIn & { actief: boolean }) | undefined> {
  const { uuid, gebruikersnaam, naam, email, membership } = member
  const { rol, mayRepair, maxVertrouwelijkheidaanduiding, stamp } = membership
  const object = { soort: 'account', id: uuid, weergave: gebruikersnaam }
  const found = (await sql.begin(async (trx) => {
    const made = await trx`
      insert into beheer_account (uuid, gebruikersnaam, naam, email, rol, may_repair, max_vertrouwelijkheidaanduiding, centre_stamp)
      values (${uuid}, ${gebruikersnaam}, ${naam}, ${email}, ${rol}, ${mayRepair}, ${maxVertrouwelijkheidaanduiding}, ${stamp})
      on conflict do nothing`
    const [row] = await trx<Row[]>`
      select id, actief, rol, may_repair as "mayRepair", max_vertrouwelijkheidaanduiding as "maxVertrouwelijkheidaanduiding",
        centre_stamp as stamp
      from beheer_account where uuid = ${uuid} and centre_stamp is not null for update`
    if (!row) return undefined
    await update(trx, row, member)
    const role = { rol, mayRepair, maxVertrouwelijkheidaanduiding }
    const before = {
      rol: row.rol,
      mayRepair: row.mayRepair,
      maxVertrouwelijkheidaanduiding: row.maxVertrouwelijkheidaanduiding,
    }
    if (made.count > 0)
      await audit(kyselyOn(trx), { handeling: 'account-maken', ...object, nieuw: { ...role, centrum: true } })
    else if (JSON.stringify(before) !== JSON.stringify(role))
      await audit(kyselyOn(trx), { handeling: 'account-wijzigen', ...object, oud: before, nieuw: role })
    return row
  })) as Row | undefined
  return found && { id: found.id, uuid, gebruikersnaam, totp: member.totp, actief: found.actief }
}

async function update(trx: TransactionSql, { id, stamp: before }: Row, member: Member): Promise<void> {
  const { naam, email, membership } = member
  const { rol, mayRepair, maxVertrouwelijkheidaanduiding, stamp } = membership
  await trx`
    update beheer_account set naam = ${naam}, email = ${email}, rol = ${rol}, may_repair = ${mayRepair},
      max_vertrouwelijkheidaanduiding = ${maxVertrouwelijkheidaanduiding}, centre_stamp = ${stamp} where id = ${id}`
  // Alerts are mailed by what stands in the row.
  if (!member.actief)
    await trx`update beheer_account set alert_kinds = default, alert_digest = default where id = ${id}`
  if (before !== stamp) await trx`delete from beheer_session where account_id = ${id}`
}

/** Removes its row, with its sessions. What it did stays in the records. */
export async function removeMirror(
  { sql }: Pick<Database, 'sql'>,
  { uuid, gebruikersnaam }: { uuid: string; gebruikersnaam: string },
  audit: Audit,
): Promise<void> {
  await sql.begin(async (trx) => {
    const { count } = await trx`delete from beheer_account where uuid = ${uuid} and centre_stamp is not null`
    if (count > 0)
      await audit(kyselyOn(trx), {
        handeling: 'account-verwijderen',
        soort: 'account',
        id: uuid,
        weergave: gebruikersnaam,
      })
  })
}
