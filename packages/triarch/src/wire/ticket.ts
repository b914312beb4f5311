import type { Operation } from '../kernel/step/step.ts'

/** What names an attempt on the wire: any server can tell from it whose reply that is. */
export interface Ticket {
  /** The node that gave it away. */
  node: string
  /** The number of its request in the work queue; null: its task's owner sent it by itself. */
  work: number | null
  task: string
  step: number
  operation: Operation
  attempt: number
  /** When it was given away. */
  at: number
}

const operations: readonly unknown[] = ['run', 'undo', 'verify'] satisfies Operation[]

export function writeTicket({ node, work, task, step, operation, attempt, at }: Ticket): string {
  return Buffer.from(JSON.stringify([node, work, task, step, operation, attempt, at])).toString('base64url')
}

/** Null: it is none. */
export function readTicket(ticket: string): Ticket | null {
  const [node, work, task, step, operation, attempt, at, ...more] = parsed(ticket)
  const whole = [work ?? 0, step, attempt, at].every((it) => Number.isSafeInteger(it) && (it as number) >= 0)
  const texts = typeof node === 'string' && typeof task === 'string'
  if (!whole || !texts || !operations.includes(operation) || more.length > 0) return null
  return { node, work, task, step, operation, attempt, at } as Ticket
}

function parsed(ticket: string): unknown[] {
  try {
    const found: unknown = JSON.parse(Buffer.from(ticket, 'base64url').toString())
    return Array.isArray(found) ? found : []
  } catch {
    return []
  }
}
