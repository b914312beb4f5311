import { delay, type Environment, type Hint } from 'triarch/store'
import { type Client, connect } from './connect.ts'
import type { Settings } from './options.ts'

/** What others are told: there is work, there are tasks to claim, there are letters for this node. */
export type News = 'work' | 'tasks' | { mail: string }

const ALL: readonly Hint[] = ['work', 'tasks', 'mail']
const FIRST_WAIT = 50
const LONGEST_WAIT = 5_000
/** Nodes named in one notification; beyond, everybody looks (a payload may have 8,000 bytes). */
const MOST_NAMES = 100

/**
 * Tells other processes what was written, and this one what they wrote. Notifications are collected while one is under
 * way, so there is never more than one in flight; they are sent after the commit, outside of it: a transaction that
 * notifies makes all others that do wait for its flush. Losing one costs a poll interval.
 */
export class Hints {
  readonly #environment: Environment
  readonly #settings: Settings
  /** The id of this process's node, whose mail it wants to hear of. */
  node: string | null = null
  #wake: (hints: readonly Hint[]) => void = () => undefined
  #client: Client | null = null
  #open = false
  #sending = false
  readonly #unsent = new Set<string>()
  /** How many hints came. */
  heard = 0

  constructor(environment: Environment, settings: Settings) {
    this.#environment = environment
    this.#settings = settings
  }

  onHint(wake: (hints: readonly Hint[]) => void): void {
    this.#wake = wake
  }

  async open(): Promise<void> {
    this.#open = true
    await this.#listen()
  }

  async close(): Promise<void> {
    this.#open = false
    const client = this.#client
    this.#client = null
    await client?.end().catch(() => undefined)
  }

  tell(news: Iterable<News>): void {
    for (const it of news) this.#unsent.add(typeof it === 'string' ? it : `@${it.mail}`)
    if (this.#unsent.size === 0 || this.#sending || !this.#client) return
    this.#sending = true
    this.#environment.soon(() => void this.#send())
  }

  async #send(): Promise<void> {
    while (this.#unsent.size > 0 && this.#client) {
      const names = [...this.#unsent]
      this.#unsent.clear()
      const payload = names.length > MOST_NAMES ? '*' : names.join(' ')
      const sent = this.#client.query({
        name: 'triarch_notify',
        text: 'SELECT pg_notify($1, $2)',
        values: [this.#channel, payload],
      })
      await sent.catch(() => undefined) // a lost hint; that the connection is lost too, its end says
    }
    this.#sending = false
  }

  get #channel(): string {
    return `triarch_${this.#settings.schema}`
  }

  async #listen(): Promise<void> {
    const client = await connect(this.#settings, 'hints')
    if (!this.#open) return void client.end().catch(() => undefined)
    const own = (client as unknown as { processID: number }).processID
    client.on('notification', ({ processId, payload }) => {
      if (processId !== own) this.#hear(payload ?? '*')
    })
    client.on('end', () => {
      if (this.#client === client) this.#client = null
      if (this.#open) void this.#again()
    })
    await client.query(`LISTEN "${this.#channel}"`)
    this.#client = client
    this.#hear('*') // whatever was said while nobody listened
  }

  async #again(): Promise<void> {
    for (let wait = FIRST_WAIT; this.#open && !this.#client; wait = Math.min(wait * 2, LONGEST_WAIT)) {
      await delay(this.#environment, wait / 2 + (wait / 2) * this.#environment.random())
      if (!this.#open || this.#client) return
      await this.#listen().catch(() => undefined) // polls go on meanwhile; the calls tell what is wrong
    }
  }

  #hear(payload: string): void {
    this.heard++
    const names = payload.split(' ')
    const hints = ALL.filter((hint) =>
      hint === 'mail'
        ? names.includes('*') || (this.node !== null && names.includes(`@${this.node}`))
        : names.includes('*') || names.includes(hint),
    )
    if (hints.length > 0) this.#wake(hints)
  }
}
