/** The entry for state stores in other packages: the port, and the environment that a store takes its time from. */

export { delay, type Environment, type ProcessIdentity, type Timer } from '../environment/environment.ts'
export type { Heartbeat, Message, Reply } from '../kernel/message.ts'
export type { Operation } from '../kernel/step/step.ts'
export type { FairShare } from '../kernel/task/order.ts'
export { endOfKeys, KEYED } from './breaker.ts'
export { LONGEST_ANSWER } from './deadline.ts'
export type { StoreFactory } from './factory.ts'
export { FIRST_WAITING, MOST_BACKLOGS, MOST_PARKED, MOST_WAITING } from './gate.ts'
export { SHARE_WITHIN, SHARED, shareOfText, spanOf } from './head.ts'
export { FOR_EVER, LEADER } from './leader.ts'
export { ASK_AGAIN, objectOf, parseMessage, parseRequest, runsOf, tagsOf, textsOf } from './legible.ts'
export { Lifeline, type LifelineCode } from './lifeline.ts'
export {
  allOf,
  type Lead,
  type Listing,
  listed,
  listingOf,
  MAX_ROWS_EXAMINED,
  MOST_NAMES,
  type WorkflowSpan,
} from './listing.ts'
export { LINE_COST, LOG_KEPT } from './log.ts'
export { type Migration, oldestCode, pendingMigrations, type SchemaStanding, schemaTooOld } from './migration.ts'
export type * from './port.ts'
export { CLAIM_BOUNDS, INBOX_BYTES } from './port.ts'
export { countedName } from './post.ts'
export { type RateLine, rateLine } from './rate.ts'
export type { PruneReport, PruneRequest, RetentionRule, Undroppable } from './retention.ts'
export { Revocable, type RevocableRules } from './revocable.ts'
export { BRIEF, countedUpTo, MOST_COUNTED } from './rows.ts'
export { recountOf, TALLIES_DROPPED, TALLY_COLUMNS } from './statistics.ts'
