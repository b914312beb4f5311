/** The kind of thing that a tally counts: tasks, steps, or attempts of steps. */
export type TallyKind = 'task' | 'step' | 'attempt'

/** How often something happened within an hour. All fields but the last two identify what. */
export interface Tally {
  /** The beginning of the hour (ms since the epoch). */
  hour: number
  /** The kind of thing. */
  kind: TallyKind
  /** The name of the workflow. */
  workflow: string
  /** The agent; '' if none is involved. */
  agent: string
  /** The action, as `agent.action`; '' for tasks. */
  action: string
  /** The outcome. */
  outcome: string
  /** The code of the error, or its name; '' without an error. */
  error: string
  /** The value of the tag that identifies the tenant; '' without one. */
  tag: string
  /** How long it took, as the number of a bucket (`statistics/histogram.ts`); -1: not known. */
  bucket: number
  /** The number of times. */
  count: number
  /** The sum of their durations (ms). */
  ms: number
}

/** The fields by which tallies can be grouped. */
export type TallyColumn = Exclude<keyof Tally, 'count' | 'ms'>

/** The request of one round of counting. */
export interface UncountedRequest {
  /** The supervisor's lease and its fencing token. */
  name: string
  /** The fencing token of that lease. */
  token: number
  /** The last key of the previous page; 0 begins a new lap. */
  after: number
  /** Most tasks that are examined, or found to be new. */
  look: number
  /** Where the page of tasks begins that are examined again, because a task may be deleted or may go on after it stopped; 0: the first. */
  audit: number
  /** Most tasks on the page. */
  limit: number
}

/** A task with records that are not counted yet. */
export interface FollowedTask {
  /** Its number in the store. */
  key: number
  /** The id of the task. */
  id: string
  /** The last counted record; 0: none. */
  seq: number
  /** The state of the counting after that record, as text; null: none. */
  state: string | null
}

/** A page of a lap over the tasks that may have uncounted records. */
export interface UncountedPage {
  /** The store's time. */
  at: number
  /** The tasks, by key. */
  tasks: FollowedTask[]
  /** Where the next page begins; null: the lap is over. */
  next: number | null
  /** Where the next page of tasks to examine again begins. */
  audited: number
  /** There may be tasks that are not followed yet. */
  behind: boolean
  /** Set while the tallies are being dropped; nothing can be counted before that is done. */
  anew?: boolean
}

/** The progress of counting one task. */
export interface CountedTask {
  /** Its number in the store. */
  key: number
  /** The last counted record before this round. */
  from: number
  /** The last counted record now. */
  seq: number
  /** The state for counting the next records, as text. */
  state: string
  /** Whether the task has stopped. */
  done: boolean
}

/** The result of one round of counting. */
export interface TallyWrite {
  /** The supervisor's lease and its fencing token. */
  name: string
  /** The fencing token of that lease. */
  token: number
  /** The counted tasks. Each record counts once: if another process counted one of these, nothing is written. */
  tasks: readonly CountedTask[]
  /** Tallies to add. */
  tallies: readonly Tally[]
  /** All that was written before this instant is counted now; null: unchanged. */
  asOf: number | null
  /** Hours before this instant are dropped, some at a time. */
  keepFrom: number
}

/** Selects tallies, and how they are grouped. */
export interface TallyQuery {
  /** Hours from this instant on. */
  from: number
  /** Hours that begin before this instant. */
  to: number
  /** Only tallies with these values. */
  where: Partial<Record<Exclude<TallyColumn, 'hour' | 'bucket'>, string>>
  /** Leaves out submissions of tasks, so that each task counts once, when it stops. */
  once?: boolean
  /** The columns to group by; columns that are not named are '' or 0 in the answer. */
  by: readonly TallyColumn[]
  /** Most rows. */
  limit: number
}

/** The answer to a query of tallies. */
export interface TallyPage {
  /** The tallies, ordered by their columns. */
  tallies: Tally[]
  /** All that was written before this instant is counted; null: nothing was counted yet. */
  asOf: number | null
  /** The store's time. */
  at: number
  /** The progress of counting anew; null: none is under way. */
  recount: Recount | null
}

/** The progress of counting anew. */
export interface Recount {
  /** When it was requested (ms since the epoch). */
  since: number
  /** How much of it is done, from 0 to 1, measured by the tasks that existed at the request. */
  share: number
}

/** The store's state of counting: keys of tasks, and instants. */
export interface RecountRow {
  /** All that was written before this instant is counted; null: no lap was completed. */
  asOf: number | null
  /** Whether the tallies are being dropped. */
  anew: boolean
  /** When counting anew was last requested; null: never. */
  since: number | null
  /** The highest key of a task at that time. */
  goal: number | null
  /** The highest key of a followed task. */
  reached: number | null
  /** The lowest key of a task. */
  first: number | null
}

/** Returns the progress of counting anew; null if it is done, or was never requested. */
export function recountOf({ asOf, anew, since, goal, reached, first }: RecountRow): Recount | null {
  if (since === null || (asOf !== null && !anew)) return null
  if (anew || reached === null) return { since, share: 0 }
  const from = first ?? 1
  return { since, share: Math.min(1, Math.max(0, (reached - from + 1) / Math.max(1, (goal ?? 0) - from + 1))) }
}

/** All columns, in order. */
export const TALLY_COLUMNS: readonly TallyColumn[] = [
  ...(['hour', 'kind', 'workflow', 'agent', 'action', 'outcome', 'error', 'tag', 'bucket'] as const),
]
/** Most expired rows that one write drops. */
export const TALLIES_DROPPED = 1_000
