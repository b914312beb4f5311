import type { Logbook } from '../agent/logbook.ts'
import type { Action, Workflow } from '../definition/definition.ts'
import type { Environment } from '../environment/environment.ts'
import type { EventLoopYield } from '../environment/event-loop-yield.ts'
import type { TriarchError } from '../error/error.ts'
import type { Message } from '../kernel/message.ts'
import type { TaskState } from '../kernel/state.ts'
import type { Step } from '../kernel/step/step.ts'
import type { KernelLimits, Turn } from '../kernel/turn.ts'
import type { PlanningOptions } from '../planning/planning.ts'
import type { HistoryRecord, InboxMessage, StateStore, StepRequest, Transition } from '../store/port.ts'
import type { Telemetry } from '../telemetry/outlet.ts'
import type { Committer } from './committer.ts'
import type { LocalCode } from './effect.ts'
import type { InboxTracker } from './inbox-tracker.ts'
import type { QueuePosition } from './queueing.ts'

export interface SchedulerLimits extends KernelLimits {
  /** Limit of one plan: its steps, and the bytes of JSON of all their inputs. */
  planSteps: number
  planBytes: number
  /** Limit of the signals kept for a task that does not wait for them: their number and their bytes. */
  inbox: number
  inboxBytes: number
  /** Limit of what is in memory at once: tasks, and bytes of their histories. */
  tasks: number
  memory: number
  /** A task that sleeps at least this long leaves memory at once (ms). */
  longSleep: number
  /** Other tasks leave memory after they have been idle this long (ms). */
  idle: number
}

/** What a task runner needs from its scheduler. */
export interface RunnerHost<Runner = never> {
  readonly environment: Environment
  readonly node: string
  readonly limits: SchedulerLimits
  readonly committer: Committer
  readonly store: Pick<StateStore, 'task' | 'records'>
  readonly inbox: InboxTracker
  readonly eventLoopYield: EventLoopYield
  readonly telemetry: Telemetry
  /** Collects the log lines of tasks. */
  readonly logs: Logbook
  workflow(name: string, version: string): Workflow | undefined
  /** Middleware and subscribers of this process that take part in planning. */
  readonly planning: Pick<PlanningOptions, 'middleware' | 'subscribers'>
  /** The records after this one, page by page; records before the last continue-as-new are left out, except record 1. */
  pages(id: string, after: number): AsyncIterable<HistoryRecord[]>
  /** The task's inbox messages after this one, up to a limit. */
  inboxAfter(key: number, after: number): Promise<InboxMessage[]>
  /** Called once a claimed task has been replayed. */
  replayed(runner: Runner): void
  /** Called once a task's turn is durable (or changed nothing). */
  settled(runner: Runner): void
  /** Takes a slot in this process for an attempt of the action. */
  reserve(action: string, state: TaskState, step: Step): boolean
  unreserve(action: string, state: TaskState, step: Step): void
  /**
   * How long an attempt of the action may go without a heartbeat before it counts as dead, if it can outlive this process (ms); null: it
   * dies with this process.
   */
  lease(action: string): number | null
  /** Where the step stands in its agent's queue. */
  standing(action: string, state: TaskState, step: Step): QueuePosition
  /** The action of this key, if this process knows it. */
  action(key: string): Action | undefined
  attempt(runner: Runner, step: Step, request: StepRequest, local: LocalCode | undefined): void
  abortStep(task: string, step: number): void
  abandonStep(task: string, step: number, reason: Error): void
  committed(runner: Runner, turn: Turn, transition: Transition, told: boolean): void
  gone(runner: Runner): void
  /** Gives the task back if this node still owns it, so that it is claimed anew. */
  giveBack(runner: Runner): void
  /** The store acknowledged a request that the task awaits and has lost it: the store went back. */
  requestLost(runner: Runner): void
  /**
   * A write for the task failed after `tries` failures. Returns how long to wait before the next try (ms), or the error that forbids one.
   */
  refused(runner: Runner, error: Error, tries: number): number | Error
  /**
   * An unexpected error occurred, and the task can only go on from its history. Returns the reason for quarantine, or null if it is not
   * to be quarantined.
   */
  failed(runner: Runner, error: Error): TriarchError | null
  /** Posts unrecorded knowledge of the task for its next owner. Resolves once it is durable, or can never be. */
  handOn(task: string, messages: readonly Message[]): Promise<void>
  /** The task leaves this node: it is quarantined for the given reason, or given back to be claimed anew. */
  letGo(runner: Runner, why: TriarchError | null): void
  /** Reports an error left behind by the code of a task that is no longer here. */
  hasUnknownOwner(error: Error): void
  /** Called when the task waits for nothing that the engine knows of, and no attempt of it runs here. */
  stalled(runner: Runner): void
  /** Called when the task waits for more than a moment: it may have to make room. */
  idle(runner: Runner): void
  /** Counts messages that changed nothing. */
  count(stale: number): void
}
