import { TriarchError } from '../error/error.ts'
import { milliseconds } from '../value/duration.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'
import type { ConnectAgentsOptions, ConnectedAgents } from './connection.ts'
import { Exchange } from './exchange.ts'

/**
 * Hosts agents in a process that has neither a store nor its credentials: attempts come from a server, and replies go to it, over HTTP.
 * With several URLs, the next one is used when one fails; running attempts go on and are answered there. Throws UNKNOWN_OPTION,
 * INVALID_OPTION.
 * @example
 * const payments = agent('payments')
 * payments.action('charge', { run: (order: { amount: number }) => api.charge(order) })
 * const connection = connectAgents('https://example.com', { token: 's3cret', agents: [payments] })
 */
export function connectAgents(url: string | readonly string[], options: ConnectAgentsOptions): ConnectedAgents {
  const urls = typeof url === 'string' ? [url] : [...url]
  const known = [
    'token',
    'insecure',
    'agents',
    'middleware',
    'threads',
    'grace',
    'onError',
    'fetch',
    'webSocket',
    'environment',
  ] as const
  checkOptions('connectAgents', options, known)
  if (urls.length === 0 || !urls.every((it) => /^https?:\/\//.test(it) && URL.canParse(it)))
    throw new TriarchError('INVALID_OPTION', 'connectAgents: give the URL of a server, such as "https://example.com"')
  const { token, insecure = false } = options
  if (typeof insecure !== 'boolean')
    throw new TriarchError('INVALID_OPTION', 'connectAgents: insecure must be true or false')
  if (token !== undefined && !insecure && urls.some(isReadable))
    throw new TriarchError(
      'INVALID_OPTION',
      'connectAgents: the token would go to another machine over http:, where everybody on the way can read it: use https:, or say `insecure: true`',
    )
  if (!Array.isArray(options.agents) || options.agents.length === 0)
    throw new TriarchError('INVALID_OPTION', 'connectAgents: agents must be a list of what agent() returned')
  if (new Set(options.agents.map(({ name }) => name)).size < options.agents.length)
    throw new TriarchError('DUPLICATE_DEFINITION', 'connectAgents: an agent is given twice')
  const parted = options.agents.find(({ pools }) => pools !== undefined)
  if (parted)
    throw new TriarchError(
      'INVALID_OPTION',
      `connectAgents: agent "${parted.name}": pools are of processes that have a store, for servers give away slots, and not priorities`,
    )
  if (options.onError !== undefined) checkFunction('connectAgents: onError', options.onError)
  if (options.threads !== undefined) checkInteger('connectAgents: threads', options.threads, 1, 1_000)
  milliseconds(options.grace ?? '10s', 'connectAgents: grace')
  if (!['undefined', 'boolean', 'function'].includes(typeof options.webSocket))
    throw new TriarchError('INVALID_OPTION', 'connectAgents: webSocket must be a boolean, or a class of WebSocket')
  return new Exchange(urls, options)
}

/** Whether what is sent there can be read by others than this machine. */
function isReadable(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}
