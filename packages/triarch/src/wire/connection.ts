import type { Agent } from '../definition/definition.ts'
import type { Middleware } from '../definition/middleware.ts'
import type { Environment } from '../environment/environment.ts'
import type { Duration } from '../value/duration.ts'

/**
 * How a process hosts agents without a store.
 * @example const options: ConnectAgentsOptions = { token: 's3cret', agents: [payments] }
 */
export interface ConnectAgentsOptions {
  /** What the server's `authenticate` asks for, sent as a bearer token; none. */
  token?: string
  /** The token may go over http: to other machines than this one, where everybody on the way can read it; false. */
  insecure?: boolean
  /** Those that it hosts. */
  agents: readonly Agent[]
  /** Around every attempt here; none. */
  middleware?: readonly Middleware[]
  /** Most threads for actions that run in `thread`: as many as the machine has cores. */
  threads?: number
  /** How long running attempts may go on after close(): '10s'. */
  grace?: Duration
  /** Hears of trouble with the connection, which is tried again; a process warning when not given. */
  onError?: (error: unknown) => void
  /** How requests are sent, which are plain ones then; the global one. */
  fetch?: typeof fetch
  /**
   * True: one WebSocket carries what is said, for low latency; where a server, or what stands before it, takes none, plain requests do. False: plain
   * requests alone. A class: true, by sockets of this kind, of a proxy say. True, unless `fetch` is given.
   */
  webSocket?: boolean | typeof WebSocket
  /** Clock, timers, ids and randomness; the real ones when not given. */
  environment?: Environment
}

/**
 * Agents that are hosted here for servers elsewhere.
 * @example
 * const connection = connectAgents('https://example.com', { token: 's3cret', agents: [payments] })
 * await connection.connected
 * await connection.close({ grace: '30s' })
 */
export interface ConnectedAgents extends AsyncDisposable {
  /** Resolves when a server took them for the first time. Rejects where they were closed before. */
  readonly connected: Promise<void>
  /**
   * Takes no more attempts, lets those that run finish for `grace`, says how they ended, and leaves.
   * @example await connection.close()
   */
  close(options?: { grace?: Duration }): Promise<void>
}
