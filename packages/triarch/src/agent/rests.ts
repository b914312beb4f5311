import { Backoff } from '../environment/backoff.ts'
import { delay, type Environment } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import { isTriarchError } from '../error/error.ts'
import { agentOfQueue } from '../store/breaker.ts'
import type { StateStore } from '../store/port.ts'
import { type StoredRest, storedRest } from '../store/rest.ts'
import type { AgentHost } from './host.ts'

export interface RestsOptions {
  environment: Environment
  store: Pick<StateStore, 'breakers' | 'writeBreaker'>
  /** By agents: those that take attempts here, and those that others take for them. */
  hosts: (agent: string) => readonly (AgentHost | undefined)[]
  /** After how long others hear of it (ms). */
  poll: number
  failed: (error: unknown) => void
}

/** Rows of one reading: there is one for each service that rests. */
const PAGE = 1_000
/** Keys of one agent whose rests all nodes share: what others ask for then, only the process that heard it heeds. */
const MOST_SHARED = 1_000
/** Others were quicker so often: they said the same. */
const MOST_TRIES = 3
/** How long after a failure the store is told again: at first, and at most (ms). */
const AGAIN = 50
const LONGEST_AGAIN = 1_000

/**
 * Rests that services without a rate limit ask for (`Retry-After`), as all nodes share them. A row is there only while one lasts; whether there are any
 * is known from what a node looks at anyway.
 */
export class Rests implements Service {
  readonly #options: RestsOptions
  #open = true
  #looking = false
  readonly #telling = new Set<Promise<void>>()
  /** Agents of which no more keys are shared, and until when. */
  readonly #full = new Map<string, number>()

  constructor(options: RestsOptions) {
    this.#options = options
  }

  start(): void {
    // It speaks when it is spoken to.
  }

  stop(): void {
    // What the last attempts hear is still told.
  }

  async drain(): Promise<void> {
    this.#open = false
    await Promise.all(this.#telling)
  }

  abandon(): void {
    this.#open = false
  }

  /** The service behind this queue wants to be left alone until then. */
  heard(queue: string, until: number): void {
    const now = this.#options.environment.now()
    // It is over before others could know.
    if (until - now <= this.#options.poll) return
    const agent = agentOfQueue(queue)
    if (queue !== agent && now < (this.#full.get(agent) ?? 0)) return
    const told = this.#tell(queue, until).finally(() => this.#telling.delete(told))
    this.#telling.add(told)
  }

  /** Until the store has it, for as long as others could still know in time. */
  async #tell(queue: string, until: number): Promise<void> {
    const { environment, poll, failed } = this.#options
    const backoff = new Backoff(AGAIN, LONGEST_AGAIN)
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
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const [row] = await store.breakers({ refs: [ref], count: 0 })
      // Attempts that run beside each other are told the same by their service.
      if (storedRest(row?.state ?? null) >= until - poll) return
      if (await store.writeBreaker({ ...ref, expected: row?.version ?? 0, state })) return
    }
  }

  /** There are some. */
  look(): void {
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
      const rows = await store.breakers({ kind: 'rest', after, limit: PAGE, count: 0 })
      for (const { name: queue, version, state } of rows) {
        const until = storedRest(state)
        const agent = agentOfQueue(queue)
        const now = environment.now()
        if (until > now) {
          for (const host of hosts(agent)) host?.rest(queue, until)
          const { keys, first } = all.get(agent) ?? { keys: 0, first: until }
          if (queue !== agent) all.set(agent, { keys: keys + 1, first: Math.min(first, until) })
        }
        // A look later all know that it is over.
        else if (until + poll < now)
          await store.writeBreaker({ kind: 'rest', name: queue, expected: version, state: null })
      }
      after = rows.at(-1)?.name ?? ''
      if (rows.length < PAGE) break
    }
    this.#full.clear()
    for (const [agent, { keys, first }] of all) if (keys >= MOST_SHARED) this.#full.set(agent, first)
  }
}
