import type { Environment } from '../environment/environment.ts'
import { thrownText } from '../health/finding.ts'
import type { AlertFence, AlertPost, StateStore } from '../store/port.ts'
import { Bound } from './bound.ts'
import { type AlertMessage, gathered, isKept, type PendingNotification } from './gathering.ts'
import { type AlertSettings, LOG } from './options.ts'
import { type Quiet, quietOf, quietUntil } from './quiet.ts'
import type { AlertSink, AlertSinkTrial } from './sink.ts'
import { notificationOf, storedAlert, storedPost } from './stored.ts'

/** Largest number of notifications that are handled at a time. */
const MOST = 1_000
/** Number of tries per notification, and the wait after the first failure, which doubles up to the longest (ms). */
const MOST_TRIES = 10
const FIRST_WAIT = 5_000
const LONGEST_WAIT = 600_000

interface AlertDeliveryOptions {
  environment: Environment
  store: StateStore
  sinks: readonly AlertSink[]
  settings: Pick<AlertSettings, 'group' | 'every' | 'timeout'>
  failed: (error: unknown) => void
  /** Called when a notification is given up. */
  undelivered: (alert: { code: 'ALERT_UNDELIVERED'; alert: string; cause: string; message: string }) => void
}

interface DeliveryRound {
  /** By the store's clock. */
  now: number
  fence: AlertFence
}

/**
 * Sends notifications to the sinks. Sinks are independent: one that hangs or fails is retried later with all its notifications, and does
 * not delay the others. A notification is deleted after it was sent; after a crash in between it is sent again with the same id.
 */
export class AlertDelivery {
  readonly #means: AlertDeliveryOptions
  readonly #bounds: ReadonlyMap<string, Bound>
  readonly #quiet: ReadonlyMap<string, Quiet>
  /** Sinks whose notifications are being handled. */
  readonly #busy = new Set<string>()

  constructor(means: AlertDeliveryOptions) {
    this.#means = means
    const { sinks, environment, settings, failed } = means
    this.#bounds = new Map(sinks.map(({ name }) => [name, new Bound(environment, settings.timeout, failed)]))
    this.#quiet = new Map(sinks.flatMap(({ name, quiet }) => (quiet ? [[name, quietOf(name, quiet)] as const] : [])))
  }

  /** The names of the sinks. */
  get sinks(): readonly string[] {
    return this.#means.sinks.map(({ name }) => name)
  }

  /** Sends all notifications that are due, with those that may be grouped with them. */
  async deliver(fence: AlertFence): Promise<void> {
    const { store, settings } = this.#means
    const now = await store.now()
    const ahead = settings.group === null ? 0 : Math.max(settings.group, settings.every)
    const due = await store.alertPosts({ due: now + ahead, limit: MOST })
    const turns = [...Map.groupBy(due, ({ sink }) => sink)].filter(([name]) => !this.#busy.has(name))
    await Promise.all(
      turns.map(async ([name, posts]) => {
        this.#busy.add(name)
        try {
          await this.#turn(name, await this.#read(name, posts, fence), { now, fence })
        } catch (error) {
          this.#means.failed(error)
        } finally {
          this.#busy.delete(name)
        }
      }),
    )
  }

  /** Sends a test notification, also during quiet hours. */
  async test(name: string, who: string): Promise<AlertSinkTrial> {
    const { environment } = this.#means
    const from = environment.monotonic()
    const at = environment.now()
    const about = { name: 'test:test', opening: environment.id(), rule: 'test', subject: 'test', since: at, at }
    const said = {
      ...about,
      news: 'test' as const,
      severity: 'warning' as const,
      message: `${who} tries the sink ${name}`,
    }
    const problem = await this.#send(name, environment.id(), { format: 1, tries: 0, ...said })
    const ms = Math.round(environment.monotonic() - from)
    return { sink: name, ok: problem === null, ms, ...(problem !== null && { problem }) }
  }

  /** Decodes notifications; those that cannot be read are deleted. */
  async #read(name: string, posts: readonly AlertPost[], fence: AlertFence): Promise<PendingNotification[]> {
    const { store, failed } = this.#means
    const waiting: PendingNotification[] = []
    for (const { id, dueAt, state, undecoded } of posts) {
      const said = undecoded ? null : storedPost(state)
      if (said) waiting.push({ id, dueAt, said })
      else {
        failed(undecoded ?? new Error(`what sink "${name}" was to be told cannot be read`))
        await store.settleAlertPost({ id, next: null, fence })
      }
    }
    return waiting
  }

  async #turn(name: string, waiting: readonly PendingNotification[], { now, fence }: DeliveryRound): Promise<void> {
    const { store, settings } = this.#means
    const hours = this.#quiet.get(name)
    const until = hours ? quietUntil(hours, now) : null
    const { messages, held, over } = gathered(waiting, {
      ...{ now, next: now + settings.every, isGrouping: settings.group !== null },
      quiet: hours && until !== null ? { until, except: hours.except } : null,
      said: until === null ? await this.#words(waiting, now) : new Map(),
    })
    for (const id of over) await store.settleAlertPost({ id, next: null, fence })
    for (const it of held) await this.#defer(it, fence)
    let isWell = true
    for (const message of messages) {
      if (!(await this.#joined(message, fence))) return
      if (isWell) isWell = await this.#tell(name, message, fence)
      // After a failure, the sink's other notifications are deferred too.
      else await this.#again(message, fence)
    }
  }

  /** Operators' actions on alerts whose notification was held back by quiet hours. */
  async #words(waiting: readonly PendingNotification[], now: number): Promise<Map<string, 'silenced' | 'owned'>> {
    const words = new Map<string, 'silenced' | 'owned'>()
    const names = new Set(waiting.filter(isKept).map(({ said }) => said.name))
    if (names.size === 0) return words
    for (const row of await this.#means.store.alerts({ names: [...names] })) {
      const state = row.undecoded ? null : storedAlert(row.state)?.state
      if (state?.silence && now < state.silence.until) words.set(state.id, 'silenced')
      else if (state?.owner) words.set(state.id, 'owned')
    }
    return words
  }

  /**
   * Combines several notifications: first the combined one is stored, then the others are deleted, then it is sent. A leader that takes
   * over after a crash in between continues with the combined one. Returns false if this node does not lead any more.
   */
  async #joined({ taken, ...message }: AlertMessage, fence: AlertFence): Promise<boolean> {
    if (taken.length > 0 && !(await this.#defer(message, fence))) return false
    const { tries, taken: all = [] } = message.said
    if (tries === 0) for (const id of all) await this.#means.store.settleAlertPost({ id, next: null, fence })
    return true
  }

  /** Sends a notification; returns whether the sink accepted it. */
  async #tell(name: string, { id, dueAt, said }: PendingNotification, fence: AlertFence): Promise<boolean> {
    const { store, failed, undelivered } = this.#means
    const problem = await this.#send(name, id, said)
    const tries = said.tries + 1
    const isLast = tries >= MOST_TRIES
    if (problem !== null)
      failed(new Error(`alert sink "${name}" failed${isLast ? ', and is not told that any more' : ''}: ${problem}`))
    if (problem === null || isLast) await store.settleAlertPost({ id, next: null, fence })
    if (problem !== null && isLast && name !== LOG) {
      const message = `sink "${name}" was told ${tries} times of ${said.name} (${said.news}) and failed, and is not told that any more: ${problem}`
      undelivered({ code: 'ALERT_UNDELIVERED', alert: said.name, cause: name, message })
    }
    if (problem !== null && !isLast) await this.#again({ id, dueAt, said: { ...said, tries } }, fence)
    return problem === null
  }

  async #again({ id, said }: PendingNotification, fence: AlertFence): Promise<void> {
    const wait = Math.min(FIRST_WAIT * 2 ** Math.max(0, said.tries - 1), LONGEST_WAIT)
    await this.#defer({ id, dueAt: (await this.#means.store.now()) + wait, said }, fence)
  }

  #defer({ id, dueAt, said }: PendingNotification, fence: AlertFence): Promise<boolean> {
    return this.#means.store.settleAlertPost({ id, next: { dueAt, state: JSON.stringify(said) }, fence })
  }

  /** Calls the sink; returns the problem, or null if it accepted the notification. */
  async #send(name: string, id: string, said: Parameters<typeof notificationOf>[1]): Promise<string | null> {
    const sink = this.#means.sinks.find((it) => it.name === name)
    const bound = this.#bounds.get(name)
    if (!sink || !bound) return 'this process has no such sink'
    try {
      await bound.run(async (signal) => void (await sink.send(notificationOf(id, said), { signal })))
      return null
    } catch (error) {
      return thrownText(error)
    }
  }
}

/** The sink that always exists: `on('alert')`, the logger, or stderr. */
export function logSink(
  alert: (alert: { code: 'ALERT_RAISED' | 'ALERT_ENDED'; alert: string; cause: string; message: string }) => void,
): AlertSink {
  return {
    name: LOG,
    send: ({ news, name, rule, message }) => {
      const code = news === 'ended' ? 'ALERT_ENDED' : 'ALERT_RAISED'
      const said = news === 'ended' ? `over: ${message}` : news === 'repeated' ? `still: ${message}` : message
      alert({ code, alert: name, cause: rule, message: said })
    },
  }
}
