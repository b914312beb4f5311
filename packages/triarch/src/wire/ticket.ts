import type { Operation } from '../kernel/step/step.ts'
import type { SigningKeys } from '../store/signing-keys.ts'

/** What names an attempt on the wire: any server of its store can tell from it whose reply that is, and that the store gave it away. */
export interface Ticket {
  /** The node that gave it away. */
  node: string
  /** The number of its request in the work queue; null: its task's owner sent it by itself. */
  work: number | null
  task: string
  step: number
  operation: Operation
  attempt: number
  /** Whose attempt it is: nobody else answers it. */
  agent: string
  /** When it was given away. */
  at: number
}

const operations: readonly unknown[] = ['run', 'undo', 'verify'] satisfies Operation[]

/** Signed by a key of the store. */
export function writeTicket(keys: SigningKeys, ticket: Ticket): string {
  const { node, work, task, step, operation, attempt, agent, at } = ticket
  const fields = [node, work, task, step, operation, attempt, agent, at]
  return keys.sign('ticket', Buffer.from(JSON.stringify(fields)).toString('base64url'))
}

/** Null: no server of this store wrote it. */
export function readTicket(keys: SigningKeys, ticket: string): Ticket | null {
  const text = keys.verify('ticket', ticket)
  return text === null ? null : ticketOf(text)
}

/** What a signed text says; null: it is no ticket. */
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
