// allowed-hosts: what ALLOWED_PRIVATE_HOSTS names. What follows from it for a call is decided in services/addresses.ts.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6
/** An address and how many of its first bits count. */
export type Range = [Address, number]
/** Names are in lower case and without a dot at the end; `*.` and a domain are all names below it. */
export type AllowedHosts = { names: string[]; ranges: Range[] }

/** Reads names of hosts, `*.` with a domain, addresses and ranges (CIDR). Undefined when one is none of these. */
export function readAllowedHosts(given: readonly string[]): AllowedHosts | undefined {
  const names: string[] = []
  const ranges: Range[] = []
  for (const one of given) {
    const text = one.replace(/^\[|\]$/g, '')
    if (ipaddr.isValidCIDR(text)) ranges.push(ipaddr.parseCIDR(text))
    else if (isIP(text)) ranges.push(ipaddr.parseCIDR(`${text}/${isIP(text) === 6 ? 128 : 32}`))
    else if (/^(\*\.)?[a-z0-9_]([-a-z0-9_.]*[a-z0-9_])?\.?$/i.test(text) && !/^[\d.]+$/.test(text))
      names.push(withoutDot(text))
    else return undefined
  }
  return { names, ranges }
}

/** The name of a host, perhaps with a port, as all its spellings have it. */
export const withoutDot = (host: string): string => host.toLowerCase().replace(/\.(?=$|:\d+$)/, '')
