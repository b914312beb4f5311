import { AsyncLocalStorage } from 'node:async_hooks'
import type { Environment } from '../environment/environment.ts'
import type { AuditEntry, Audited, AuditOutcome } from '../store/port.ts'
import { checkOptions } from '../value/options.ts'
import { checkText } from '../value/text.ts'
import type { Asking } from './terms.ts'

/**
 * On whose behalf a program acts, for the audit and for requests to tasks.
 * @example
 * const acting: Acting = { actor: 'ada@example.com', request: 'r-4711' }
 * await triarch.serving.acting(acting, () => triarch.tasks.get('o-1').cancel())
 */
export interface Acting {
  /** The actor: up to 200 characters; used where a call itself names none. None by default. */
  actor?: string
  /** The request that the act belongs to, by which it is found in other logs: up to 200 characters; none by default. */
  request?: string
}

/** An act upon the system. */
export interface Act {
  /** What was done: 'task.cancel'. */
  action: string
  /** On what: 'task:o-1'. */
  subject: string
  reason?: string | undefined
  actor?: string | undefined
  /** With which parameters; never payloads. */
  details?: Readonly<Record<string, unknown>>
  outcome?: AuditOutcome
}

/** The parts of an audit entry that cannot be searched. */
export interface ActText {
  reason?: string
  request?: string
  details?: Readonly<Record<string, unknown>>
}

const LONGEST = 200
/** Most characters of a reason kept in the audit; a task's history has all of it. */
const LONGEST_REASON = 1_000
/** Most characters of the details, as JSON. */
const MOST_DETAILS = 2_000
const current = new AsyncLocalStorage<Acting>()

/** Runs `work` on behalf of an actor, with everything that it starts. Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function actingAs<T>(acting: Acting, work: () => T): T {
  checkOptions('serving.acting', acting ?? null, ['actor', 'request'])
  const { actor, request } = acting
  const within = { ...current.getStore() }
  if (actor !== undefined) within.actor = checkText('serving.acting: actor', actor, LONGEST)
  if (request !== undefined) within.request = checkText('serving.acting: request', request, LONGEST)
  return current.run(within, work)
}

/** The current actor, for calls that name none themselves. */
export function actor(): string | undefined {
  return current.getStore()?.actor
}

/** The audit entry for an act. */
export function entryOf(environment: Pick<Environment, 'now' | 'id'>, act: Act): AuditEntry {
  const { action, subject, reason, details, outcome = 'done' } = act
  const { request } = current.getStore() ?? {}
  const given = details && Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined))
  const text: ActText = {
    ...(reason !== undefined && { reason: shortened(reason) }),
    ...(request !== undefined && { request }),
    ...(given && Object.keys(given).length > 0 && fits(given) && { details: given }),
  }
  return {
    ...{ id: environment.id(), at: environment.now(), actor: act.actor ?? actor() ?? '' },
    ...{ action, subject, outcome, text: JSON.stringify(text) },
  }
}

function shortened(reason: string): string {
  return reason.length <= LONGEST_REASON ? reason : `${reason.slice(0, LONGEST_REASON - 1).toWellFormed()}…`
}

function fits(details: object): boolean {
  return JSON.stringify(details).length <= MOST_DETAILS
}

/** The act of requesting something of a task. */
export function taskAct(id: string, asking: Asking): Act {
  const { type, actor, request } = asking
  const given: Record<string, unknown> = {}
  if ('step' in asking) given.step = asking.step
  if ('name' in asking) given.name = asking.name
  if (type === 'cancel')
    Object.assign(given, { compensate: asking.compensate ?? undefined, force: asking.force || undefined })
  if (type === 'thaw') given.startAt = asking.startAt
  const action = type === 'signal' ? 'token.resume' : `task.${type === 'event' ? 'signal' : type}`
  const reason = 'reason' in asking ? asking.reason : undefined
  return { action, subject: `task:${id}`, reason, actor, details: { ...given, key: request } }
}

/**
 * The message for a request to a task, with the current actor, and its audit entry. Signals without an actor are the business of programs
 * and recorded in histories only; signals with an actor are acts.
 */
export function saidOf<A extends Asking>(
  environment: Pick<Environment, 'now' | 'id'>,
  id: string,
  asking: A,
): { message: A & { outside: true }; audit: Audited } {
  const by = asking.actor ?? actor()
  const message = { ...asking, ...(by !== undefined && { actor: by }), outside: true as const }
  const isMail = asking.type === 'event' || asking.type === 'signal'
  return { message, audit: isMail && by === undefined ? {} : { audit: entryOf(environment, taskAct(id, message)) } }
}
