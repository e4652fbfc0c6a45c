// addresses: which addresses may be called is decided here, and nowhere else. Two kinds of callers ask:
// - Calls below a service that an administrator registered (`FOR_SERVICES`). A service in a private network has a private
//   address, so those are allowed.
// - Calls to an address that a client of the APIs gave (`forClients`). Only what the whole internet can reach is allowed, and
//   what ALLOWED_PRIVATE_HOSTS names; never this service itself.
// An address that a URL has in digits is judged as it stands there, a name when it is resolved for the connection: what is
// connected to is what was judged.
import { type LookupAddress, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { type Address, type Range, withoutDot } from '../config/allowed-hosts.ts'
import { type Config, otherAddresses } from '../config.ts'
import { addressOf, ownAddresses } from '../lib/own-addresses.ts'

export type AddressPolicy = {
  /** Why a URL may not be called, as far as it tells by itself; undefined: not by what it says. */
  refuses(url: URL): 'address' | 'own' | undefined
  /** Resolves a name for a connection, to those of its addresses that may be called. */
  lookup: LookupFunction
}

type Judge = (address: Address, name?: string) => boolean

// Where a machine talks to its own host or hypervisor, or what is no address of a single machine. No setting allows these.
const NEVER = [
  '0.0.0.0/8',
  '100.100.100.200/32', // metadata of clouds, as are the next two
  '169.254.169.254/32',
  '169.254.170.2/32',
  '192.0.0.0/24',
  '224.0.0.0/3',
  '::/128',
  'ff00::/8',
  'fd00:ec2::254/128',
  '64:ff9b:1::/48', // NAT64 within a network: where it leads is not known here
].map((text) => ipaddr.parseCIDR(text))
const GLOBAL_V6: Range = ipaddr.parseCIDR('2000::/3')

const isLinkLocal = (address: Address): boolean => address.range() === 'linkLocal'
const isIn = (address: Address, range: Range): boolean => address.kind() === range[0].kind() && address.match(range)

/** For calls below a service that an administrator registered. */
export const FOR_SERVICES: AddressPolicy = policy((address) => !isLinkLocal(address))

/** For calls to an address that a client gave. The settings of the moment count. */
export function forClients(config: Config): AddressPolicy {
  const judged = policy((address, name) => {
    const { names, ranges } = config.allowedPrivateHosts
    if (ranges.some((range) => isIn(address, range) && (!isLinkLocal(address) || isLinkLocal(range[0])))) return true
    if (isLinkLocal(address)) return false
    if (name !== undefined && isNamed(name, names)) return true
    return address.range() === 'unicast' && (address.kind() === 'ipv4' || isIn(address, GLOBAL_V6))
  })
  return {
    lookup: judged.lookup,
    refuses: (url) => judged.refuses(url) ?? (isOwn(url, config) ? 'own' : undefined),
  }
}

function policy(allows: Judge): AddressPolicy {
  const judge = (text: string, name?: string): boolean => {
    if (!ipaddr.isValid(text)) return false
    const address = withinV6(ipaddr.process(text))
    return !NEVER.some((range) => isIn(address, range)) && allows(address, name)
  }
  return {
    refuses(url) {
      const host = hostOf(url)
      // Every resolver should say so; one that a proxy asks is not ours.
      const texts = isLocalhost(host) ? ['127.0.0.1', '::1'] : isIP(host) ? [host] : []
      return texts.length > 0 && !texts.some((text) => judge(text, host)) ? 'address' : undefined
    },
    lookup(hostname, options, callback) {
      lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
        if (error) return callback(error, '', 0)
        const name = withoutDot(hostname)
        const allowed = addresses.filter(({ address }) => judge(address, name))
        const [first] = allowed
        if (!first) callback(blocked(), '', 0)
        else if (options.all) callback(null, allowed)
        else callback(null, first.address, first.family)
      })
    },
  }
}

/** The first address at which a host is called. @throws what `failureKind` understands, also when it may not be called */
export async function allowedAddress(policy: AddressPolicy, host: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  policy.lookup(host, {}, (error, address) => (error ? reject(error) : resolve(address as string)))
  return promise
}

/** What a call to an address that may not be called fails with: `failureKind` says `blocked`. */
export function blocked(): Error {
  return Object.assign(new Error('this address may not be called'), { code: 'BLOCKED_ADDRESS' })
}

/** An IPv4 address that stands within one of IPv6 (6to4, NAT64, translated, compatible), or the address itself. */
function withinV6(address: Address): Address {
  if (address.kind() === 'ipv4') return address
  const bytes = address.toByteArray()
  const v4 = (from: number) => new ipaddr.IPv4(bytes.slice(from, from + 4))
  const range = address.range()
  if (range === '6to4') return v4(2)
  if (range === 'rfc6052' || range === 'rfc6145') return v4(12)
  const isCompatible = bytes.slice(0, 12).every((byte) => byte === 0) && bytes.slice(12, 15).some((byte) => byte !== 0)
  return isCompatible ? v4(12) : address
}

function isOwn(url: URL, config: Config): boolean {
  const named = [...(config.publicUrl ? [config.publicUrl] : []), ...otherAddresses(config)]
  if (addressOf(url, ownAddresses('', named))) return true
  // Where this process listens, by any of the addresses of its machine.
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const host = hostOf(url)
  if (port !== config.port) return false
  if (isLocalhost(host) || host === withoutDot(config.host)) return true
  if (!ipaddr.isValid(host)) return false
  const address = withinV6(ipaddr.process(host))
  const machine = Object.values(networkInterfaces()).flatMap((all) => all?.map((one) => one.address) ?? [])
  return (
    address.range() === 'loopback' || machine.some((one) => withinV6(ipaddr.process(one)).toString() === `${address}`)
  )
}

const hostOf = (url: URL): string => withoutDot(url.hostname.replace(/^\[|\]$/g, ''))
const isLocalhost = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost')
const isNamed = (host: string, names: readonly string[]): boolean =>
  names.some((name) => (name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name))
