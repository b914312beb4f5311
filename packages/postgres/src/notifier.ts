import { delay, type Environment, type Hint } from 'triarch/store'
import { elements } from './answer.ts'
import { ask, type Client, connect, cut, disconnect, goodbye } from './connect.ts'
import { ruleOf } from './failure.ts'
import { type News, Tally } from './news.ts'
import { membersStatement, NodeDirectory } from './node-directory.ts'
import { ALL_HINTS, ANYTHING, heardOf, payloads, say, type Words, wordOf } from './notification.ts'
import type { Settings } from './options.ts'
import type { Question, Row } from './query.ts'
import { inSchema } from './schema.ts'

const FIRST_WAIT = 50
const LONGEST_WAIT = 5_000
/** How long a store that closes waits until its last notification is sent (ms). */
const LAST_WORDS = 500
/** The end of a task is notified on the channels of the processes that wait, if there are no more of them; else on that of the schema. */
const MAX_WAITER_CHANNELS = 8
/** How often a process with waiters announces itself, and how long others keep the announcement. */
const ANNOUNCE_WAITERS_MS = 4_000
const KEEP_WAITERS_MS = 12_000
/** The form of a process's channel name. Any role that may connect can notify, so other names are ignored. */
const OWN_CHANNEL = /^@[a-z0-9]{0,12}$/

/**
 * Notifies other processes of changes, and this one of theirs. A notification names the nodes that are to act on it: as
 * many of those that can as there is work. It is sent after the commit, outside of the transaction, because a
 * transaction that notifies makes all others that notify wait for its flush. Changes are collected while a notification
 * is under way and are sent with the next one. A lost notification costs one sweep of the leader, which notifies again
 * of what no node took.
 *
 * Each process listens on two channels: the schema's, for what concerns all, and its own, whose name is in its node's
 * row. Since PostgreSQL 19 only sessions that listen to the channel are woken; before, every session that listens to
 * any channel.
 */
export class Notifier {
  readonly #environment: Environment
  readonly #settings: Settings
  readonly #nodes: NodeDirectory
  /** The id of this process's node. */
  node: string | null = null
  /** The name of its own channel, as it is in the node's row and in notifications. */
  readonly own: string
  #wake: (hints: readonly Hint[]) => void = () => undefined
  #ended: (ids: readonly string[] | null) => void = () => undefined
  #client: Client | null = null
  /** Resolves when the connection has answered all earlier queries. */
  #answered: Promise<unknown> = Promise.resolve()
  #open = false
  /** Resolves when everything is sent. */
  #sending: Promise<void> | null = null
  #unsent = new Tally()
  #waitsSaidAt = Number.NEGATIVE_INFINITY
  #saysWaiting = false
  /** The time until which processes elsewhere wait for tasks to end, by channel; null: more processes than MAX_WAITER_CHANNELS. */
  readonly #awaited = new Map<string | null, number>()

  constructor(environment: Environment, settings: Settings) {
    this.#environment = environment
    this.#settings = settings
    this.#nodes = new NodeDirectory(environment)
    this.own = `@${environment.random().toString(36).slice(2, 14)}`
  }

  onHint(wake: (hints: readonly Hint[]) => void): void {
    this.#wake = wake
  }

  /** Wakes this process as a notification would. */
  wakeSelf(hints: readonly Hint[]): void {
    this.#wake(hints)
  }

  /** Whether notifications are received at present. */
  get alive(): boolean {
    return this.#client !== null
  }

  /** Whether other processes wait for tasks to end. */
  get awaited(): boolean {
    const now = this.#environment.monotonic()
    for (const [own, until] of this.#awaited) if (until <= now) this.#awaited.delete(own)
    return this.#awaited.size > 0
  }

  async open(): Promise<void> {
    this.#open = true
    await this.#listen()
  }

  async close(): Promise<void> {
    this.#open = false
    // The last notification, such as that a node leaves, is sent first, if that does not take long.
    if (this.#sending !== null) await goodbye(this.#environment, this.#sending, undefined, LAST_WORDS)
    const client = this.#client
    this.#client = null
    if (client) await disconnect(this.#environment, client)
  }

  /** This process waits for tasks to end. Returns whether every process that ends one will notify it. */
  attend(ended: (ids: readonly string[] | null) => void): boolean {
    this.#ended = ended
    if (!this.#client) return false
    const now = this.#environment.monotonic()
    if (now - this.#waitsSaidAt >= ANNOUNCE_WAITERS_MS) {
      this.#waitsSaidAt = now
      this.#saysWaiting = true
      this.tell([])
    }
    return this.#nodes.known
  }

  tell(news: Iterable<News>): void {
    if (!this.#client) return
    for (const it of news) this.#unsent.add(it)
    if ((this.#unsent.empty && !this.#saysWaiting) || this.#sending !== null) return
    this.#sending = new Promise((resolve) => this.#environment.soon(() => resolve(this.#send())))
  }

  /** Returns the channel and the payload of a notification that is sent in the caller's own transaction; null if no process needs it. */
  async words(news: readonly News[]): Promise<{ channel: string; payload: string } | null> {
    const tally = new Tally()
    for (const it of news) tally.add(it)
    try {
      await this.#learn(tally)
      // This process is notified too: nothing else would wake it after the commit.
      const words = this.#wording(tally, null)
      const [payload = ''] = payloads(new Set([...words.values()].flatMap((all) => [...all])))
      return payload === '' ? null : { channel: this.#channel(null), payload }
    } catch {
      return null // a lost notification
    }
  }

  async #send(): Promise<void> {
    while ((!this.#unsent.empty || this.#saysWaiting) && this.#client) {
      const tally = this.#unsent
      const waits = this.#saysWaiting
      this.#unsent = new Tally()
      this.#saysWaiting = false
      try {
        await this.#learn(tally, waits)
        const words = this.#wording(tally, this.node, waits)
        const sent = [...words].flatMap(([own, all]) => payloads(all).map((payload) => [this.#channel(own), payload]))
        if (sent.length > 0 && this.#client) {
          await this.#ask(this.#client, {
            name: 'triarch_notify_on',
            text: 'SELECT pg_notify(n ->> 0, n ->> 1) FROM json_array_elements($1::json) n',
            values: [JSON.stringify(sent)],
          })
        }
      } catch {
        // The notifications are lost; if the connection is lost too, its end is handled elsewhere.
      }
    }
    this.#sending = null
  }

  /** Reads from the database what is needed to address the notifications. */
  async #learn(tally: Tally, waits = false): Promise<void> {
    const client = this.#client
    if (!client) return
    if ((tally.addresses || waits) && this.#nodes.old) {
      const text = membersStatement(this.#settings.schema)
      this.#nodes.read(await this.#ask(client, { text }))
    }
    if (tally.unknown) {
      const text = inSchema('SELECT triarch.untaken() AS untaken', this.#settings.schema)
      const [row] = await this.#ask(client, { text })
      tally.add({ overlooked: elements(row?.[0]) })
    }
  }

  #wording(tally: Tally, self: string | null, waits = false): Words {
    const words: Words = new Map()
    for (const [version, count] of tally.tasks) {
      for (const to of this.#nodes.tasks(version.slice(1), version.startsWith('!'), count, self)) say(words, to)
    }
    for (const [action, count] of tally.work) {
      for (const to of this.#nodes.work(action, count, self)) say(words, to)
    }
    for (const node of tally.mail) if (node !== self) say(words, this.#nodes.mail(node))
    for (const node of tally.left) say(words, { own: null, word: wordOf('left', node) })
    if (tally.came) say(words, { own: null, word: wordOf('came') })
    if (tally.settings) say(words, { own: null, word: wordOf('settings') })
    if (tally.rests) say(words, { own: null, word: wordOf('rests') })
    const waiting = this.#waiting
    for (const id of tally.ended) {
      if (id.isWellFormed()) for (const own of waiting) say(words, { own, word: wordOf('ended', id) })
    }
    if (waits) say(words, { own: null, word: wordOf('waits', this.own) })
    return words
  }

  /** The channels of the processes that wait for tasks to end; the schema's channel if there are many. */
  get #waiting(): readonly (string | null)[] {
    const all = [...this.#awaited.keys()]
    return all.length === 0 || all.length > MAX_WAITER_CHANNELS || all.includes(null) ? [null] : all
  }

  /** Returns the name of a channel; null is the schema's. */
  #channel(own: string | null): string {
    return own === null ? `triarch_${this.#settings.schema}` : `triarch_${own}`
  }

  async #listen(): Promise<void> {
    const client = await connect(this.#settings, 'hints')
    // The server's process of this connection, which each notification names beside its payload.
    const own = (client as unknown as { processID: number }).processID
    client.on('notification', ({ processId, payload }) => {
      if (processId !== own) this.#hear(payload ?? ANYTHING)
    })
    this.#answered = Promise.resolve()
    client.on('end', () => this.#lost(client))
    try {
      const text = [null, this.own].map((own) => `LISTEN "${this.#channel(own)}"`).join('; ')
      await this.#ask(client, { text })
    } catch (error) {
      cut(client) // the next attempt to listen opens another
      throw error
    }
    if (!this.#open) return disconnect(this.#environment, client)
    this.#client = client
    this.#hear(ANYTHING) // notifications were missed while the connection was lost
    this.tell([]) // sends what could not be sent meanwhile
  }

  /** Sends queries one after the other. A connection that does not answer is given up. */
  async #ask(client: Client, question: Question): Promise<Row[]> {
    const before = this.#answered
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#answered = promise
    await before
    try {
      return await ask(this.#environment, this.#settings, client, question)
    } catch (error) {
      if (ruleOf(error).verdict === 'reconnect') this.#lost(client)
      throw error
    } finally {
      resolve()
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
        // Polling goes on meanwhile; calls report what is wrong.
      }
    }
  }

  /** Another process waits for tasks to end. Beyond MAX_WAITER_CHANNELS the schema's channel is used instead of single ones. */
  #await(own: string): void {
    if (!OWN_CHANNEL.test(own)) return
    const isRoom = !this.awaited || this.#awaited.size < MAX_WAITER_CHANNELS || this.#awaited.has(own)
    this.#awaited.set(isRoom ? own : null, this.#environment.monotonic() + KEEP_WAITERS_MS)
  }

  #hear(payload: string): void {
    const hints = new Set<Hint>()
    const ended: string[] = []
    const words = payload.split(' ')
    if (words.includes(ANYTHING)) for (const hint of ALL_HINTS) hints.add(hint)
    for (const [what, of] of words.map(heardOf)) {
      if (what === 'mail' || what === 'tasks' || what === 'work') {
        if (of === this.node) hints.add(what)
      } else if (what === 'settings' || what === 'rests') hints.add(what)
      else if (what === 'came') this.#nodes.came()
      else if (what === 'left') this.#nodes.gone(of)
      else if (what === 'ended') ended.push(of)
      else if (what === 'waits') this.#await(of)
    }
    if (hints.size > 0) this.#wake([...hints])
    if (payload === ANYTHING) this.#ended(null)
    else if (ended.length > 0) this.#ended(ended)
  }
}
