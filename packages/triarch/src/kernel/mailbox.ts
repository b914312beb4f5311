import type { Json } from './json.ts'
import type { Message } from './message.ts'
import type { TaskState } from './state.ts'

/** Events meet waits in the order in which each came, whichever came first. */
interface Mail {
  name: string
  payload: Json
}

/** What the task takes no more of, for it has as much of it as it may; null: it has room. */
export function fullness({ status, mailbox, waits, suspensions }: TaskState, limit: number): Full | null {
  if (status === 'stopped') return null
  const events = mailbox.length >= limit
  const steps: string[] = []
  for (const [id, { queue }] of suspensions) if (queue.length >= limit) steps.push(`#${id}`)
  if (!events && steps.length === 0) return null
  const but = events ? [...new Set([...waits.values()].map(({ name }) => name))].slice(0, MOST_NAMES) : []
  return { type: 'full', events, but, steps: steps.slice(0, MOST_NAMES) }
}

export type Full = Extract<Message, { type: 'full' }>

/** Names in a letter that says what is full: stores look through it. */
const MOST_NAMES = 500

/** The oldest event kept under the name; without one, the wait is noted. */
export function takeMail(
  state: TaskState,
  { id, name, until }: { id: number; name: string; until: number | null },
): Mail | undefined {
  const found = state.mailbox.findIndex((mail) => mail.name === name)
  if (found >= 0) return state.mailbox.splice(found, 1)[0]
  state.waits.set(id, { name, until })
  return undefined
}

/** Ends the oldest wait for it, and says which; without one, the event is kept. */
export function putMail(state: TaskState, { name, payload }: Mail): number | undefined {
  // A run that is about to continue as new hears nothing more: its next run finds the event in the mailbox.
  for (const [id, wait] of state.unwinding ? [] : state.waits) {
    if (wait.name !== name) continue
    state.waits.delete(id)
    return id
  }
  state.mailbox.push({ name, payload })
  return undefined
}
