import type { TaskState } from '../state.ts'
import { type Amount, type BufferedSignal, count } from './buffered-signal.ts'

/** The signals that the task has received and its code has not: those without a wait, and those for busy steps. */
export function unreadSignals({ status, mailbox, suspensions }: TaskState): Amount {
  const all: Amount = { letters: 0, bytes: 0 }
  if (status === 'stopped') return all
  count(all, mailbox)
  for (const { queue } of suspensions.values()) count(all, queue)
  return all
}

/** Takes the oldest kept signal of the name; if there is none, the wait is recorded. */
export function takeSignal(
  state: TaskState,
  { id, name, until }: { id: number; name: string; until: number | null },
): BufferedSignal | undefined {
  const found = state.mailbox.findIndex((signal) => signal.name === name)
  if (found >= 0) return state.mailbox.splice(found, 1)[0]
  state.waits.set(id, { name, until })
  return undefined
}

/** Ends the oldest wait for the signal and returns its id; if there is none, the signal is kept. */
export function putSignal(state: TaskState, { name, payload }: BufferedSignal): number | undefined {
  // A run that is about to continue as new takes no more signals; its next run finds the signal in the mailbox.
  const wait = state.closing ? undefined : oldestWait(state, name)
  if (wait !== undefined) return wait
  state.mailbox.push({ name, payload })
  return undefined
}

/** The same for a signal whose wait was cancelled: it precedes the signals that arrived after it. */
export function returnSignal(state: TaskState, { name, payload }: BufferedSignal): number | undefined {
  const wait = state.closing ? undefined : oldestWait(state, name)
  if (wait !== undefined) return wait
  const younger = state.mailbox.findLastIndex((signal) => signal.returned === true) + 1
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
