import type { Json } from '../json.ts'

/** Signals meet waits in the order in which each came, whichever came first. */
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

/** Adds what these letters amount to. */
export function count(to: Amount, all: readonly Mail[]): void {
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
