import type { StateStore } from './port.ts'

/** Properties of a store call that the wrappers around a store need. */
interface CallTraits {
  /**
   * Whether callers wait for an answer no longer than the store's patience. False for calls whose length others decide
   * (migrations, users' own code and transactions) and for members that return no promise.
   */
  bounded: boolean
  /**
   * Set if other processes may be waiting for what the call does: `work`, which a node of this process may take as
   * well, or only an `end`.
   */
  wakes?: 'work' | 'end'
}

/**
 * Every member of a store. A new call is added here, in the port, in both stores and in the conformance suite; the
 * compiler reports whatever else is missing.
 */
const members = {
  open: { bounded: false },
  close: { bounded: false },
  migrate: { bounded: false },
  transact: { bounded: false },
  submitIn: { bounded: false },
  keepAlive: { bounded: false },
  watch: { bounded: false },
  watchEnds: { bounded: false },
  vitals: { bounded: false },
  paced: { bounded: false },
  patience: { bounded: false },
  commitsAtOnce: { bounded: false },
  unanswered: { bounded: false },
  now: { bounded: true },
  commit: { bounded: true, wakes: 'work' },
  submit: { bounded: true, wakes: 'work' },
  importTask: { bounded: true, wakes: 'work' },
  effect: { bounded: true, wakes: 'work' },
  post: { bounded: true, wakes: 'work' },
  claim: { bounded: true },
  poll: { bounded: true },
  nextWake: { bounded: true },
  inbox: { bounded: true },
  taskInbox: { bounded: true },
  quarantine: { bounded: true },
  releaseQuarantine: { bounded: true, wakes: 'work' },
  clearSuspicion: { bounded: true },
  terminate: { bounded: true, wakes: 'work' },
  truncate: { bounded: true, wakes: 'work' },
  takeWork: { bounded: true },
  permits: { bounded: true },
  queueHeads: { bounded: true },
  adoptWork: { bounded: true },
  reply: { bounded: true, wakes: 'end' },
  heartbeatWork: { bounded: true },
  heartbeat: { bounded: true },
  leave: { bounded: true, wakes: 'end' },
  lead: { bounded: true },
  heartbeats: { bounded: true },
  declareDead: { bounded: true },
  sweep: { bounded: true, wakes: 'work' },
  prune: { bounded: true },
  readUncounted: { bounded: true },
  tally: { bounded: true },
  tallies: { bounded: true },
  recount: { bounded: true },
  schedules: { bounded: true },
  writeSchedule: { bounded: true, wakes: 'work' },
  dropSchedule: { bounded: true },
  breakers: { bounded: true },
  writeBreaker: { bounded: true, wakes: 'work' },
  readCache: { bounded: true },
  writeCache: { bounded: true },
  beginFill: { bounded: true },
  endFill: { bounded: true },
  invalidate: { bounded: true, wakes: 'work' },
  invalidated: { bounded: true },
  trimCache: { bounded: true },
  leaders: { bounded: true },
  elect: { bounded: true },
  resign: { bounded: true, wakes: 'work' },
  writeLogs: { bounded: true },
  logs: { bounded: true },
  settings: { bounded: true },
  writeSetting: { bounded: true, wakes: 'work' },
  settingChanges: { bounded: true },
  alerts: { bounded: true },
  writeAlert: { bounded: true },
  alertPosts: { bounded: true },
  settleAlertPost: { bounded: true },
  keys: { bounded: true },
  keyMark: { bounded: true },
  writeKey: { bounded: true },
  secrets: { bounded: true },
  writeSecret: { bounded: true },
  useKeys: { bounded: true },
  probes: { bounded: true },
  writeProbes: { bounded: true },
  writeAudit: { bounded: true },
  audit: { bounded: true },
  trimAudit: { bounded: true },
  task: { bounded: true },
  taskVersions: { bounded: true },
  records: { bounded: true },
  replay: { bounded: true },
  list: { bounded: true },
  lostRecords: { bounded: true },
  owned: { bounded: true },
  nodes: { bounded: true },
  queued: { bounded: true },
  parked: { bounded: true },
  locks: { bounded: true },
  heldLocks: { bounded: true },
  queues: { bounded: true },
  backlogs: { bounded: true },
  queueLength: { bounded: true },
  counts: { bounded: true },
  changes: { bounded: true },
} as const

/** The traits of each member, by name. */
export const storeCalls: Readonly<Record<keyof StateStore, CallTraits>> = members

type Members = typeof members
/** Names of calls whose answers are bounded. */
export type BoundedCall = {
  [Name in keyof Members]: Members[Name]['bounded'] extends true ? Name : never
}[keyof Members]

export const storeMembers: readonly (keyof StateStore)[] = Object.keys(members) as (keyof StateStore)[]
export const boundedCalls: readonly BoundedCall[] = storeMembers.filter(
  (name): name is BoundedCall => storeCalls[name].bounded,
)
export const unboundedCalls: readonly (keyof StateStore)[] = storeMembers.filter((name) => !storeCalls[name].bounded)
