import { CLAIM_BOUNDS, type Claim, type ClaimRequest, type InboxMessage, parseMessage } from 'triarch/store'
import { integers, texts } from './arrays.ts'
import type { Row } from './query.ts'

export function claimArguments({
  node,
  runnable,
  limit,
  held,
  records,
  bytes,
  trial,
  except = [],
  ageing = 0,
}: ClaimRequest): unknown[] {
  return [
    node,
    texts(runnable, ({ workflow }) => workflow),
    texts(runnable, ({ version }) => version),
    limit,
    held ? texts(held) : null,
    records ?? CLAIM_BOUNDS.records,
    bytes ?? CLAIM_BOUNDS.bytes,
    CLAIM_BOUNDS.letters,
    CLAIM_BOUNDS.letterBytes,
    trial ? CLAIM_BOUNDS.trials : 0,
    ageing,
    integers([...except]),
  ]
}

/**
 * Parses the answer of a claim: a row with seq 0 describes a task, in the order of claiming, one with -1 is a message;
 * the others are its records.
 */
export function claimsOf(rows: readonly Row[]): Claim[] {
  const claims = new Map<number, Claim>()
  let more = false
  for (const [key, seq, at, text] of rows as readonly [number, number, number, string][]) {
    const claim = claims.get(key)
    if (seq > 0) claim?.records.push({ seq, at, events: text })
    else if (seq < 0) claim?.letters.push({ id: at, key, message: parseMessage(text) })
    else {
      const { rest, unread, strikes, more: left, ...described } = JSON.parse(text) as Description
      more = left
      claims.set(key, {
        ...{ key, ...described, records: [], letters: [] },
        ...(rest !== null && { rest }),
        ...(unread && { unread }),
        ...(strikes !== null && { trial: { strikes } }),
      })
    }
  }
  const taken = [...claims.values()]
  const last = taken.at(-1)
  if (last && more) last.more = true
  return taken
}

type Description = Pick<Claim, 'id' | 'workflow' | 'version' | 'epoch' | 'orphaned' | 'work'> & {
  rest: number | null
  unread: boolean
  more: boolean
  strikes: number | null
}

/** Parses messages, and marks the last one if a bound was reached. */
export function sharesOf(rows: readonly Row[], { limit, bytes }: { limit: number; bytes: number }): InboxMessage[] {
  let left = bytes
  for (const [, , message] of rows as readonly [number, number, string][]) left -= Buffer.byteLength(message)
  return marked(rows.map(inboxMessageOf), rows.length === limit || left <= 0)
}

/** Parses messages of which the last row states whether a bound was reached, because not all that count for a bound are returned. */
export function messagesOf(rows: readonly Row[]): InboxMessage[] {
  return marked(rows.map(inboxMessageOf), rows.at(-1)?.[3] === true)
}

function marked(letters: InboxMessage[], more: boolean): InboxMessage[] {
  const last = letters.at(-1)
  if (last && more) last.more = true
  return letters
}

export function inboxMessageOf(row: Row): InboxMessage {
  const [id, key, message] = row as [number, number, string]
  return { id, key, message: parseMessage(message) }
}
