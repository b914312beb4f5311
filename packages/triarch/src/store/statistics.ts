/** What a tally counts: tasks, steps, or attempts at steps. */
export type TallyKind = 'task' | 'step' | 'attempt'

/** How often one thing was so within an hour. All besides the last two tells it from others. */
export interface Tally {
  /** The beginning of the hour (ms since the epoch). */
  hour: number
  /** What is counted. */
  kind: TallyKind
  /** The name of the workflow. */
  workflow: string
  /** The agent; '' where none has a part in it. */
  agent: string
  /** `agent.action`; '' for tasks. */
  action: string
  /** What became of it. */
  outcome: string
  /** The code of the error, or its name; '' without one. */
  error: string
  /** The value of the tag that tenants are told by; ''. */
  tag: string
  /** How long it took, as the number of a bucket (`statistics/histogram.ts`); -1: not known. */
  bucket: number
  /** How often. */
  count: number
  /** How long all of them took (ms). */
  ms: number
}

/** What tallies can be told apart by. */
export type TallyColumn = Exclude<keyof Tally, 'count' | 'ms'>

/** What one round that counts asks for. */
export interface UncountedRequest {
  /** The supervisor's lease and its fencing token. */
  name: string
  /** The fencing token of that lease. */
  token: number
  /** The key of the last task of the page before; 0: a new lap. */
  after: number
  /** Most tasks that are looked at, or found to be new. */
  look: number
  /** Where the page of tasks begins that are looked at again, for one may be no more, or go on after its stop; 0: the first. */
  audit: number
  /** Most tasks that the page has. */
  limit: number
}

/** A task with records that are not counted yet. */
export interface FollowedTask {
  /** Its number in the store. */
  key: number
  /** The id of the task. */
  id: string
  /** The last record that is counted; 0: none. */
  seq: number
  /** What the counting keeps of the records before; null: nothing. */
  state: string | null
}

/** A page of a lap over the tasks that may have such records. */
export interface UncountedPage {
  /** The store's time. */
  at: number
  /** In the order of their keys. */
  tasks: FollowedTask[]
  /** Where the next page begins; null: the lap is over. */
  next: number | null
  /** Where the next of those begins. */
  audited: number
  /** There may be tasks that no lap knows yet. */
  behind: boolean
  /** What was counted is being dropped; there is nothing to count before that is done. */
  anew?: boolean
}

/** Records of one task were counted. */
export interface CountedTask {
  /** Its number in the store. */
  key: number
  /** The last record that was counted before. */
  from: number
  /** The last that is now. */
  seq: number
  /** What is kept for the next. */
  state: string
  /** It has stopped. */
  done: boolean
}

/** What one round counted. */
export interface TallyWrite {
  /** The supervisor's lease and its fencing token. */
  name: string
  /** The fencing token of that lease. */
  token: number
  /** Each record counts once: when another counted one of these, nothing is written. */
  tasks: readonly CountedTask[]
  /** What is added. */
  tallies: readonly Tally[]
  /** All that was written before this instant is counted now; null: nothing new is known of that. */
  asOf: number | null
  /** Hours before this instant are dropped, some at a time. */
  keepFrom: number
}

/** Which tallies, and what they are told apart by. */
export interface TallyQuery {
  /** Hours from this instant on. */
  from: number
  /** Hours that begin before this instant. */
  to: number
  /** Only those that have this value. */
  where: Partial<Record<Exclude<TallyColumn, 'hour' | 'bucket'>, string>>
  /** Leaves out submissions of tasks: each counts once, when it stops. */
  once?: boolean
  /** Of what is not named here the answer says nothing: '', or 0. */
  by: readonly TallyColumn[]
  /** Most rows. */
  limit: number
}

/** What was found. */
export interface TallyPage {
  /** In the order of their columns. */
  tallies: Tally[]
  /** All that was written before it is counted; null: nothing was counted yet. */
  asOf: number | null
  /** The store's time. */
  at: number
  /** All is counted anew; null: that is done. */
  recount: Recount | null
}

/** How far counting anew has come. */
export interface Recount {
  /** When it was asked for (ms since the epoch). */
  since: number
  /** How much of it is done, from 0 to 1: by the tasks that there were then. */
  share: number
}

/** What a store knows of that: keys of tasks, and where the counting stands. */
export interface RecountRow {
  /** All that was written before it is counted; null: nothing was counted whole. */
  asOf: number | null
  /** What was counted is being dropped. */
  anew: boolean
  /** When counting anew was asked for, the last time; null: never. */
  since: number | null
  /** The highest key of a task then. */
  goal: number | null
  /** The highest key of a task that is followed. */
  reached: number | null
  /** The lowest key of a task. */
  first: number | null
}

/** What that says of counting anew; null: it is done, or was never asked for. */
export function recountOf({ asOf, anew, since, goal, reached, first }: RecountRow): Recount | null {
  if (since === null || (asOf !== null && !anew)) return null
  if (anew || reached === null) return { since, share: 0 }
  const from = first ?? 1
  return { since, share: Math.min(1, Math.max(0, (reached - from + 1) / Math.max(1, (goal ?? 0) - from + 1))) }
}

/** All columns, in their order. */
export const TALLY_COLUMNS: readonly TallyColumn[] = [
  ...(['hour', 'kind', 'workflow', 'agent', 'action', 'outcome', 'error', 'tag', 'bucket'] as const),
]
/** Rows of hours that are too old that one write drops. */
export const TALLIES_DROPPED = 1_000
