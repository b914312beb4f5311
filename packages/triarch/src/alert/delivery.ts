import type { Environment } from '../environment/environment.ts'
import { thrownText } from '../health/finding.ts'
import type { AlertFence, AlertPost, StateStore } from '../store/port.ts'
import { Bound } from './bound.ts'
import { LOG } from './options.ts'
import type { AlertSink, AlertSinkTrial } from './sink.ts'
import { notificationOf, storedPost } from './stored.ts'

/** Posts of one look. */
const MOST = 100
/** How often a sink is tried with one; and the wait after the first failure, doubling up to the longest (ms). */
const MOST_TRIES = 10
const FIRST_WAIT = 5_000
const LONGEST_WAIT = 600_000

interface Means {
  environment: Environment
  store: StateStore
  sinks: readonly AlertSink[]
  timeout: number
  failed: (error: unknown) => void
}

/**
 * Tells sinks what they are to be told, each by itself: one that hangs or fails is left alone for a while with all that it has, and the others
 * hear theirs. What was told is dropped afterwards: a crash in between tells it again, under the same id.
 */
export class Delivery {
  readonly #means: Means
  readonly #bounds: ReadonlyMap<string, Bound>
  /** Of which sinks a turn is under way. */
  readonly #busy = new Set<string>()

  constructor(means: Means) {
    this.#means = means
    this.#bounds = new Map(means.sinks.map(({ name }) => [name, new Bound(means.environment, means.timeout)]))
  }

  /** Their names. */
  get sinks(): readonly string[] {
    return this.#means.sinks.map(({ name }) => name)
  }

  /** All that is due now, once. */
  async deliver(fence: AlertFence): Promise<void> {
    const { store } = this.#means
    const due = await store.alertPosts({ due: await store.now(), limit: MOST })
    const turns = [...Map.groupBy(due, ({ sink }) => sink)].filter(([name]) => !this.#busy.has(name))
    await Promise.all(
      turns.map(async ([name, posts]) => {
        this.#busy.add(name)
        try {
          await this.#turn(name, posts, fence)
        } catch (error) {
          this.#means.failed(error)
        } finally {
          this.#busy.delete(name)
        }
      }),
    )
  }

  /** Told of nothing but that somebody tries it. */
  async test(name: string): Promise<AlertSinkTrial> {
    const { environment } = this.#means
    const from = environment.monotonic()
    const at = environment.now()
    const about = { name: 'test:test', opening: environment.id(), rule: 'test', subject: 'test', since: at, at }
    const said = { ...about, news: 'test' as const, severity: 'warning' as const, message: 'somebody tries this sink' }
    const problem = await this.#send(name, environment.id(), { format: 1, tries: 0, ...said })
    const ms = Math.round(environment.monotonic() - from)
    return problem === null ? { ok: true, ms } : { ok: false, ms, problem }
  }

  /** After one that failed, the others of the same sink wait as well. */
  async #turn(name: string, posts: readonly AlertPost[], fence: AlertFence): Promise<void> {
    const { store, failed } = this.#means
    let problem: string | null = null
    for (const { id, state, undecoded } of posts) {
      const said = undecoded ? null : storedPost(state)
      if (!said) {
        failed(undecoded ?? new Error(`what sink "${name}" was to be told cannot be read`))
        await store.settleAlertPost({ id, next: null, fence })
        continue
      }
      const tried = problem === null
      if (tried) problem = await this.#send(name, id, said)
      if (problem === null) {
        await store.settleAlertPost({ id, next: null, fence })
        continue
      }
      const tries = said.tries + (tried ? 1 : 0)
      const over = tries >= MOST_TRIES
      if (tried)
        failed(new Error(`alert sink "${name}" failed${over ? ', and is not told that any more' : ''}: ${problem}`))
      const dueAt = (await store.now()) + Math.min(FIRST_WAIT * 2 ** Math.max(0, tries - 1), LONGEST_WAIT)
      await store.settleAlertPost({
        id,
        next: over ? null : { dueAt, state: JSON.stringify({ ...said, tries }) },
        fence,
      })
    }
  }

  /** Null: it took it. */
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

/** The sink that is always there: `on('alert')`, the logger, or stderr. */
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
