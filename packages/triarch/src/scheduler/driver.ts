import type { TriarchError } from '../error/error.ts'
import type { Message } from '../kernel/message.ts'
import type { Rebuilt } from '../kernel/rebuild.ts'
import type { TaskState } from '../kernel/state.ts'
import type { Step } from '../kernel/step/step.ts'
import type { Turn } from '../kernel/turn.ts'
import type { LogEntry, NewTask } from '../store/port.ts'
import type { LocalCode } from './effect.ts'

/** How a task begins: its code runs, a plan is made of it first, or it cannot begin where it is. */
export type Beginning = 'function' | 'plan' | 'none'

/**
 * Who decides for a task what the kernel does not decide by itself: the code that its user wrote, wherever that runs. There is
 * one from each time a task is brought to where its history is until it leaves memory, or is brought there anew. It never
 * changes the state but by events of the turn it is called in; what it decides at other times, it keeps and asks for a turn.
 */
export interface Driver {
  readonly begins: Beginning
  /** From the beginning to the complete-by of the task (ms). Not of a plan, which has its own. */
  readonly runWithin?: number | undefined
  /** It has decided something by itself: a turn is due. */
  readonly urgent: boolean
  /** Brings the code to where the history is. `undoes`: also that of a stopped task. Throws REPLAY_TOO_LONG. */
  replay(rebuilt: Rebuilt, undoes: boolean): Promise<void>
  /** The task began. True: now its code runs, and is to go as far as it can. */
  begin(at: number): boolean
  /** Takes down what was decided, and says what became of it, one outcome at a time: true, and the code is to go as far as it can with that. */
  tell(turn: Turn, children: NewTask[]): boolean
  /** Once everything is said: what follows from that without being asked for. */
  advance(turn: Turn): void
  /** The code of a step that runs where the task is owned, if this has it. */
  code(step: Step): LocalCode | undefined
  /** The step was to run here, and its code is not there any more. */
  misses?(step: Step): boolean
  /** What its code said since it was asked last; null: nothing. */
  said?(): readonly LogEntry[] | null
  /** Why a signal of this name is nobody's: the workflow declares others. */
  refuses?(signal: string): TriarchError | null
  /** Its code left an error behind that nobody handled: a promise of this rejection, or null. */
  left?(error: TriarchError, promise: Promise<unknown> | null): void
  /** The rejection was handled after all. */
  handled?(promise: Promise<unknown>): void
  /** The task can go no further here, and may elsewhere. */
  isStranded(state: TaskState): boolean
  /** The task waits, and for nothing that the engine knows of. */
  isStalled?(state: TaskState): boolean
  /** What is to be worked out while no turn is; the answer is for the task like a letter. Null: nothing. */
  work?(state: TaskState): Promise<Message> | null
}
