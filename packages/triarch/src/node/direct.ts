import type { PeerPlace } from '../agent/peer.ts'
import { TriarchError } from '../error/error.ts'
import { checkInteger, checkOptions } from '../value/options.ts'

/**
 * Where a scheduler listens for nodes that have agents.
 * @example const direct: DirectOptions = { host: '0.0.0.0', port: 7411, advertise: 'orders-1.internal' }
 */
export interface DirectOptions {
  /**
   * The address of this machine on which it listens; '0.0.0.0' or '::': all of them. Default: '127.0.0.1', which only this machine
   * reaches.
   */
  host?: string
  /** The port: 0 to 65,535; 0 (default) picks a free one. */
  port?: number
  /** The name or address under which others reach it. Default: `host`, which must not stand for all addresses then. */
  advertise?: string
}

const everywhere: readonly string[] = ['0.0.0.0', '::']

/** Null if direct dispatch is not requested. Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function directOf(given: boolean | DirectOptions = false): PeerPlace | null {
  if (given === false) return null
  const options = given === true ? {} : given
  checkOptions('Triarch: direct', options, ['host', 'port', 'advertise'])
  const { host = '127.0.0.1', port = 0, advertise = host } = options
  for (const [name, text] of Object.entries({ host, advertise })) {
    if (typeof text !== 'string' || text === '' || /[\s/]/.test(text))
      throw new TriarchError(
        'INVALID_OPTION',
        `Triarch: direct.${name} must be a name or an address, such as "10.0.0.5"`,
      )
  }
  if (everywhere.includes(advertise))
    throw new TriarchError(
      'INVALID_OPTION',
      `Triarch: direct.advertise must say how others reach this node, which "${advertise}" does not`,
    )
  return { host, port: checkInteger('Triarch: direct.port', port, 0, 65_535), advertise }
}
