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
import type { Letters } from './letters.ts'
import type { Standing } from './queueing.ts'

export interface SchedulerLimits extends KernelLimits {
  /** Steps, and bytes of JSON of all inputs, of one plan. */
  planSteps: number
  planBytes: number
  /** Signals kept for a task that does not wait for them, and their bytes. */
  inbox: number
  inboxBytes: number
  /** Tasks in memory at once, and bytes of their histories. */
  tasks: number
  memory: number
  /** A task that sleeps at least this long leaves memory at once (ms). */
  longSleep: number
  /** Others do after this long without anything to do (ms). */
  idle: number
}

/** What a task runner needs of the scheduler it lives in. */
export interface RunnerHost<Runner = never> {
  readonly environment: Environment
  readonly node: string
  readonly limits: SchedulerLimits
  readonly committer: Committer
  readonly store: Pick<StateStore, 'task' | 'records'>
  readonly letters: Letters
  readonly courtesy: EventLoopYield
  readonly telemetry: Telemetry
  /** What tasks say. */
  readonly logs: Logbook
  workflow(name: string, version: string): Workflow | undefined
  /** What this process does around plans. */
  readonly planning: Pick<PlanningOptions, 'middleware' | 'subscribers'>
  /** After this record, of record 1 and those from the last continue-as-new on: page by page. */
  pages(id: string, after: number): AsyncIterable<HistoryRecord[]>
  /** Some letters of the task, after this one. */
  lettersAfter(key: number, letter: number): Promise<InboxMessage[]>
  /** A claimed task is where its history is. */
  replayed(runner: Runner): void
  /** It has made its first turn, and that is durable. */
  settled(runner: Runner): void
  /** Takes a slot in this process for an attempt of the action. */
  reserve(action: string, state: TaskState, step: Step): boolean
  unreserve(action: string, state: TaskState, step: Step): void
  /** For how long an attempt of the action may outlive this process without a word (ms); null: it dies with it. */
  lease(action: string): number | null
  /** Where it stands in its agent's queue. */
  standing(action: string, state: TaskState, step: Step): Standing
  /** By its key, if it is known here. */
  action(key: string): Action | undefined
  attempt(runner: Runner, step: Step, request: StepRequest, local: LocalCode | undefined): void
  abortStep(task: string, step: number): void
  abandonStep(task: string, step: number, reason: Error): void
  committed(runner: Runner, turn: Turn, transition: Transition, told: boolean): void
  gone(runner: Runner): void
  /** Whoever owns it now: if that is still this node, the task is to be taken up anew. */
  giveBack(runner: Runner): void
  /** The store lacks a request that it acknowledged and that the task waits for: it went back. */
  requestLost(runner: Runner): void
  /** A write for the task failed, as so many tries before: how long it is to rest (ms), or why it is not to be tried again. */
  refused(runner: Runner, error: Error, tries: number): number | Error
  /** Something went wrong that is no outcome: the task can only go on from its history. Why it is to be set apart; null: it is not. */
  failed(runner: Runner, error: Error): TriarchError | null
  /** Posts what is known of the task, and not recorded, to whoever owns it next. Resolves once that is durable, or will never be. */
  handOn(task: string, messages: readonly Message[]): Promise<void>
  /** The task leaves this node: it is set apart, or given back to be taken up anew from its history. */
  letGo(runner: Runner, why: TriarchError | null): void
  /** Told of what the code of a task left behind that is not here any more. */
  astray(error: Error): void
  /** The task waits for nothing that the engine knows of, and nothing of it runs here. */
  stalled(runner: Runner): void
  /** It waits, and not just for a moment: it may have to make room. */
  idle(runner: Runner): void
  /** Counts messages that changed nothing. */
  count(stale: number): void
}
