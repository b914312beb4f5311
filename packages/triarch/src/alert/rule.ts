import type { Health } from '../health/health.ts'
import type { HealthReads } from '../health/look.ts'
import { isLate } from '../health/probe.ts'
import type { AlertSeverity } from '../policy/alert.ts'
import { objectOf } from '../store/legible.ts'
import type { RowCondition, StateStore, TaskRow } from '../store/port.ts'
import { figures } from '../view/figures.ts'
import type { Deaths } from './death.ts'
import type { AlertRule, AlertRuleName } from './options.ts'

/** A subject for which the rule's condition holds. */
export interface FoundSubject {
  subject: string
  message: string
  severity?: AlertSeverity
}

/** The result of a rule. If it is not whole, subjects that are not named are unknown. */
export interface RuleResult {
  found: readonly FoundSubject[]
  whole: boolean
}

/** The data that rules examine. */
export interface Sight {
  look: HealthReads
  store: StateStore
  /** By the store's clock. */
  now: number
  deaths: Deaths
  /** Runs the user's checks. */
  health: Health<HealthReads>
}

type Rule = (sight: Sight, terms: AlertRule) => Promise<RuleResult>

/** Rows that a rule reads at a time, and how often. */
const MOST_ROWS = 200
const MOST_LOOKS = 4
/** Largest number of schedules that are examined, and how far ahead (ms): a supervisor delays a failing one by 5 min at most. */
const MOST_SCHEDULES = 1_000
const LONGEST_REST = 600_000
const OPEN = ['pending', 'planning', 'planned', 'running', 'compensating']

const number = (most: number) => ({ type: 'number' as const, most })
const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`

export const rules: Readonly<Record<AlertRuleName, Rule>> = {
  /** Ready, owned or paused tasks whose row was not written for long. Tasks that wait for a timer or a signal are not stuck. */
  stuck: async ({ store, now }, { after }) => {
    const late: RowCondition = { column: 'updatedAt', test: number(now - after) }
    const open: RowCondition = { column: 'status', test: { type: 'text', oneOf: OPEN } }
    const paused: RowCondition = { column: 'status', test: { type: 'text', oneOf: ['paused'] } }
    const given = (column: 'ready' | 'lockedBy'): RowCondition => ({ column, test: { type: 'given' } })
    const [ready, owned, held] = await Promise.all([
      listed(store, [late, open, given('ready')]),
      listed(store, [late, open, given('lockedBy')]),
      listed(store, [late, paused]),
    ])
    const said = (what: string) => (row: TaskRow) => {
      return { subject: row.id, message: `${named(row)} ${what} for ${seconds(now - row.updatedAt)}` }
    }
    return {
      found: [
        ...ready.rows.map(said('waits for a scheduler')),
        ...owned.rows.map(said('has not gone on')),
        ...held.rows.map(said('is paused')),
      ],
      whole: ready.whole && owned.whole && held.whole,
    }
  },

  /** Based on the statistics of whole hours; without them, nothing is found. */
  'failure-rate': async ({ store, now }, { after, least, above }) => {
    const { rows, truncated } = await figures(store, { by: ['workflow', 'outcome'], kind: 'task', from: now - after, to: now }) // biome-ignore format: one call
    const found = [...Map.groupBy(rows, ({ workflow = '' }) => workflow)].flatMap(([subject, all]) => {
      const stopped = all.filter(({ outcome }) => outcome !== 'submitted')
      const sum = (some: typeof rows) => some.reduce((total, { count }) => total + count, 0)
      const ended = sum(stopped)
      const failed = sum(stopped.filter(({ outcome }) => outcome === 'error' || outcome === 'compensated'))
      if (ended < least || failed / ended <= above) return []
      return [{ subject, message: `${failed} of ${ended} tasks of ${subject} failed` }]
    })
    return { found, whole: !truncated }
  },

  'queue-age': async ({ look, now }, { after }) => {
    const found = (await look.agents()).flatMap(({ name, queue: { oldest, depth } }) => {
      const age = oldest?.since ? now - oldest.since.getTime() : 0
      return age > after ? [{ subject: name, message: `${depth} requests wait for agent ${name}, for ${seconds(age)}` }] : [] // biome-ignore format: one case
    })
    return { found, whole: true }
  },

  'no-agent': async ({ look }) => {
    const idle = (await look.agents()).filter(({ nodes, queue }) => nodes.length === 0 && queue.depth > 0)
    const message = (name: string, depth: number) => `nobody hosts agent ${name}, and ${depth} requests wait`
    return {
      found: idle.map(({ name, queue }) => ({ subject: name, message: message(name, queue.depth) })),
      whole: true,
    }
  },

  /** Schedules that no node started, or that fail to start: the supervisor delays the latter, so that they are never due for long. */
  'missed-schedule': async ({ store, now }, { after }) => {
    const rows = await store.schedules({ due: now + LONGEST_REST, limit: MOST_SCHEDULES })
    const found = rows.flatMap(({ name, nextAt, state }) => {
      const due = Math.min(nextAt ?? now, objectOf<{ failing?: { since: number } }>(state)?.failing?.since ?? now)
      if (now - due < after) return []
      return [{ subject: name, message: `schedule ${name} was due ${seconds(now - due)} ago and did not start` }]
    })
    return { found, whole: rows.length < MOST_SCHEDULES }
  },

  'undo-failed': async ({ store }) => {
    const { rows, whole } = await listed(store, [{ column: 'status', test: { type: 'text', oneOf: ['paused'] } }])
    const found = rows.flatMap((row) => {
      const pause = objectOf<{ reason?: string; step?: { name: string } }>(row.pause)
      if (pause?.reason !== 'undo') return []
      const step = pause.step ? `the undo of ${pause.step.name}` : 'an undo'
      return [{ subject: row.id, message: `${named(row)} is paused: ${step} failed` }]
    })
    return { found, whole }
  },

  quarantine: async ({ store }) => {
    const { rows, whole } = await listed(store, [{ column: 'quarantined', test: { type: 'given' } }])
    return { found: rows.map((row) => ({ subject: row.id, message: `${named(row)} is in quarantine` })), whole }
  },

  flapping: async ({ deaths, look, now }, { after, least }) => {
    deaths.know(await look.nodes(), now)
    const found = deaths.since(now - after).flatMap(([subject, times]) => {
      return times < least ? [] : [{ subject, message: `${times} nodes died on ${subject} within ${seconds(after)}` }]
    })
    return { found, whole: true }
  },

  /** Ends when a node starts at the same place, and after some time, because machines of a cluster come back under other names. */
  'node-lost': async ({ deaths, look, now }, { after }) => {
    deaths.know(await look.nodes(), now)
    const found = deaths.lost(now - after).map(({ place, times, at }) => {
      const nodes = times === 1 ? 'a node' : `${times} nodes`
      return { subject: place, message: `${nodes} died on ${place}, the last ${seconds(now - at)} ago, and none has started there since` } // biome-ignore format: one answer
    })
    return { found, whole: true }
  },

  'breaker-open': async ({ look }) => {
    // An idle breaker holds nothing back; it only waits for a step to probe with.
    const open = (await look.breakers()).filter(({ state, keyed, idle }) => !keyed && !idle && state === 'open')
    return { found: open.map(({ name }) => ({ subject: name, message: `the circuit breaker of ${name} is open` })), whole: true } // biome-ignore format: one answer
  },

  /** The prober has already waited before it stored an endpoint as down, so this is reported at once. */
  'probe-down': async ({ look, now }) => {
    const since = (at: Date) => seconds(now - at.getTime())
    const found = (await look.probes()).flatMap((one): FoundSubject[] => {
      const { name, state, last } = one
      const problem = last?.problem?.message ?? 'the last probe was well'
      if (state === 'down') {
        const message = `endpoint ${name} is down for ${since(one.since)}: ${problem}`
        return [{ subject: name, severity: 'critical', message }]
      }
      if (!isLate(one, now)) return []
      return [{ subject: name, severity: 'warning', message: `nobody has probed endpoint ${name} for ${since(one.lateAt)} longer than it should be` }] // biome-ignore format: one case
    })
    return { found, whole: true }
  },

  /** The user's checks; with a prober that has no store, its endpoints are among them. */
  check: async ({ health, look }) => {
    const own = look.engine.settings.own.map(({ name }) => name)
    const { checks } = await health.report(own)
    const found = checks.flatMap(({ name, status, message = 'it is not well' }) => {
      return status === 'ok' ? [] : [{ subject: name, severity: status, message: `check ${name}: ${message}` }]
    })
    return { found, whole: true }
  },
}

function named({ id, workflow, version }: TaskRow): string {
  return `task ${id} of ${workflow}@${version}`
}

/** Lists tasks, oldest first. */
async function listed(store: StateStore, where: readonly RowCondition[]): Promise<{ rows: TaskRow[]; whole: boolean }> {
  const all: TaskRow[] = []
  let after: number | undefined
  for (let look = 0; look < MOST_LOOKS; look++) {
    const { rows, looked } = await store.list({ where, limit: MOST_ROWS, order: 'oldest', ...(after !== undefined && { after }) }) // biome-ignore format: one call
    all.push(...rows)
    const last = looked ?? (rows.length >= MOST_ROWS ? rows.at(-1)?.key : undefined)
    if (last === undefined) return { rows: all, whole: true }
    after = last
  }
  return { rows: all, whole: false }
}
