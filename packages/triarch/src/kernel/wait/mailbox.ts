import type { TaskState } from '../state.ts'
import { type Amount, count, type Mail } from './mail.ts'

/** What the task was sent and has not heard yet: signals that nobody waits for, and those for steps that are busy. */
export function unheard({ status, mailbox, suspensions }: TaskState): Amount {
  const all: Amount = { letters: 0, bytes: 0 }
  if (status === 'stopped') return all
  count(all, mailbox)
  for (const { queue } of suspensions.values()) count(all, queue)
  return all
}

/** The oldest signal kept under the name; without one, the wait is noted. */
export function takeMail(
  state: TaskState,
  { id, name, until }: { id: number; name: string; until: number | null },
): Mail | undefined {
  const found = state.mailbox.findIndex((mail) => mail.name === name)
  if (found >= 0) return state.mailbox.splice(found, 1)[0]
  state.waits.set(id, { name, until })
  return undefined
}

/** Ends the oldest wait for it, and says which; without one, the signal is kept. */
export function putMail(state: TaskState, { name, payload }: Mail): number | undefined {
  // A run that is about to continue as new hears nothing more: its next run finds the signal in the mailbox.
  const wait = state.closing ? undefined : oldestWait(state, name)
  if (wait !== undefined) return wait
  state.mailbox.push({ name, payload })
  return undefined
}

/** The same for one that came to a wait which nobody listened to any more: it is older than those that came after it. */
export function returnMail(state: TaskState, { name, payload }: Mail): number | undefined {
  const wait = state.closing ? undefined : oldestWait(state, name)
  if (wait !== undefined) return wait
  const younger = state.mailbox.findLastIndex((mail) => mail.returned === true) + 1
  state.mailbox.splice(younger, 0, { name, payload, returned: true })
  return undefined
}

function oldestWait(state: TaskState, name: string): number | undefined {
  for (const [id, wait] of state.waits) {
    if (wait.name !== name) continue
    state.waits.delete(id)
    return id
  }
  return undefined
}
