// network: which addresses are one client.
import { BlockList, isIPv6 } from 'node:net'

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

/** Addresses and ranges (CIDR), such as those of TRUST_PROXY. */
export function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address, bits] = range.split('/') as [string, string | undefined]
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

/** Whether a connection comes from one of them. */
export function isListed(list: BlockList, address = ''): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '')
  return plain !== '' && list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
}
