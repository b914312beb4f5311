import type { ErrorRecord, Json } from '../json.ts'
import type { StepStatus } from '../status.ts'
import type { PauseCause } from '../task/pause.ts'
import type { StepPolicy } from './policy.ts'

/** What an attempt does for its step: the action itself, the question whether it took effect, or its compensation. */
export type Operation = 'run' | 'verify' | 'undo'

/** How far a process came that tries an attempt by itself (`loss.ts`). */
export type Trial = 'begun' | 'survived'

/**
 * How an attempt was lost: its process died; nothing was heard of it in time, as if it had; it lives, but did not begin in time or
 * was taken for dead; it was stopped in good order.
 */
export type Loss = 'death' | 'silence' | 'alive' | 'stop'

/**
 * An answer of before, from a cache.
 * @example const mark: CacheMark = { at: Date.now(), from: 'shared' }
 */
export interface CacheMark {
  /** When it was kept (ms since the epoch). */
  at: number
  /** From the memory of the process that was asked, or from what all nodes share. */
  from: 'memory' | 'shared'
  /** It was older than it may be, and another was being asked for. */
  stale?: true
}

/** When, where and how long an attempt ran. `startedAt` is null when it died unseen. Instants are ms since the epoch. */
export interface AttemptTrace {
  attempt: number
  startedAt: number | null
  endedAt: number
  node: string | null
  /** Nothing was tried: it is from a cache. */
  cached?: CacheMark
}

/** One planned or requested execution of an action. */
export interface Step {
  id: number
  /** Null: local, or (with `undoOnly`) a registered compensation. */
  action: string | null
  /** Those whose steps it was before, the first of them first. */
  fallbackOf: readonly string[]
  name: string
  undoOnly: boolean
  input: Json
  policy: StepPolicy
  generation: number
  status: StepStatus
  /** What is attempted now, and which attempt of that operation it is. */
  operation: Operation
  attempt: number
  attempts: Record<Operation, number>
  /** Failures counted against each operation's retry budget. */
  failures: Record<Operation, number>
  /** Attempts lost with their process since the last that ended otherwise. */
  losses: number
  /** Those of them since a process tried it by itself and lived on. */
  doubts: number
  /** Those of them that the process tried by themselves, and died of; half of each that it only seems to have died of. */
  strikes: number
  /** Until then it may only be tried by itself. */
  patientUntil: number
  /** A process tries the current attempt by itself, and has outlived its beginning. */
  begun: boolean
  lived: boolean
  /** The current attempt is in a process without a store: since when, and for how long without a word (ms); null: it is not. */
  given: { at: number; lease: number } | null
  /** Until then its answer comes from elsewhere, if it comes; null: its owner here has it. */
  awaited: number | null
  /** The current attempt may start from this instant on. */
  due: number
  /** The last run attempt may or may not have taken effect. */
  unknown: boolean
  /** Until then an attempt of unknown outcome may still take effect: its complete-by. */
  doubtUntil: number
  /** Waits for an operator, and why. */
  held: PauseCause | null
  /** An operator set it going while others of its task are still held: it goes on though the task is paused. */
  released: boolean
  requestedAt: number
  completedAt: number
  expiresAt: number | null
  /** Until when the agent put off the current attempt when it did first; null: it never did. While no queue has it, it has not begun. */
  putOff: number | null
  output: Json | undefined
  error: ErrorRecord | undefined
  checkpoint: Json | undefined
  progress: Json | undefined
  /** What the current attempt is told; null: it begins. */
  received: StepSignal | null
  /** It wants to be told when its task stops while it is suspended. */
  notifyOnCancel: boolean
  /** Volatile: the current attempt was handed to an agent by this process (or lives in a work queue). */
  dispatched: boolean
  /** Volatile: until then nobody has a place for it. */
  deferred: number
  /** Volatile: the work queue in which the current attempt is to wait; null: that of its agent, if it must wait at all. */
  lane: string | null
  /** Volatile: since when, and for which node, an agent had the current attempt that gave it back last; null: none did. */
  returned: { startedAt: number | null; node: string | null } | null
  /** Volatile: its abort was asked for. */
  aborted: boolean
}

/** What a suspended step runs again with. */
export interface StepSignal {
  /** `timeout` and `cancel` come from the engine, `resume` from triarch.resume() unless it says otherwise. */
  name: string
  payload: Json
}
