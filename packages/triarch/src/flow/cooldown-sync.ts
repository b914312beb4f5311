import { Backoff } from '../environment/backoff.ts'
import { delay, type Environment } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import { isTriarchError } from '../error/error.ts'
import { agentOfQueue } from '../store/breaker.ts'
import { type StoredRest, storedRest } from '../store/cooldown.ts'
import type { StateStore } from '../store/port.ts'

/** What begins attempts of an agent in this process. */
export interface CooledHost {
  coolDown(queue: string, until: number): void
}

export interface CooldownSyncOptions {
  environment: Environment
  store: Pick<StateStore, 'breakers' | 'writeBreaker'>
  /** The hosts of an agent in this process: of attempts that run here, and of attempts that are given to other processes. */
  hosts: (agent: string) => readonly (CooledHost | undefined)[]
  /** How long other nodes take at most until they read a new cooldown (ms). */
  poll: number
  failed: (error: unknown) => void
}

/** Rows read at a time. */
const ROWS_PER_READ = 1_000
/** Cooldowns by key of one agent that are shared; beyond, only the process that received a `Retry-After` heeds it. */
const MAX_SHARED_KEYS = 1_000
/** Lost races for one row before the write is given up: the winners wrote the same. */
const MAX_WRITE_TRIES = 3
/** The wait before a failed write is tried again: at first, and at most. */
const RETRY_AFTER_MS = 50
const MAX_RETRY_AFTER_MS = 1_000

/**
 * Shares the cooldowns (`Retry-After`) of services without a rate limit with all nodes. A row exists only while a cooldown lasts. Whether there are rows
 * is part of what a node's poll of the store answers.
 */
export class CooldownSync implements Service {
  readonly #options: CooldownSyncOptions
  #open = true
  #looking = false
  readonly #telling = new Set<Promise<void>>()
  /** Agents that have MAX_SHARED_KEYS rows, and when the first of these ends. */
  readonly #full = new Map<string, number>()

  constructor(options: CooldownSyncOptions) {
    this.#options = options
  }

  start(): void {
    // It works when `share` or `read` is called.
  }

  stop(): void {
    // Cooldowns that the last attempts receive are still written.
  }

  async drain(): Promise<void> {
    this.#open = false
    await Promise.all(this.#telling)
  }

  abandon(): void {
    this.#open = false
  }

  /** Writes that the service behind this queue asked for no more calls before `until`. */
  share(queue: string, until: number): void {
    const now = this.#options.environment.now()
    // It is over before other nodes could read it.
    if (until - now <= this.#options.poll) return
    const agent = agentOfQueue(queue)
    if (queue !== agent && now < (this.#full.get(agent) ?? 0)) return
    const told = this.#tell(queue, until).finally(() => this.#telling.delete(told))
    this.#telling.add(told)
  }

  /** Tries until the store has it, for as long as other nodes could still read it in time. */
  async #tell(queue: string, until: number): Promise<void> {
    const { environment, poll, failed } = this.#options
    const backoff = new Backoff(RETRY_AFTER_MS, MAX_RETRY_AFTER_MS)
    do {
      try {
        return await this.#write(queue, until)
      } catch (error) {
        failed(error)
        if (isTriarchError(error, 'STORE_CLOSED')) return
      }
      await delay(environment, backoff.next())
    } while (this.#open && until - environment.now() > poll)
  }

  async #write(queue: string, until: number): Promise<void> {
    const { store, poll } = this.#options
    const ref = { kind: 'rest', name: queue } as const
    const state = JSON.stringify({ format: 'rest-1', until: Math.ceil(until) } satisfies StoredRest)
    for (let tries = 0; tries < MAX_WRITE_TRIES; tries++) {
      const [row] = await store.breakers({ refs: [ref], count: 0 })
      // Attempts that run at the same time receive the same answer of their service.
      if (storedRest(row?.state ?? null) >= until - poll) return
      if (await store.writeBreaker({ ...ref, expected: row?.version ?? 0, state })) return
    }
  }

  /** Reads the cooldowns that other nodes wrote: the poll answered that there are some. */
  read(): void {
    if (this.#looking || !this.#open) return
    this.#looking = true
    void this.#read()
      .catch((error: unknown) => this.#options.failed(error))
      .finally(() => {
        this.#looking = false
      })
  }

  async #read(): Promise<void> {
    const { environment, store, hosts, poll } = this.#options
    const all = new Map<string, { keys: number; first: number }>()
    for (let after = ''; ; ) {
      const rows = await store.breakers({ kind: 'rest', after, limit: ROWS_PER_READ, count: 0 })
      for (const { name: queue, version, state } of rows) {
        const until = storedRest(state)
        const agent = agentOfQueue(queue)
        const now = environment.now()
        if (until > now) {
          for (const host of hosts(agent)) host?.coolDown(queue, until)
          const { keys, first } = all.get(agent) ?? { keys: 0, first: until }
          if (queue !== agent) all.set(agent, { keys: keys + 1, first: Math.min(first, until) })
        }
        // Every node has seen the end of it one poll later.
        else if (until + poll < now)
          await store.writeBreaker({ kind: 'rest', name: queue, expected: version, state: null })
      }
      after = rows.at(-1)?.name ?? ''
      if (rows.length < ROWS_PER_READ) break
    }
    this.#full.clear()
    for (const [agent, { keys, first }] of all) if (keys >= MAX_SHARED_KEYS) this.#full.set(agent, first)
  }
}
