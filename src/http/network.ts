// network: which addresses are one client.
import { isIPv6 } from 'node:net'

/** What counts as one client: an IPv4 address; of IPv6 the /64, which is one subscriber. */
export function networkOf(remoteAddress = ''): string {
  const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/, '')
  return isIPv6(address) ? expanded(address).slice(0, 4).join(':') : address
}

function expanded(address: string): string[] {
  const [before = '', after] = address.split('::')
  const head = before === '' ? [] : before.split(':')
  const tail = after ? after.split(':') : []
  return after === undefined
    ? head
    : [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => '0'), ...tail]
}
