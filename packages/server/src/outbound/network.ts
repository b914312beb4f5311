import { BlockList, isIP } from 'node:net'
import { TriarchError } from 'triarch'

/** What is not of the public internet: IANA's special-purpose registry for IPv4. */
const special = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
]
/** Public by its number, and answered inside of Azure alone: its wire server, which hands out configuration and keys of the machine. */
const cloud = ['168.63.129.16/32']
/** All of IPv6 that is given to anybody is in here … */
const global = ['2000::/3']
/** … but for documentation, and for tunnels, whose addresses lead to those of IPv4. */
const tunnels = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const forbidden = listOf([...special, ...cloud, ...tunnels])
const known = listOf(global)

/** The networks that may be called besides the public internet. */
export class Networks {
  readonly #allowed: BlockList

  /** Throws INVALID_OPTION. */
  constructor(allowed: readonly string[]) {
    this.#allowed = listOf(allowed)
  }

  /** Whether the address, as DNS or a socket gives it, may be connected to. */
  allow(address: string): boolean {
    const plain = plainOf(address)
    const version = isIP(plain)
    if (version === 0) return false
    const family = version === 6 ? 'ipv6' : 'ipv4'
    if (this.#allowed.check(plain, family)) return true
    return !forbidden.check(plain, family) && (version === 4 || known.check(plain, family))
  }
}

/** An address of IPv4 that is written as one of IPv6 is the former; a zone is no part of it. */
function plainOf(address: string): string {
  const [bare = ''] = address.split('%')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)
  return mapped?.[1] ?? bare
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [, address = '', prefix] = /^([\d.:a-f]+)(?:\/(\d{1,3}))?$/i.exec(network) ?? []
    const version = isIP(address)
    const bits = version === 6 ? 128 : 32
    const length = prefix === undefined ? bits : Number(prefix)
    if (version === 0 || length > bits)
      throw new TriarchError(
        'INVALID_OPTION',
        `outbound.allow: "${String(network).slice(0, 100)}" is not a network such as "10.1.0.0/16"`,
      )
    list.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}
