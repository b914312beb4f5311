import type { Operation } from '../kernel/step/step.ts'
import type { SigningKeys } from '../store/signing-keys.ts'

/**
 * Identifies an attempt on the wire. Any server of the store can tell from it to which attempt a reply belongs, and that the store gave
 * it away.
 */
export interface Ticket {
  /** The node that gave the attempt away. */
  node: string
  /** The number of its request in the work queue; null: the task's owner sent it directly. */
  work: number | null
  task: string
  step: number
  operation: Operation
  attempt: number
  /** The agent of the attempt; only its processes may answer. */
  agent: string
  /** When the attempt was given away. */
  at: number
}

const operations: readonly unknown[] = ['run', 'undo', 'verify'] satisfies Operation[]

/** Signed with a key of the store. */
export function writeTicket(keys: SigningKeys, ticket: Ticket): string {
  const { node, work, task, step, operation, attempt, agent, at } = ticket
  const fields = [node, work, task, step, operation, attempt, agent, at]
  return keys.sign('ticket', Buffer.from(JSON.stringify(fields)).toString('base64url'))
}

/** Null: the ticket was not written by a server of this store. */
export function readTicket(keys: SigningKeys, ticket: string): Ticket | null {
  const text = keys.verify('ticket', ticket)
  return text === null ? null : ticketOf(text)
}

/** Parses a signed text; null: it is not a ticket. */
export function ticketOf(text: string): Ticket | null {
  const [node, work, task, step, operation, attempt, agent, at, ...more] = parsed(text)
  const whole = [work ?? 0, step, attempt, at].every((it) => Number.isSafeInteger(it) && (it as number) >= 0)
  const texts = [node, task, agent].every((it) => typeof it === 'string')
  if (!whole || !texts || !operations.includes(operation) || more.length > 0) return null
  return { node, work, task, step, operation, attempt, agent, at } as Ticket
}

function parsed(text: string): unknown[] {
  try {
    const found: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(found) ? found : []
  } catch {
    return []
  }
}
