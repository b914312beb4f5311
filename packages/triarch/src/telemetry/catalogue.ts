import type { SettingOrigin } from '../definition/setting.ts'
import type { Alert } from '../kernel/alert.ts'
import type { ErrorRecord } from '../kernel/json.ts'
import type { TaskOutcome } from '../kernel/status.ts'
import type { Operation } from '../kernel/step/step.ts'
import type { PauseCause } from '../kernel/task/pause.ts'

/**
 * The fields of every telemetry event.
 * @example const seen: TelemetryOrigin = { at: 1_767_225_600_000, node: 'n-1' }
 */
export interface TelemetryOrigin {
  /** When it happened, by the store's clock (ms since the epoch). */
  at: number
  /** The node that publishes it; null: a process that has not started. */
  node: string | null
}

/**
 * Additional fields of events about one task.
 * @example const label = ({ workflow, version }: TaskTelemetry) => `${workflow}@${version}`
 */
export interface TaskTelemetry extends TelemetryOrigin {
  /** The id of the task. */
  task: string
  /** The name of its workflow. */
  workflow: string
  /** The version of its workflow. */
  version: string
}

/**
 * Additional fields of events about one step.
 * @example const label = ({ action, name }: StepTelemetry) => action ?? name
 */
export interface StepTelemetry extends TaskTelemetry {
  /** The number of the step in its task. */
  step: number
  /** Its action, as `agent.action`; null: a local step. */
  action: string | null
  /** The name of the step. */
  name: string
  /** The W3C trace context in the metadata of the task's submission; null: there is none. */
  traceparent: string | null
  /** The number of the run's first step, which identifies the run of the task: 1, until the task continues as new. */
  run: number
}

/**
 * Additional fields of events about one attempt.
 * @example const again = ({ attempt }: AttemptTelemetry) => attempt > 1
 */
export interface AttemptTelemetry extends StepTelemetry {
  /** The action itself, the question whether it took effect, or its compensation. */
  operation: Operation
  /** The number of the attempt of that operation, from 1. */
  attempt: number
}

/**
 * All telemetry events, by name. Events of tasks and steps are published once they are durable, by the node that owns
 * the task; those of attempts by the node that runs them. A process may die before it publishes: for exact counts use the store.
 * @example const slow = (event: TelemetryEvents['commit']) => event.ms > 100
 */
export interface TelemetryEvents {
  /**
   * A task was created. `startAt`: when it may begin (ms since the epoch; null: now); `schedule`, `parent`: what created it, if either did.
   */
  'task:submitted': TaskTelemetry & { startAt: number | null; schedule: string | null; parent: string | null }
  /** This node claimed a task from the store. `orphaned`: the former owner died or lost it. `bytes`: of the history that came with it. */
  'task:claimed': TaskTelemetry & { epoch: number; orphaned: boolean; bytes: number }
  /** The task's history was folded, and its code was replayed. `bytes`: of the history. */
  'task:replayed': TaskTelemetry & { bytes: number; ms: number }
  /** The task's code or plan began to run. */
  'task:started': TaskTelemetry
  /** The task was paused. `step`: the one that caused it, if any. */
  'task:paused': TaskTelemetry & { cause: PauseCause; step: number | null; error: ErrorRecord | null }
  /** The task was resumed. */
  'task:resumed': TaskTelemetry
  /** Compensation of the task began. */
  'task:compensating': TaskTelemetry
  /** The task began a new run. `run`: the run that ended, `ms`: since it began; `traceparent`, `parent`: as in `task:stopped`. */
  'task:continued': TaskTelemetry & {
    ms: number | null
    traceparent: string | null
    parent: string | null
    run: number
  }
  /** A stopped task was rewound. `step`: all that came after that step is void; null: only the stop. */
  'task:rewound': TaskTelemetry & { step: number | null }
  /**
   * The task stopped. `ms`: since this run began; null: it never began. `failures`: of attempts, so far. `traceparent`: the W3C trace
   * context in the metadata of its submission, if any; `parent`: the task that started it, if any; `run`: the last run, as in step events;
   * `again`: the task had stopped before, and was then retried or undone.
   */
  'task:stopped': TaskTelemetry & {
    outcome: TaskOutcome
    ms: number | null
    failures: number
    again: boolean
    error: ErrorRecord | null
    traceparent: string | null
    parent: string | null
    run: number
  }
  /** A step was requested. */
  'step:requested': StepTelemetry
  /** An attempt of the step was put into a work queue: no slot was free here, or its agent is elsewhere. `rank`: higher comes first. */
  'step:parked': AttemptTelemetry & { queue: string; rank: number }
  /** An attempt failed or was lost, and another follows at `next` (ms since the epoch). `lost`: what happened to its process. */
  'step:retried': AttemptTelemetry & {
    next: number
    error: ErrorRecord
    lost: 'death' | 'silence' | 'alive' | 'stop' | null
  }
  /** The circuit breaker of the step's action is open; the action `fallback` does it instead. */
  'step:fallback': StepTelemetry & { fallback: string }
  /** The step is suspended. `until`: its timeout (ms since the epoch). */
  'step:suspended': StepTelemetry & { until: number | null }
  /**
   * The step ended; `compensated`: it was undone. `ms`: since it was requested; null: that was before telemetry had a listener, or in
   * another process. `again`: the step had ended or was under way when its task stopped, and the task was then retried.
   */
  'step:ended': StepTelemetry & {
    outcome: 'success' | 'error' | 'skipped' | 'cancelled' | 'compensated'
    ms: number | null
    error: ErrorRecord | null
    again: boolean
  }
  /**
   * The code of an attempt is about to be called. `trial`: under probation, because processes may have died of it. `waited`: in a work
   * queue (ms); null: it was in none, or `step:parked` had no listener where it was put there.
   */
  'attempt:started': AttemptTelemetry & { trial: boolean; waited: number | null }
  /** An attempt ended: it answered, or its answer is not awaited any more. `ms`: since it started. */
  'attempt:ended': AttemptTelemetry & {
    outcome: 'done' | 'not-done' | 'unknown' | 'failed' | 'suspended' | 'withdrawn'
    ms: number
    error: ErrorRecord | null
  }
  /**
   * A cache had the answer, so the action was not called. `from`: the cache, `ms`: the age of the answer; `stale`: it is past its time to
   * live, and a new one is requested.
   */
  'cache:hit': AttemptTelemetry & { from: 'memory' | 'shared'; stale: boolean; ms: number }
  /** No cache had an answer, so the action is called. */
  'cache:miss': AttemptTelemetry
  /** A cache was down, slow or full, or had an unreadable entry; it is treated as empty. */
  'cache:failed': TelemetryOrigin & { error: unknown }
  /** This process invalidated cached answers: of one key of the action `name`, of the action, or with the tag `name`. */
  'cache:invalidated': TelemetryOrigin & { by: 'key' | 'action' | 'tag'; name: string }
  /** Children of a batch ended, or were started or retried. */
  'batch:moved': TaskTelemetry & { step: number; started: number; ended: number; again: number }
  /** A batch starts no more children: it failed with this error, or the others are not needed. */
  'batch:stopping': TaskTelemetry & { step: number; error: ErrorRecord | null }
  /**
   * Transitions were written together. `bytes`: of their events; `refused`: those of tasks that have another owner; `failed`: none was
   * stored.
   */
  commit: TelemetryOrigin & { transitions: number; bytes: number; refused: number; ms: number; failed: boolean }
  /** Tasks were claimed from the store. */
  claim: TelemetryOrigin & { tasks: number; ms: number }
  /** Step requests were taken from the agents' work queues. */
  'queue:taken': TelemetryOrigin & { requests: number; ms: number }
  /** The leading supervisor made a sweep. */
  sweep: TelemetryOrigin & {
    deadNodes: string[]
    releasedTasks: number
    expiredSteps: number
    overdueTasks: number
    ms: number
  }
  /**
   * A node was declared dead, and its tasks are free for others. `dead`: its id; `silent`: since its last heartbeat (ms); null: the leader
   * has not observed it for long enough, or a process that restarted on the same machine found the node's process gone.
   */
  'node:died': TelemetryOrigin & { dead: string; silent: number | null }
  /** This node's supervisor leads from now on. `token`: higher than that of any earlier leader. */
  'leader:taken': TelemetryOrigin & { token: number }
  /** This process leads by this name from now on (`triarch.leaders.lead`). `token`: higher than that of any earlier leader. */
  'leadership:taken': TelemetryOrigin & { name: string; token: number }
  /** This process leads no more. `end`: its function returned or failed; it was stopped; or the leadership was lost before that. */
  'leadership:ended': TelemetryOrigin & {
    name: string
    token: number
    end: 'returned' | 'failed' | 'stopped' | 'lost'
  }
  /** The node's lease was renewed. `thread`: by the thread that does this while the event loop is busy. */
  'lease:renewed': TelemetryOrigin & { thread: boolean }
  /** The node was declared dead: it gives up its tasks, and restarts under another id. */
  'lease:lost': TelemetryOrigin
  /** A schedule was due. `tasks`: number of tasks started; `next`: when it is due again (ms since the epoch; null: never). */
  'schedule:fired': TelemetryOrigin & { schedule: string; tasks: number; next: number | null }
  /** The value of a setting changed in this process. `version`: of the store; 0: it has none. */
  setting: TelemetryOrigin & { setting: string; version: number; origin: SettingOrigin }
  /** This node, or a caller in it, changed the state of a circuit breaker. `breaker`: its agent, or `agent#key`. */
  'breaker:moved': TelemetryOrigin & { breaker: string; to: 'closed' | 'open' | 'half-open' | 'releasing' }
  /** The adaptive concurrency limit of the agent changed on this node. `most`: the new limit. */
  'limit:moved': TelemetryOrigin & { agent: string; most: number }
  /** Attempts wait for their rate limit, or none does any more, on this node. `limit`: its name; `waiting`: their number. */
  'rate:moved': TelemetryOrigin & { limit: string; to: 'holding' | 'free'; waiting: number }
  /** The queue of a workflow is full (`most`): a submission is refused with QUEUE_FULL, or waits for room. */
  'queue:full': TelemetryOrigin & { workflow: string; most: number; outcome: 'refused' | 'held' }
  /** The agent's service asked for a cooldown, of this or another node. `queue`: the agent, or `agent#key`; `until`: ms since the epoch. */
  'agent:rests': TelemetryOrigin & { agent: string; queue: string; until: number }
  /** An alert was raised, as reported by `on('alert')`. */
  alert: TelemetryOrigin & { alert: Alert }
  /** Something failed inside the engine, as reported to `onError`. */
  error: TelemetryOrigin & { error: unknown }
}

/**
 * The names of the events of telemetry; each is also published as `triarch:<name>`.
 * @example const name: TelemetryName = 'task:stopped'
 */
export type TelemetryName = keyof TelemetryEvents

/**
 * Listeners by event name. A listener is called synchronously, so it should be short. Errors and rejections of it
 * go to `onError` and have no other effect.
 * @example
 * const telemetry: TelemetryListeners = {
 *   'task:stopped': ({ workflow, outcome, ms }) => console.log(workflow, outcome, ms),
 *   'attempt:ended': ({ action, outcome, ms }) => console.log(action, outcome, ms),
 * }
 */
export type TelemetryListeners = { [N in TelemetryName]?: (event: TelemetryEvents[N]) => unknown }

/** The same names as values; the compiler checks them against the types. */
const names: { readonly [N in TelemetryName]: true } = {
  'task:submitted': true,
  'task:claimed': true,
  'task:replayed': true,
  'task:started': true,
  'task:paused': true,
  'task:resumed': true,
  'task:compensating': true,
  'task:continued': true,
  'task:rewound': true,
  'task:stopped': true,
  'step:requested': true,
  'step:parked': true,
  'step:retried': true,
  'step:fallback': true,
  'step:suspended': true,
  'step:ended': true,
  'attempt:started': true,
  'attempt:ended': true,
  'cache:hit': true,
  'cache:miss': true,
  'cache:failed': true,
  'cache:invalidated': true,
  'batch:moved': true,
  'batch:stopping': true,
  commit: true,
  claim: true,
  'queue:taken': true,
  sweep: true,
  'node:died': true,
  'leader:taken': true,
  'leadership:taken': true,
  'leadership:ended': true,
  'lease:renewed': true,
  'lease:lost': true,
  'schedule:fired': true,
  setting: true,
  'breaker:moved': true,
  'limit:moved': true,
  'rate:moved': true,
  'queue:full': true,
  'agent:rests': true,
  alert: true,
  error: true,
}

/**
 * The names of all events of telemetry.
 * @example import { subscribe } from 'node:diagnostics_channel'
 * for (const name of telemetryNames) subscribe(`triarch:${name}`, (event) => console.log(name, event))
 */
export const telemetryNames: readonly TelemetryName[] = Object.keys(names) as TelemetryName[]
