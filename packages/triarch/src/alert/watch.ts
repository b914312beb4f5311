import type { Environment, Timer } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import type { Health } from '../health/health.ts'
import type { HealthReads } from '../health/look.ts'
import { type AlertSighting, sighted } from '../policy/alert.ts'
import type { AlertRow, StateStore } from '../store/port.ts'
import type { LeaderFence } from '../supervisor/supervisor.ts'
import { Bound } from './bound.ts'
import { Deaths } from './death.ts'
import type { AlertDelivery } from './delivery.ts'
import type { AlertRule, AlertRuleName, AlertSettings } from './options.ts'
import { type FoundSubject, type RuleResult, rules } from './rule.ts'
import { alertName, isEvaluated, postsOf, type StoredAlert, storedAlert } from './stored.ts'

export interface AlertWatchOptions {
  environment: Environment
  store: StateStore
  settings: AlertSettings
  delivery: AlertDelivery
  look: () => HealthReads
  health: () => Health<HealthReads>
  failed: (error: unknown) => void
}

/** Largest number of alerts of one rule; further ones are combined in one alert with the subject `*`. */
const MOST = 100
/** Rows of one read, and number of reads, for open alerts. */
const PAGE = 1_000
const MOST_PAGES = 10
/** Number of ended alerts that one round deletes. */
const MOST_DROPPED = 100

interface KnownAlert {
  row: AlertRow
  stored: StoredAlert
}

/**
 * Evaluates the alert rules while its node leads. Rules run concurrently and independently, each with a timeout; one that throws or hangs
 * is reported, and its result is unknown in that round. All writes are fenced by the leader's token.
 */
export class AlertWatch implements Service {
  readonly #options: AlertWatchOptions
  readonly #deaths = new Deaths()
  readonly #bounds = new Map<AlertRuleName, Bound>()
  #leads: LeaderFence | null = null
  #open = false
  #timer: Timer | null = null
  #busy: Promise<void> = Promise.resolve()

  constructor(options: AlertWatchOptions) {
    this.#options = options
    for (const name of options.settings.rules.keys())
      this.#bounds.set(name, new Bound(options.environment, options.settings.timeout, options.failed))
  }

  start(): void {
    this.#open = true
    this.#next()
  }

  stop(): void {
    this.#open = false
    this.#timer?.cancel()
  }

  drain(): Promise<void> {
    return this.#busy
  }

  abandon(): void {
    this.stop()
  }

  /** Sets the leadership of this node; null: another node leads. */
  led(leads: LeaderFence | null): void {
    this.#leads = leads
  }

  /** Adds nodes that the leader's sweep found dead. */
  died(ids: readonly string[]): void {
    this.#deaths.add(ids)
  }

  #next(): void {
    if (!this.#open) return
    const { environment, settings } = this.#options
    this.#timer = environment.timer(settings.every, () => {
      this.#busy = this.#round().then(() => this.#next())
    })
  }

  async #round(): Promise<void> {
    const fence = this.#leads
    if (!fence) return
    const { failed, delivery } = this.#options
    for (const part of [() => this.#watch(fence), () => delivery.deliver(fence), () => this.#drop(fence)]) {
      try {
        if (this.#open) await part()
      } catch (error) {
        if (this.#open) failed(error)
      }
    }
  }

  async #watch(fence: LeaderFence): Promise<void> {
    const { store, settings } = this.#options
    const [now, open] = await Promise.all([store.now(), this.#known()])
    const look = this.#options.look()
    // Each result is handled at once, so that a rule that hangs does not delay the notifications of the others.
    await Promise.all(
      [...settings.rules].map(async ([name, rule]) => {
        try {
          const seen = await this.#ask(name, rule, look, now)
          if (this.#open) await this.#judge(name, rule, seen, { fence, open: open.get(name) ?? new Map() })
        } catch (error) {
          if (this.#open) this.#options.failed(new Error(`alert rule "${name}" could not look`, { cause: error }))
        }
      }),
    )
  }

  async #ask(name: AlertRuleName, rule: AlertRule, look: HealthReads, now: number): Promise<RuleResult> {
    const { store, health } = this.#options
    const sight = { look, store, now, deaths: this.#deaths, health: health() }
    return (this.#bounds.get(name) as Bound).run(() => rules[name](sight, rule))
  }

  /** The open alerts, by rule and by name. */
  async #known(): Promise<Map<string, Map<string, KnownAlert>>> {
    const all = new Map<string, Map<string, KnownAlert>>()
    let after = ''
    for (let page = 0; page < MOST_PAGES; page++) {
      const rows = await this.#options.store.alerts({ open: true, after, limit: PAGE })
      for (const row of rows) {
        const stored = row.undecoded ? null : storedAlert(row.state)
        if (!stored) continue
        const of = all.get(stored.rule) ?? new Map<string, KnownAlert>()
        all.set(stored.rule, of.set(row.name, { row, stored }))
      }
      after = rows.at(-1)?.name ?? after
      if (rows.length < PAGE) break
    }
    return all
  }

  async #judge(
    name: AlertRuleName,
    rule: AlertRule,
    { found, whole }: RuleResult,
    { fence, open }: { fence: LeaderFence; open: Map<string, KnownAlert> },
  ): Promise<void> {
    const { store } = this.#options
    const about = bounded(name, found, open)
    const fresh = [...about.keys()].filter((it) => !open.has(it))
    const ended = new Map<string, KnownAlert>()
    for (const row of fresh.length > 0 ? await store.alerts({ names: fresh }) : []) {
      const stored = row.undecoded ? null : storedAlert(row.state)
      if (stored) ended.set(row.name, { row, stored })
    }
    const now = await store.now()
    for (const key of new Set([...open.keys(), ...about.keys()])) {
      const one = about.get(key)
      const severity = rule.severity ?? one?.severity ?? 'warning'
      const sighting: AlertSighting = one
        ? { found: 'holds', severity, message: one.message }
        : { found: whole ? 'gone' : 'unknown' }
      const known = open.get(key) ?? ended.get(key)
      const subject = one?.subject ?? known?.stored.subject ?? ''
      await this.#write({ name: key, known, subject }, name, sighting, { rule, now, fence })
    }
  }

  async #write(
    { name, known, subject }: { name: string; known: KnownAlert | undefined; subject: string },
    rule: AlertRuleName,
    sighting: AlertSighting,
    { rule: terms, now, fence }: { rule: AlertRule; now: number; fence: LeaderFence },
  ): Promise<void> {
    const { environment, store, settings, delivery } = this.#options
    const { sinks } = delivery
    const before = known?.stored.state ?? null
    const { state, news } = sighted(before, sighting, terms, { now, id: environment.id() })
    if (state === null ? before === null : news === null && !differs(before, state)) return
    const stored = state && { format: 1 as const, rule, subject, state, sinks }
    const wait = settings.group ?? 0
    const posts = stored ? postsOf(stored, news, { now, wait, id: () => environment.id() }) : []
    await store.writeAlert({
      ...{ name, expected: known?.row.revision ?? 0, open: state !== null && isEvaluated(state), at: now },
      ...{ state: stored && JSON.stringify(stored), posts, fence },
    })
  }

  /** Deletes alerts that ended long ago. */
  async #drop(fence: LeaderFence): Promise<void> {
    const { store, settings } = this.#options
    const endedBefore = (await store.now()) - settings.retention
    for (const { name, revision } of await store.alerts({ endedBefore, limit: MOST_DROPPED }))
      await store.writeAlert({ name, expected: revision, open: false, at: 0, state: null, posts: [], fence })
  }
}

/** Whether a state must be written. A message alone is not a reason, because it contains ages; it is written with the next real change. */
function differs(before: StoredAlert['state'] | null, after: StoredAlert['state']): boolean {
  if (before === null) return true
  return JSON.stringify({ ...before, message: '' }) !== JSON.stringify({ ...after, message: '' })
}

/** The findings by alert name, open alerts first; those beyond the limit become one. */
function bounded(
  rule: string,
  found: readonly FoundSubject[],
  open: ReadonlyMap<string, KnownAlert>,
): Map<string, FoundSubject> {
  const all = new Map(found.map((one) => [alertName(rule, one.subject), one]))
  if (all.size <= MOST) return all
  const order = [...all].sort(([a], [b]) => Number(open.has(b)) - Number(open.has(a)))
  const message = `${all.size - MOST} more: ${order[MOST]?.[1].message ?? ''}`
  return new Map([...order.slice(0, MOST), [alertName(rule, '*'), { subject: '*', message }]])
}
