import type { Agent } from '../definition/definition.ts'
import type { Middleware } from '../definition/middleware.ts'
import type { Environment } from '../environment/environment.ts'
import type { Duration } from '../value/duration.ts'

/**
 * How a process hosts agents without a store.
 * @example const options: ConnectAgentsOptions = { token: 's3cret', agents: [payments] }
 */
export interface ConnectAgentsOptions {
  /** The bearer token for the server's `authenticate`; none by default. */
  token?: string
  /** Allows sending the token over http to other machines, where it can be read on the way; false by default. */
  insecure?: boolean
  /** The agents that it hosts. */
  agents: readonly Agent[]
  /** Middleware around every attempt here; none by default. */
  middleware?: readonly Middleware[]
  /** Most threads for actions that run in `thread`; by default the number of cores. */
  threads?: number
  /** How long running attempts may go on after close(): '10s'. */
  grace?: Duration
  /** Called with connection errors, after which the connection is retried; by default they become process warnings. */
  onError?: (error: unknown) => void
  /** The function that sends requests, which are then plain HTTP; the global one by default. */
  fetch?: typeof fetch
  /**
   * True: one WebSocket carries all messages, for low latency; if a server or proxy does not support it, plain requests are used. False:
   * only plain requests. A class: as true, with sockets of this class. True by default, unless `fetch` is given.
   */
  webSocket?: boolean | typeof WebSocket
  /** Clock, timers, ids and randomness; the real ones by default. */
  environment?: Environment
}

/**
 * Agents hosted in this process for remote servers.
 * @example
 * const connection = connectAgents('https://example.com', { token: 's3cret', agents: [payments] })
 * await connection.connected
 * await connection.close({ grace: '30s' })
 */
export interface ConnectedAgents extends AsyncDisposable {
  /** Resolves when a server has accepted them for the first time. Rejects if they are closed before. */
  readonly connected: Promise<void>
  /**
   * Takes no more attempts, lets running ones finish for `grace`, reports how they ended, and leaves.
   * @example await connection.close()
   */
  close(options?: { grace?: Duration }): Promise<void>
}
