import type { ErrorRecord } from '../kernel/json.ts'
import type { ErrorCode } from './catalogue.ts'

interface Name {
  code: ErrorCode
  /** Where its class has another name, too: then, and now. */
  class?: readonly [then: string, now: string]
}

/**
 * What errors are called today, by the codes under which histories and rows were written (decision 0060). None of those codes means
 * something else now.
 */
const names = {
  ANTECEDENT_FAILED: { code: 'PREDECESSOR_FAILED' },
  EVENT_TIMEOUT: { code: 'SIGNAL_TIMEOUT', class: ['EventTimeoutError', 'SignalTimeoutError'] },
  LETTER_CORRUPT: { code: 'MESSAGE_CORRUPT' },
  MAILBOX_FULL: { code: 'INBOX_FULL' },
  STORE_VIA_INVALID: { code: 'STORE_TRANSACTION_INVALID' },
} as const satisfies Record<string, Name> & { readonly [C in ErrorCode]?: never }

/** By a code: what takes its place, and that of its class. */
type Table = ReadonlyMap<string, { code: string; from: string; to: string }>

/** Whose codes they are: an error of a user's may carry the same word by chance. */
const OURS = 'TriarchError'

const entries = Object.entries<Name>(names).map(([then, { code, class: [before, after] = [OURS, OURS] }]) => {
  return [then, { code, from: before, to: after }] as const
})
const now: Table = new Map(entries)
const then: Table = new Map(entries.map(([code, { code: today, from, to }]) => [today, { code, from: to, to: from }]))

/** A recorded error under the code that it has today, its causes likewise; the same object where nothing was renamed. */
export function errorNow<E extends ErrorRecord | undefined>(error: E): E {
  return renamed(error, now)
}

/** The same under the code that format 1 has for it. */
export function errorThen<E extends ErrorRecord | undefined>(error: E): E {
  return renamed(error, then)
}

function renamed<E extends ErrorRecord | undefined>(error: E, table: Table): E {
  // What a store holds may be anything.
  if (typeof error !== 'object' || error === null) return error
  const entry = table.get(error.code ?? '')
  const known = entry && (error.name === OURS || error.name === entry.from) ? entry : undefined
  const cause = renamed(error.cause, table)
  if (known === undefined && cause === error.cause) return error
  const name = known?.from === error.name ? known.to : error.name
  return { ...error, name, ...(known && { code: known.code }), ...(cause !== undefined && { cause }) }
}
