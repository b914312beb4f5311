import type { Json } from '../json.ts'

/** A signal in a task's mailbox. Signals and waits are matched in the order in which each arrived. */
export interface BufferedSignal {
  name: string
  payload: Json
  /** The signal had arrived for a wait that was then cancelled. */
  returned?: true
}

/** A number of messages and of characters of their JSON, as a sum or as a bound. */
export interface Amount {
  letters: number
  bytes: number
}

/** Adds the number and size of these messages. */
export function count(to: Amount, all: readonly BufferedSignal[]): void {
  to.letters += all.length
  for (const signal of all) to.bytes += sizeOf(signal)
}

const sizes = new WeakMap<BufferedSignal, number>()

function sizeOf(signal: BufferedSignal): number {
  let size = sizes.get(signal)
  if (size === undefined) {
    size = JSON.stringify(signal).length
    sizes.set(signal, size)
  }
  return size
}

/**
 * The amount of unread signals that a task does not report in its store, so that it need not stay in memory because of them. Senders allow
 * for that much, and read the task's history where that leaves no room.
 */
export function unsaid({ letters, bytes }: Amount): Amount {
  return { letters: Math.floor(letters / 2), bytes: Math.floor(bytes / 2) }
}

export const NO_SIGNALS: Readonly<Amount> = { letters: 0, bytes: 0 }

/** The amount of unread signals that the task reports in its store. */
export function said(kept: Amount, room: Amount): Readonly<Amount> {
  const { letters, bytes } = unsaid(room)
  return kept.letters > letters || kept.bytes > bytes ? kept : NO_SIGNALS
}
