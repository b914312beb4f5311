import type { ProcessIdentity } from '../environment/environment.ts'
import type { TriarchError } from '../error/error.ts'
import type { NodeRuns } from './gate.ts'
import type { Snapshot } from './task.ts'

/** A task, as its row shows it. Instants are ms since the epoch. */
export interface TaskRow extends Snapshot {
  /** Its number in the store, in the order of creation. */
  key: number
  /** The id of the task. */
  id: string
  /** The name of its workflow. */
  workflow: string
  /** The version of its workflow. */
  version: string
  /** Higher first. */
  priority: number
  /** The tags of its submission. */
  tags: Record<string, string>
  /** The task that started it; null: none did. */
  parent: string | null
  /** The step of the parent that started it; null: no step did, as for the task of a hook. */
  parentStep: number | null
  /** The node that owns it; null if none does. */
  lockedBy: string | null
  /** How often it was claimed: the fence of its owner. */
  epoch: number
  /** When it was created. */
  submittedAt: number
  /** When its row was last written. */
  updatedAt: number
  /** It has no owner and waits for a scheduler that can run it. */
  ready: boolean
  /** It is ready for a message that any scheduler can handle, with or without the workflow's code. */
  control: boolean
  /** The next wake-up of an unowned task. */
  wakeAt: number | null
  /** It is in quarantine: no node claims it before an operator releases it. */
  quarantined: boolean
  /**
   * The record that contains its output, if the output is large and `output` is only a reference to it, which is not
   * JSON (`output.ts`). Only stores set it: for all other readers `output` is the value.
   */
  outputIn?: string
  /**
   * The text of its output as the row has it, if part of it is secret (`kernel/veiled.ts`); then `output` is the value
   * itself, with its secrets.
   */
  veiled?: string
  /** Why some of its texts cannot be decoded; those are not JSON then. */
  undecoded?: TriarchError
}

/** The state of a task that waiters compare. */
export interface TaskVersion {
  /** The id of the task. */
  id: string
  /**
   * A text that changes whenever the row shows another status, progress, failure or pause; several changes within one
   * ms may go unnoticed.
   */
  mark: string
  /** It has stopped, and no message of an operator waits that may start it again. */
  ended: boolean
}

/** Selects tasks: those for which all conditions hold. */
export interface ListQuery {
  /** Conditions on their rows. */
  where: readonly RowCondition[]
  /** Continue behind the row of this key. */
  after?: number
  /** Most rows. */
  limit: number
  /** The order, by key. */
  order: 'newest' | 'oldest'
  /** A replica that lags a little may answer: the rows are only shown, no decision depends on them. */
  copy?: boolean
  /** If true, a progress or an output of more than `BRIEF` bytes is replaced by a text that begins with `@`, which is not JSON. */
  brief?: boolean
}

/**
 * A property that a condition can test: a column of the row, a tag, or `troubled`: the result is neither `pending` nor
 * `success`, or the task is paused. Only such rows have an error.
 */
export type RowColumn =
  | (
      | 'id'
      | 'workflow'
      | 'version'
      | 'status'
      | 'result'
      | 'parent'
      | 'parentStep'
      | 'lockedBy'
      | 'priority'
      | 'failures'
    )
  | ('submittedAt' | 'updatedAt' | 'ready' | 'quarantined' | 'troubled' | 'tag')

/** A condition on a row. */
export interface RowCondition {
  /** The column. */
  column: RowColumn
  /** The name of the tag, if the column is `tag`. */
  tag?: string
  /** If set, the test must fail. A column without a value meets neither. */
  not?: true
  /** The test. */
  test: RowTest
}

/**
 * A test: the column has a value, or is true; it is one of these texts, or lies within one of these ranges; it is a
 * number between these, both included.
 */
export type RowTest =
  | { type: 'given' }
  | { type: 'text'; oneOf: readonly string[]; within?: readonly TextRange[] }
  | { type: 'number'; least?: number; most?: number }

/** A range of texts, by their code points. */
export interface TextRange {
  /** The first text of the range. */
  from: string
  /** The first text behind the range; null: there is no end. */
  to: string | null
}

/** The result of one `list` call. */
export interface ListedTasks {
  /** The rows, in the requested order. */
  rows: TaskRow[]
  /**
   * The key up to which the call examined tasks when it stopped before the page was full: there may be more behind it.
   * Null: the page is full, or that is all.
   */
  looked: number | null
}

/** A node, as the store knows it. Instants are ms since the epoch, by the store's clock. */
export interface NodeRow {
  /** The id of the node; each start of a process has another. */
  id: string
  /** Its roles: `scheduler`, `agent`, `supervisor`. */
  roles: string[]
  /** When it registered. */
  startedAt: number
  /** When its lease ends unless it is renewed. */
  leaseUntil: number
  /** What it can run; null if it never reported. */
  runs: NodeRuns | null
  /** Where it runs; null if it never reported. */
  place: ProcessIdentity | null
}

/** Counts of the store. Nothing is counted beyond 10,000. */
export interface StoreCounts {
  /** Tasks of any state. */
  tasks: number
  /** Tasks that wait for a scheduler. */
  ready: number
  /** Requests in work queues. */
  work: number
  /** Messages that no task has consumed yet. */
  inbox: number
  /** The names of counts that are lower bounds. */
  truncated?: readonly ('tasks' | 'ready' | 'work' | 'inbox')[]
}

/** Most bytes of a progress or an output in a brief row. */
export const BRIEF = 2_048

/** Counting stops here: a number on a screen must not cost a scan of millions of rows. */
export const MOST_COUNTED = 10_000

/** Returns the counts with the names of those that reached MOST_COUNTED as `truncated`. */
export function countedUpTo({ tasks, ready, work, inbox }: StoreCounts): StoreCounts {
  const counts = { tasks, ready, work, inbox }
  const truncated = (['tasks', 'ready', 'work', 'inbox'] as const).filter((name) => counts[name] >= MOST_COUNTED)
  return truncated.length > 0 ? { ...counts, truncated } : counts
}
