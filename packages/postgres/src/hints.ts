import type pg from 'pg'
import { delay, type Environment, type Hint } from 'triarch/store'
import { elements } from './answer.ts'
import { Audience, membersStatement } from './audience.ts'
import { type Client, connect, cut, disconnect, goodbye, inTime } from './connect.ts'
import { ruleOf } from './failure.ts'
import { type News, Tally } from './news.ts'
import type { Settings } from './options.ts'
import { inSchema } from './schema.ts'

const FIRST_WAIT = 50
const LONGEST_WAIT = 5_000
/** Bytes of one notification; the server allows 8,000. */
const MOST_BYTES = 7_900
/** How long a store that closes waits until its last notification is sent (ms). */
const LAST_WORDS = 500
/** How often somebody who waits says so, and for how long others believe it (ms). */
const SAY_WAITING = 4_000
const BELIEVE_WAITING = 12_000

/**
 * Tells other processes what was written, and this one what they wrote. A notification names the nodes that are to act on
 * it: as many of those that can as there is to do. What is to be told is collected while a notification is under way, so
 * there is never more than one in flight; they are sent after the commit, outside of it: a transaction that notifies makes
 * all others that do wait for its flush. Losing one costs a sweep of the leader, who tells what nobody took.
 *
 * Words: `@node` has mail, `=node` may claim tasks, `+node` may take work, `-node` has left, `!` one came, `%` a setting was changed, `~` a service rests, `?` somebody waits
 * for tasks to end, `.id` one did. `tasks`, `work` and `*` are for everybody; nodes of versions before say so.
 */
export class Hints {
  readonly #environment: Environment
  readonly #settings: Settings
  readonly #audience: Audience
  /** The id of this process's node, whose mail it wants to hear of. */
  node: string | null = null
  #wake: (hints: readonly Hint[]) => void = () => undefined
  #ended: (ids: readonly string[] | null) => void = () => undefined
  #client: Client | null = null
  #open = false
  /** Until all is sent that there is. */
  #sending: Promise<void> | null = null
  #unsent = new Tally()
  #waitsSaidAt = Number.NEGATIVE_INFINITY
  #saysWaiting = false
  #awaitedUntil = Number.NEGATIVE_INFINITY

  constructor(environment: Environment, settings: Settings) {
    this.#environment = environment
    this.#settings = settings
    this.#audience = new Audience(environment)
  }

  onHint(wake: (hints: readonly Hint[]) => void): void {
    this.#wake = wake
  }

  /** As if it had been heard. */
  wakeSelf(hints: readonly Hint[]): void {
    this.#wake(hints)
  }

  /** Whether others can be heard now. */
  get alive(): boolean {
    return this.#client !== null
  }

  /** Whether somebody elsewhere waits for tasks to end. */
  get awaited(): boolean {
    return this.#environment.monotonic() < this.#awaitedUntil
  }

  async open(): Promise<void> {
    this.#open = true
    await this.#listen()
  }

  async close(): Promise<void> {
    this.#open = false
    // What was said last, as by a node that leaves, is sent before, if that does not take long.
    if (this.#sending !== null) await goodbye(this.#environment, this.#sending, undefined, LAST_WORDS)
    const client = this.#client
    this.#client = null
    if (client) await disconnect(this.#environment, client)
  }

  /** Somebody here waits. Whether everybody will say so who ends a task. */
  attend(ended: (ids: readonly string[] | null) => void): boolean {
    this.#ended = ended
    if (!this.#client) return false
    const now = this.#environment.monotonic()
    if (now - this.#waitsSaidAt >= SAY_WAITING) {
      this.#waitsSaidAt = now
      this.#saysWaiting = true
      this.tell([])
    }
    return this.#audience.addressed
  }

  tell(news: Iterable<News>): void {
    if (!this.#client) return
    for (const it of news) this.#unsent.add(it)
    if ((this.#unsent.empty && !this.#saysWaiting) || this.#sending !== null) return
    this.#sending = new Promise((resolve) => this.#environment.soon(() => resolve(this.#send())))
  }

  /** The channel and the words for a notification that goes with somebody's own transaction; null: nobody is to be told. */
  async words(news: readonly News[]): Promise<{ channel: string; payload: string } | null> {
    const tally = new Tally()
    for (const it of news) tally.add(it)
    try {
      // The process that commits it is not woken by anything else.
      const [payload = ''] = await this.#worded(tally, null)
      return payload === '' ? null : { channel: this.#channel, payload }
    } catch {
      return null // a lost hint
    }
  }

  async #send(): Promise<void> {
    while ((!this.#unsent.empty || this.#saysWaiting) && this.#client) {
      const tally = this.#unsent
      const waits = this.#saysWaiting
      this.#unsent = new Tally()
      this.#saysWaiting = false
      try {
        const payloads = await this.#worded(tally, this.node, waits)
        if (payloads.length > 0 && this.#client) {
          await this.#ask(this.#client, {
            name: 'triarch_notify',
            text: 'SELECT pg_notify($1, p) FROM unnest($2::text[]) p',
            values: [this.#channel, payloads],
          })
        }
      } catch {
        // Lost hints; that the connection is lost too, its end says.
      }
    }
    this.#sending = null
  }

  async #worded(tally: Tally, self: string | null, waits = false): Promise<string[]> {
    if ((tally.addresses || waits) && this.#audience.old && this.#client) {
      const text = membersStatement(this.#settings.schema)
      const { rows } = await this.#ask<{ id: string; roles: string; runs: string | null }>(this.#client, text)
      this.#audience.read(rows)
    }
    if (tally.unknown && this.#client) {
      const text = inSchema('SELECT triarch.untaken() AS untaken', this.#settings.schema)
      const { rows } = await this.#ask<{ untaken: string }>(this.#client, text)
      tally.add({ overlooked: elements(rows[0]?.untaken) })
    }
    const words = new Set<string>()
    for (const [version, count] of tally.tasks) {
      for (const word of this.#audience.tasks(version.slice(1), version.startsWith('!'), count, self)) words.add(word)
    }
    for (const [action, count] of tally.work)
      for (const word of this.#audience.work(action, count, self)) words.add(word)
    for (const node of tally.mail) if (node !== self) words.add(`@${node}`)
    for (const node of tally.left) words.add(`-${node}`)
    if (tally.came) words.add('!')
    if (tally.settings) words.add('%')
    if (tally.rests) words.add('~')
    for (const id of tally.ended) if (id.isWellFormed()) words.add(`.${encodeURIComponent(id)}`)
    if (waits) words.add('?')
    return payloads(words)
  }

  get #channel(): string {
    return `triarch_${this.#settings.schema}`
  }

  async #listen(): Promise<void> {
    const client = await connect(this.#settings, 'hints')
    const own = (client as unknown as { processID: number }).processID
    client.on('notification', ({ processId, payload }) => {
      if (processId !== own) this.#hear(payload ?? '*')
    })
    client.on('end', () => this.#lost(client))
    try {
      await this.#ask(client, `LISTEN "${this.#channel}"`)
    } catch (error) {
      cut(client) // whoever wants to listen opens another
      throw error
    }
    if (!this.#open) return disconnect(this.#environment, client)
    this.#client = client
    this.#hear('*') // whatever was said while nobody listened
    this.tell([]) // what could not be said
  }

  /** A connection that stands still is of no more use. */
  async #ask<T extends pg.QueryResultRow>(client: Client, query: string | pg.QueryConfig): Promise<pg.QueryResult<T>> {
    try {
      return await inTime(this.#environment, this.#settings, client, client.query<T>(query))
    } catch (error) {
      if (ruleOf(error).verdict === 'reconnect') this.#lost(client)
      throw error
    }
  }

  #lost(client: Client): void {
    if (this.#client !== client) return
    this.#client = null
    cut(client)
    void this.#again()
  }

  async #again(): Promise<void> {
    for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 2, LONGEST_WAIT)) {
      await delay(this.#environment, wait / 2 + (wait / 2) * this.#environment.random())
      if (!this.#open || this.#client) return
      try {
        return await this.#listen()
      } catch {
        // Looks go on meanwhile; the calls tell what is wrong.
      }
    }
  }

  #hear(payload: string): void {
    const hints = new Set<Hint>()
    const ended: string[] = []
    for (const word of payload.split(' ')) {
      const rest = word.slice(1)
      if (word === '*') for (const hint of ['work', 'tasks', 'mail', 'settings', 'rests'] as const) hints.add(hint)
      else if (word === 'tasks' || word === 'work') hints.add(word)
      else if (word === '?') this.#awaitedUntil = this.#environment.monotonic() + BELIEVE_WAITING
      else if (word === '!') this.#audience.came()
      else if (word === '%') hints.add('settings')
      else if (word === '~') hints.add('rests')
      else if (word.startsWith('-')) this.#audience.gone(rest)
      else if (word.startsWith('.')) ended.push(decodeURIComponent(rest))
      else if (rest === this.node && word.startsWith('@')) hints.add('mail')
      else if (rest === this.node && word.startsWith('=')) hints.add('tasks')
      else if (rest === this.node && word.startsWith('+')) hints.add('work')
    }
    if (hints.size > 0) this.#wake([...hints])
    if (payload === '*') this.#ended(null)
    else if (ended.length > 0) this.#ended(ended)
  }
}

/** One that is too long for any is left out: its hint is lost. */
function payloads(words: Iterable<string>): string[] {
  const all: string[] = []
  let [current, bytes] = [[] as string[], 0]
  for (const word of words) {
    const size = Buffer.byteLength(word) + 1
    if (size > MOST_BYTES) continue
    if (bytes + size > MOST_BYTES) {
      all.push(current.join(' '))
      current = []
      bytes = 0
    }
    current.push(word)
    bytes += size
  }
  if (current.length > 0) all.push(current.join(' '))
  return all
}
