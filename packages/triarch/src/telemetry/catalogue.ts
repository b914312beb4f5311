import type { SettingOrigin } from '../definition/setting.ts'
import type { Alert } from '../kernel/alert.ts'
import type { ErrorRecord } from '../kernel/json.ts'
import type { TaskOutcome } from '../kernel/status.ts'
import type { Operation } from '../kernel/step/step.ts'
import type { PauseCause } from '../kernel/task/pause.ts'

/**
 * What every event of telemetry says.
 * @example const seen: TelemetryOrigin = { at: 1_767_225_600_000, node: 'n-1' }
 */
export interface TelemetryOrigin {
  /** When it happened, by the store's clock (ms since the epoch). */
  at: number
  /** The node that tells of it; null: a process that has not started. */
  node: string | null
}

/**
 * What events about one task say besides.
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
 * What events about one step say besides.
 * @example const label = ({ action, name }: StepTelemetry) => action ?? name
 */
export interface StepTelemetry extends TaskTelemetry {
  /** The number of the step in its task. */
  step: number
  /** Its action, as `agent.action`; null: a local step. */
  action: string | null
  /** What it is called. */
  name: string
  /** The W3C trace context in the metadata of the task's submission; null: there is none. */
  traceparent: string | null
  /** The run of the task, by the number with which its steps begin: 1, until the task continues as new. */
  run: number
}

/**
 * What events about one attempt say besides.
 * @example const again = ({ attempt }: AttemptTelemetry) => attempt > 1
 */
export interface AttemptTelemetry extends StepTelemetry {
  /** The action itself, the question whether it took effect, or its compensation. */
  operation: Operation
  /** Which attempt of that operation it is, from 1. */
  attempt: number
}

/**
 * Everything that the engine tells of, by name. Of tasks and steps it is told once what they did is durable, by the node that owns
 * the task; of attempts, by the node that runs them. A process that dies may die before it tells: count what must be exact in the store.
 * @example const slow = (event: TelemetryEvents['commit']) => event.ms > 100
 */
export interface TelemetryEvents {
  /** A task was created. `startAt`: when it may begin (ms since the epoch; null: now); `schedule`, `parent`: what made it, if either did. */
  'task:submitted': TaskTelemetry & { startAt: number | null; schedule: string | null; parent: string | null }
  /** This node took a task over from the store. `orphaned`: the owner before died or lost it. `bytes`: of the history that came with it. */
  'task:claimed': TaskTelemetry & { epoch: number; orphaned: boolean; bytes: number }
  /** The task's history was folded, and its code led to where it was. `bytes`: of the history. */
  'task:replayed': TaskTelemetry & { bytes: number; ms: number }
  /** The code began to run, or the plan. */
  'task:started': TaskTelemetry
  /** The task waits for an operator, or for whoever paused it. `step`: that it is about, if any. */
  'task:paused': TaskTelemetry & { cause: PauseCause; step: number | null; error: ErrorRecord | null }
  /** It goes on. */
  'task:resumed': TaskTelemetry
  /** It began to undo what it had done. */
  'task:compensating': TaskTelemetry
  /** It began a new run with another input. `ms`: since the run before began, and `run` is that; `traceparent`, `parent`: as of `task:stopped`. */
  'task:continued': TaskTelemetry & {
    ms: number | null
    traceparent: string | null
    parent: string | null
    run: number
  }
  /** It was set going again after it had stopped. `step`: what came after that step is void; null: only its end. */
  'task:rewound': TaskTelemetry & { step: number | null }
  /**
   * The task ended. `ms`: since this run began; null: it never began. `failures`: of attempts, so far. `traceparent`: the W3C trace
   * context in the metadata of its submission, if any; `parent`: the task that started it, if any; `run`: its last, as of steps; `again`: it
   * had stopped before, and was then tried again or undone.
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
  /** A step was asked for. */
  'step:requested': StepTelemetry
  /** An attempt of the step waits in a work queue: no slot was free here, or its agent is elsewhere. `rank`: higher comes first. */
  'step:parked': AttemptTelemetry & { queue: string; rank: number }
  /** An attempt failed or was lost, and another follows at `next` (ms since the epoch). `lost`: what happened to its process. */
  'step:retried': AttemptTelemetry & {
    next: number
    error: ErrorRecord
    lost: 'death' | 'silence' | 'alive' | 'stop' | null
  }
  /** The circuit breaker before its action is open: the action `fallback` does it instead. */
  'step:fallback': StepTelemetry & { fallback: string }
  /** The step waits, and holds nothing meanwhile. `until`: at most (ms since the epoch). */
  'step:suspended': StepTelemetry & { until: number | null }
  /**
   * The step ended; `compensated`: it was undone. `ms`: since it was requested; null: that was before anybody listened, or in another
   * process. `again`: the step had ended or was under way when its task stopped, and the task was then tried again.
   */
  'step:ended': StepTelemetry & {
    outcome: 'success' | 'error' | 'skipped' | 'cancelled' | 'compensated'
    ms: number | null
    error: ErrorRecord | null
    again: boolean
  }
  /**
   * The code of an attempt is about to be called. `trial`: by itself, since processes may have died of it. `waited`: in a work queue (ms);
   * null: it was in none, or nobody listened to `step:parked` where it was put there.
   */
  'attempt:started': AttemptTelemetry & { trial: boolean; waited: number | null }
  /** An attempt is over: it answered, or nobody waits for its answer any more. `ms`: since it started. */
  'attempt:ended': AttemptTelemetry & {
    outcome: 'done' | 'not-done' | 'unknown' | 'failed' | 'suspended' | 'withdrawn'
    ms: number
    error: ErrorRecord | null
  }
  /**
   * A cache had the answer, so the action was not called. `from`: where it was kept, and since when (`ms`); `stale`: it is no longer
   * fresh, and another is asked for.
   */
  'cache:hit': AttemptTelemetry & { from: 'memory' | 'shared'; stale: boolean; ms: number }
  /** No cache had an answer: the service is asked. */
  'cache:miss': AttemptTelemetry
  /** A cache was down, slow or full, or held what cannot be read: as if it had nothing. */
  'cache:failed': TelemetryOrigin & { error: unknown }
  /** This process declared answers wrong: that for one key of the action `name`, all of the action, or all with the tag `name`. */
  'cache:invalidated': TelemetryOrigin & { by: 'key' | 'action' | 'tag'; name: string }
  /** Children of a batch ended, or were started or told to try again. */
  'batch:moved': TaskTelemetry & { step: number; started: number; ended: number; again: number }
  /** A batch starts no more children: it failed with this error, or nobody wants the others any more. */
  'batch:stopping': TaskTelemetry & { step: number; error: ErrorRecord | null }
  /** Transitions were written together. `bytes`: of their events; `refused`: those that another owner was quicker than; `failed`: the store took none. */
  commit: TelemetryOrigin & { transitions: number; bytes: number; refused: number; ms: number; failed: boolean }
  /** The store was asked for tasks. */
  claim: TelemetryOrigin & { tasks: number; ms: number }
  /** Step requests were taken from the agents' work queues. */
  'queue:taken': TelemetryOrigin & { requests: number; ms: number }
  /** The leading supervisor looked for what is late or dead. */
  sweep: TelemetryOrigin & {
    deadNodes: string[]
    releasedTasks: number
    expiredSteps: number
    overdueTasks: number
    ms: number
  }
  /**
   * A node was taken for dead, and what it had is free for others. `dead`: its id; `silent`: since it was last heard of (ms); null: the leader
   * has not listened for long enough to say, or a process that started on the same machine found the node's process gone.
   */
  'node:died': TelemetryOrigin & { dead: string; silent: number | null }
  /** This node's supervisor leads from now on. `token`: higher than that of every leader before. */
  'leader:taken': TelemetryOrigin & { token: number }
  /** This process leads by this name from now on (`triarch.lead`). `token`: higher than that of every leader before. */
  'leadership:taken': TelemetryOrigin & { name: string; token: number }
  /** It does no more. `end`: its function returned, or failed; it was asked to stop; or the leadership was lost before that. */
  'leadership:ended': TelemetryOrigin & {
    name: string
    token: number
    end: 'returned' | 'failed' | 'stopped' | 'lost'
  }
  /** The node's lease was renewed. `thread`: by the thread that does so while the event loop is busy. */
  'lease:renewed': TelemetryOrigin & { thread: boolean }
  /** The node was taken for dead: it lets go of what it has, and begins again under another name. */
  'lease:lost': TelemetryOrigin
  /** A schedule was due. `tasks`: how many it started; `next`: when it is due again (ms since the epoch; null: never). */
  'schedule:fired': TelemetryOrigin & { schedule: string; tasks: number; next: number | null }
  /** The value of a setting is another in this process. `version`: of the store; 0: it says nothing. */
  setting: TelemetryOrigin & { setting: string; version: number; origin: SettingOrigin }
  /** A circuit breaker is open, half-open, releasing or closed, for this node or a caller here made it so. `breaker`: its agent, or `agent#key`. */
  'breaker:moved': TelemetryOrigin & { breaker: string; to: 'closed' | 'open' | 'half-open' | 'releasing' }
  /** Another number of attempts of the agent runs at a time on this node (adaptive concurrency). `most`: how many. */
  'limit:moved': TelemetryOrigin & { agent: string; most: number }
  /** Attempts wait for their rate limit, or none does any more, as this node sees it. `limit`: its name; `waiting`: how many. */
  'rate:moved': TelemetryOrigin & { limit: string; to: 'holding' | 'free'; waiting: number }
  /** The line of a workflow has as many as may wait in it (`most`): a submission is refused with QUEUE_FULL, or held back until there is room. */
  'queue:full': TelemetryOrigin & { workflow: string; most: number; outcome: 'refused' | 'held' }
  /** The service of the agent asked to be left alone, as this node heard from it or from others. `queue`: the agent, or `agent#key`; `until`: ms since the epoch. */
  'agent:rests': TelemetryOrigin & { agent: string; queue: string; until: number }
  /** Something needs an operator: the alert that `on('alert')` tells of. */
  alert: TelemetryOrigin & { alert: Alert }
  /** Something failed inside of the engine: what `onError` is told. */
  error: TelemetryOrigin & { error: unknown }
}

/**
 * The names of the events of telemetry; each is published as `triarch:<name>`, too.
 * @example const name: TelemetryName = 'task:stopped'
 */
export type TelemetryName = keyof TelemetryEvents

/**
 * Who is told of what: a function by the event's name. It is called at once, so it should be short. What it throws or rejects with
 * goes to `onError`, and hurts nothing else.
 * @example
 * const telemetry: TelemetryListeners = {
 *   'task:stopped': ({ workflow, outcome, ms }) => console.log(workflow, outcome, ms),
 *   'attempt:ended': ({ action, outcome, ms }) => console.log(action, outcome, ms),
 * }
 */
export type TelemetryListeners = { [N in TelemetryName]?: (event: TelemetryEvents[N]) => unknown }

/** The same names as a list: the compiler holds it to the types. */
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
