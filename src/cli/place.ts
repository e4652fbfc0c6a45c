// Where a command works: which database, of which organisation.
import type { Config } from '../config.ts'
import { addressOf, hostName, hostUrls } from '../database/address.ts'
import { schemasOf } from '../database/schema.ts'

export type Place = {
  database: string
  /** Host and port of each server, or the path of a socket. */
  hosts: string[]
  schema: string
  /** The directory of the embedded database. */
  dataDir?: string
  /** RSIN. */
  organisation?: string
}

/** @param url of the database, which for the embedded one is not in the configuration */
export function placeOf({ databaseUrl, dataDir, organisation }: Config, url: string): Place {
  const { database, user } = addressOf(url)
  return {
    database: database ?? user ?? '',
    hosts: hostUrls(url).map(hostName),
    schema: schemasOf(url).own,
    ...(!databaseUrl && { dataDir }),
    ...(organisation && { organisation }),
  }
}

/** For people: `database zaken at db.example:5432, schema zaakstroom, organisation 001234567`. */
export function describePlace({ database, hosts, schema, dataDir, organisation }: Place): string {
  const where =
    dataDir === undefined ? `database ${database} at ${hosts.join(', ')}` : `the embedded database in ${dataDir}`
  return [where, `schema ${schema}`, ...(organisation ? [`organisation ${organisation}`] : [])].join(', ')
}
