/** What a state store of another package is made of: the port, and the environment its time comes from. */

export { delay, type Environment, type Place, type Timer } from '../environment/environment.ts'
export type { TaskEvent } from '../kernel/event.ts'
export type { Message } from '../kernel/message.ts'
export type { Operation } from '../kernel/step/step.ts'
export { LONGEST_ANSWER } from './deadline.ts'
export type { StoreFactory } from './factory.ts'
export { ASK_AGAIN, messageOf, objectOf, requestOf, runsOf, tagsOf, textsOf } from './legible.ts'
export { Lifeline, type LifelineCode } from './lifeline.ts'
export type * from './port.ts'
export { CLAIM_BOUNDS, INBOX_BYTES } from './port.ts'
export type { PruneReport, PruneRequest, RetentionRule, Undroppable } from './retention.ts'
export { countedUpTo, MOST_COUNTED } from './rows.ts'
