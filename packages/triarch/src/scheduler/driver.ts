import type { TriarchError } from '../error/error.ts'
import type { Message } from '../kernel/message.ts'
import type { Rebuilt } from '../kernel/rebuild.ts'
import type { TaskState } from '../kernel/state.ts'
import type { Step } from '../kernel/step/step.ts'
import type { Turn } from '../kernel/turn.ts'
import type { LogEntry, NewTask } from '../store/port.ts'
import type { LocalCode } from './effect.ts'

/** How a task begins: its code runs, a plan is made first, or the task cannot begin on this node. */
export type Beginning = 'function' | 'plan' | 'none'

/**
 * Makes the decisions of a task that the kernel does not make by itself, by running the user's code. A driver lives from the replay of a
 * task until the task leaves memory or is replayed again. It changes the state only by events of the turn in which it is called; what it
 * decides at other times it keeps, and asks for a turn.
 */
export interface Driver {
  readonly begins: Beginning
  /** Time from the task's beginning to its complete-by (ms). Plans do not use it: a plan has its own limit. */
  readonly runWithin?: number | undefined
  /** The driver decided something between turns, so a turn is due. */
  readonly urgent: boolean
  /**
   * Brings the code to where the history is. `undoes`: also the code of a stopped task, to undo its local steps. Throws REPLAY_TOO_LONG.
   */
  replay(rebuilt: Rebuilt, undoes: boolean): Promise<void>
  /** The task began. Returns true if its code now runs and must be let go as far as it can. */
  begin(at: number): boolean
  /**
   * Takes the code's decisions into the turn and delivers the next outcome to the code. Returns true if there was one; the code must then
   * be let go as far as it can.
   */
  tell(turn: Turn, children: NewTask[]): boolean
  /** Called after all outcomes are delivered: makes the decisions that follow without the code asking for them. */
  advance(turn: Turn): void
  /** The code of a step that runs where the task is owned, if this driver has it. */
  code(step: Step): LocalCode | undefined
  /** Whether the step was to run here but its code no longer exists. */
  misses?(step: Step): boolean
  /** The log lines of the code since the last call; null: none. */
  said?(): readonly LogEntry[] | null
  /** Returns an error if the workflow declares its signals and this name is not among them. */
  refuses?(signal: string): TriarchError | null
  /** The task's code left an unhandled error: a rejected promise, or null for a thrown error. */
  left?(error: TriarchError, promise: Promise<unknown> | null): void
  /** The rejection was handled after all. */
  handled?(promise: Promise<unknown>): void
  /** The task can go no further on this node, but may elsewhere. */
  isStranded(state: TaskState): boolean
  /** The task waits, and for nothing that the engine knows of. */
  isStalled?(state: TaskState): boolean
  /** Work to be done between turns; its result is given to the task as a message. Null: none. */
  work?(state: TaskState): Promise<Message> | null
}
