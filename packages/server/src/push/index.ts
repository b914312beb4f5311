/** Agents that are only a URL. */

export type { OutboundOptions } from '../outbound/outbound.ts'
export {
  type HttpActionOptions,
  type HttpAgent,
  type HttpAgentOptions,
  httpAgent,
  type InputOf,
  type OutputOf,
} from './http-agent.ts'
