import type { BatchFact } from './batch/event.ts'
import type { ChildDecision, ChildFact } from './child/event.ts'
import type { LockDecision, LockFact } from './lock/event.ts'
import type { PlanFact } from './plan/event.ts'
import type { StepDecision, StepFact } from './step/event.ts'
import type { SuspensionFact } from './suspension/event.ts'
import type { TaskDecision, TaskFact } from './task/event.ts'
import type { WaitDecision, WaitFact } from './wait/event.ts'

/**
 * Decisions: what the workflow's code asked for. On replay each is compared with what the code asks for now.
 * `id` numbers a task's decisions in the order its code made them, whatever their kind.
 */
export type Decision = TaskDecision | StepDecision | WaitDecision | ChildDecision | LockDecision

/** Facts: what happened to the task. */
export type Fact = TaskFact | PlanFact | StepFact | SuspensionFact | WaitFact | ChildFact | BatchFact | LockFact

/** One event of a task's history. */
export type TaskEvent = Decision | Fact
