import { Candidate, type LeadOptions } from '../node/candidate.ts'
import type { Leadership } from '../node/term.ts'
import { type NamedPage, namedPage } from '../view/inventory.ts'
import { type LeaderPage, leaderPage } from '../view/leader.ts'
import type { Connection } from './connection.ts'

/**
 * The leaderships.
 * @example const { leaders }: LeaderPage = await triarch.leaders.list()
 */
export interface LeaderCollection {
  /**
   * Leaderships by name, present and past: the leading node, and the token; a page at a time. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example for (const { name, node } of (await triarch.leaders.list()).leaders) console.log(name, node)
   */
  list(options?: NamedPage): Promise<LeaderPage>
}

/**
 * The leaderships, seen from a process that can lead.
 * @example const leaders: EngineLeaders = triarch.leaders
 */
export interface EngineLeaders extends LeaderCollection {
  /**
   * Lets this process lead under a name, as soon as no other process does: one process leads at a time. The function is called when this
   * process leads, and again each time it has lost the leadership and regained it; the process leads until the function ends. Resolves to
   * what the function returned; rejects with what it threw, unless `retry` is given; resolves to undefined if `signal` or `stop()` came
   * first. The process takes part once it has started, whatever its roles. Throws INVALID_NAME, INVALID_OPTION, UNKNOWN_OPTION,
   * NODE_STOPPED.
   * @example
   * const exporting = triarch.leaders.lead('exporter', async ({ signal, token }) => {
   *   while (!signal.aborted) await api.send(`page ${token}`, signal)
   * })
   */
  lead<T>(name: string, run: (leadership: Leadership) => T | Promise<T>, options?: LeadOptions): Promise<T | undefined>
}

interface LeadersDeps {
  connection: Connection
  candidates: Set<Candidate>
  failed: (error: unknown) => void
  /** Throws if this process has begun to stop. */
  checkRunning: () => void
  /** Called when a candidate of this process stands, or has ended its term. */
  stood: () => void
}

/** The leaderships in the store, and the candidates of this process. */
export class StoredLeaders implements EngineLeaders {
  readonly #means: LeadersDeps

  constructor(means: LeadersDeps) {
    this.#means = means
  }

  async list(options: NamedPage = {}): Promise<LeaderPage> {
    const page = namedPage('leaders.list', options)
    await this.#means.connection.opened()
    return leaderPage(this.#means.connection.store, page)
  }

  async lead<T>(
    name: string,
    run: (leadership: Leadership) => T | Promise<T>,
    options: LeadOptions = {},
  ): Promise<T | undefined> {
    const { connection, candidates, failed, checkRunning, stood } = this.#means
    checkRunning()
    const candidate = new Candidate(connection.environment, { failed, ended: stood }, name, run, options)
    candidates.add(candidate)
    stood()
    try {
      return (await candidate.result) as T | undefined
    } finally {
      candidates.delete(candidate)
    }
  }
}
