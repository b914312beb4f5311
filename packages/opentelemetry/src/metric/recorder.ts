import type { SpanContext } from '@opentelemetry/api'
import type { SweepReport, TelemetryEvents, TelemetryListeners } from 'triarch'
import { errorType } from '../fault.ts'
import { Bound } from './bound.ts'
import type { Labels, Sink } from './sink.ts'

type Event<N extends keyof TelemetryEvents> = TelemetryEvents[N]

/** The span that a number is an example of; null: none that anybody keeps. */
export interface Examples {
  task(event: Event<'task:stopped'>): SpanContext | null
  step(event: Event<'step:ended'>): SpanContext | null
  attempt(event: Event<'attempt:ended'>): SpanContext | null
}

const found = {
  deadNodes: 'dead_node',
  releasedTasks: 'released_task',
  expiredSteps: 'expired_step',
  overdueTasks: 'overdue_task',
} as const satisfies Partial<Record<keyof SweepReport, string>>

/** What the engine tells, as numbers. */
export function recorder(sink: Sink, examples: Examples): TelemetryListeners {
  const bound = new Bound()
  const labels = (given: Labels): Labels =>
    Object.fromEntries(Object.entries(given).map(([name, value]) => [name, bound.of(name, value)]))
  // Local steps are called what the code calls them, which may be anything.
  const actionOf = ({ action }: { action: string | null }) => action ?? 'local'
  const none: Labels = {}
  return {
    'task:submitted': ({ workflow }) => sink.add('triarch.task.submitted', 1, labels({ workflow })),
    'task:claimed': ({ workflow, orphaned }) =>
      sink.add('triarch.task.claimed', 1, labels({ workflow, orphaned: String(orphaned) })),
    'task:paused': ({ workflow, cause }) => sink.add('triarch.task.paused', 1, labels({ workflow, cause })),
    'task:replayed': ({ workflow, ms }) =>
      sink.record('triarch.task.replay.duration', ms / 1_000, labels({ workflow }), null),
    'task:stopped': (event) => {
      const { workflow, outcome, ms } = event
      sink.record('triarch.task.duration', (ms ?? 0) / 1_000, labels({ workflow, outcome }), examples.task(event))
    },
    'step:requested': (event) =>
      sink.add('triarch.step.requested', 1, labels({ workflow: event.workflow, action: actionOf(event) })),
    'step:ended': (event) => {
      const { workflow, outcome, ms } = event
      const own = labels({ workflow, action: actionOf(event), outcome })
      sink.add('triarch.step.ended', 1, own)
      if (ms !== null && outcome !== 'compensated')
        sink.record('triarch.step.duration', ms / 1_000, own, examples.step(event))
    },
    'step:retried': (event) => {
      const { error, lost } = event
      const own = { action: actionOf(event), 'error.type': errorType(error), lost: lost ?? 'none' }
      sink.add('triarch.step.retried', 1, labels(own))
    },
    'step:parked': (event) => sink.add('triarch.step.parked', 1, labels({ action: actionOf(event) })),
    'attempt:started': (event) => {
      const own = labels({ action: actionOf(event) })
      sink.add('triarch.attempt.active', 1, own)
      if (event.waited !== null) sink.record('triarch.queue.wait.duration', event.waited / 1_000, own, null)
    },
    'attempt:ended': (event) => {
      const { operation, outcome, ms, error } = event
      const action = actionOf(event)
      sink.add('triarch.attempt.active', -1, labels({ action }))
      const own = labels({ action, operation, outcome, 'error.type': error ? errorType(error) : 'none' })
      sink.record('triarch.attempt.duration', ms / 1_000, own, examples.attempt(event))
    },
    'cache:hit': (event) => {
      const { from, stale } = event
      sink.add('triarch.cache.hit', 1, labels({ action: actionOf(event), from, stale: String(stale) }))
    },
    'cache:miss': (event) => sink.add('triarch.cache.miss', 1, labels({ action: actionOf(event) })),
    'cache:failed': ({ error }) => sink.add('triarch.cache.failed', 1, labels({ 'error.type': errorType(error) })),
    'cache:invalidated': ({ by }) => sink.add('triarch.cache.invalidated', 1, { by }),
    commit({ transitions, bytes, refused, ms, failed }) {
      sink.record('triarch.commit.duration', ms / 1_000, { failed: String(failed) }, null)
      sink.record('triarch.commit.transitions', transitions, none, null)
      sink.record('triarch.commit.size', bytes, none, null)
      if (refused > 0) sink.add('triarch.commit.refused', refused, none)
    },
    claim: ({ ms }) => sink.record('triarch.claim.duration', ms / 1_000, none, null),
    'queue:taken'({ requests, ms }) {
      sink.record('triarch.queue.duration', ms / 1_000, none, null)
      if (requests > 0) sink.add('triarch.queue.taken', requests, none)
    },
    sweep(event) {
      sink.record('triarch.sweep.duration', event.ms / 1_000, none, null)
      for (const [field, kind] of Object.entries(found)) {
        const value = event[field as keyof typeof found]
        const count = typeof value === 'number' ? value : value.length
        if (count > 0) sink.add('triarch.sweep.found', count, { kind })
      }
    },
    'node:died': ({ silent }) => {
      sink.add('triarch.node.died', 1, none)
      if (silent !== null) sink.record('triarch.takeover.duration', silent / 1_000, none, null)
    },
    'leader:taken': () => sink.add('triarch.leader.taken', 1, none),
    'leadership:taken': ({ name }) => sink.add('triarch.leadership.taken', 1, labels({ name })),
    'leadership:ended': ({ name, end }) => sink.add('triarch.leadership.ended', 1, labels({ name, end })),
    'lease:renewed': ({ thread }) => sink.add('triarch.lease.renewed', 1, { thread: String(thread) }),
    'lease:lost': () => sink.add('triarch.lease.lost', 1, none),
    'schedule:fired': () => sink.add('triarch.schedule.fired', 1, none),
    'breaker:moved': ({ breaker, to }) => sink.add('triarch.breaker.moved', 1, labels({ agent: agentOf(breaker), to })),
    'limit:moved': ({ agent }) => sink.add('triarch.agent.limit.moved', 1, labels({ agent })),
    'rate:moved': ({ limit, to }) => sink.add('triarch.rate.moved', 1, labels({ agent: agentOf(limit), to })),
    'queue:full': ({ workflow, outcome }) => sink.add('triarch.queue.full', 1, labels({ workflow, outcome })),
    'agent:rests': ({ agent }) => sink.add('triarch.agent.rests', 1, labels({ agent })),
    alert: ({ alert }) => sink.add('triarch.alert', 1, labels({ code: alert.code })),
    error: ({ error }) => sink.add('triarch.error', 1, labels({ 'error.type': errorType(error) })),
  }
}

/** Of a breaker or a limit: keys have any number of values. */
function agentOf(name: string): string {
  return name.split(/[.#]/, 1)[0] ?? name
}
