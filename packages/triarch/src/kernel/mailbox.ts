import type { Json } from './json.ts'
import type { TaskState } from './state.ts'

/** Events meet waits in the order in which each came, whichever came first. */
export interface Mail {
  name: string
  payload: Json
  /** It came to somebody who did not want it any more. */
  returned?: true
}

/** Letters, and the characters of their JSON: how many there are, or how many there may be. */
export interface Amount {
  letters: number
  bytes: number
}

/** What the task was sent and has not heard yet: events that nobody waits for, and those for steps that are busy. */
export function unheard({ status, mailbox, suspensions }: TaskState): Amount {
  const all: Amount = { letters: 0, bytes: 0 }
  if (status === 'stopped') return all
  add(all, mailbox)
  for (const { queue } of suspensions.values()) add(all, queue)
  return all
}

function add(to: Amount, all: readonly Mail[]): void {
  to.letters += all.length
  for (const mail of all) to.bytes += sizeOf(mail)
}

const sizes = new WeakMap<Mail, number>()

function sizeOf(mail: Mail): number {
  let size = sizes.get(mail)
  if (size === undefined) {
    size = JSON.stringify(mail).length
    sizes.set(mail, size)
  }
  return size
}

/**
 * A task says nothing of so much that it has not heard, so that it need not stay in memory for it: those who send to it reckon
 * with that instead, and read its history where that leaves no room.
 */
export function unsaid({ letters, bytes }: Amount): Amount {
  return { letters: Math.floor(letters / 2), bytes: Math.floor(bytes / 2) }
}

export const NOTHING: Readonly<Amount> = { letters: 0, bytes: 0 }

/** What of it the task says in its store. */
export function said(kept: Amount, room: Amount): Readonly<Amount> {
  const { letters, bytes } = unsaid(room)
  return kept.letters > letters || kept.bytes > bytes ? kept : NOTHING
}

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
  const wait = state.unwinding ? undefined : oldestWait(state, name)
  if (wait !== undefined) return wait
  state.mailbox.push({ name, payload })
  return undefined
}

/** The same for one that came to a wait which nobody listened to any more: it is older than those that came after it. */
export function returnMail(state: TaskState, { name, payload }: Mail): number | undefined {
  const wait = state.unwinding ? undefined : oldestWait(state, name)
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
