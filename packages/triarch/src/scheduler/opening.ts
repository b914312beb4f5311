import { isTriarchError, TriarchError } from '../error/error.ts'
import type { Reply } from '../kernel/message.ts'
import { type Rebuilt, rebuilding } from '../kernel/rebuild.ts'
import type { Claim } from '../store/port.ts'
import { Chronicle, contradictory } from './history.ts'
import type { RunnerHost } from './host.ts'
import { checkDecodable, type IncomingMessage } from './incoming-message.ts'
import { reconcile } from './reconcile.ts'

/** A claimed task, rebuilt from its history. */
export interface Opened {
  rebuilt: Rebuilt
  messages: IncomingMessage[]
  /** The last record's number and time. */
  seq: number
  at: number
  /** Characters of the task's events. */
  size: number
  /** The records that the next one may refer to. */
  before: Chronicle['before']
}

/** Reads and folds the history in pieces: the records that came with the claim, then the pages after them. Throws HISTORY_CORRUPT. */
export async function openTask(host: RunnerHost, claim: Claim): Promise<Opened> {
  const { eventLoopYield } = host
  for (const { id, message } of claim.letters) checkDecodable(message, id, claim.trial?.strikes ?? null)
  const chronicle = new Chronicle()
  await eventLoopYield.through(chronicle.adding(claim.records))
  if (claim.rest !== undefined) {
    for await (const page of host.pages(claim.id, chronicle.last)) await eventLoopYield.through(chronicle.adding(page))
  }
  const { last: seq, at, size, events, before } = chronicle
  if (seq === 0) throw new TriarchError('HISTORY_CORRUPT', 'record 1 is missing', { details: { record: 1 } })
  const rebuilt = await folded(host, claim.id, events)
  const replies = claim.unread ? await unreadReplies(host, claim) : []
  return { rebuilt, messages: reconcile(rebuilt, claim, replies), seq, at, size, before }
}

/** Folds the history. Throws HISTORY_CORRUPT if it contradicts itself. */
async function folded({ eventLoopYield }: RunnerHost, id: string, events: Chronicle['events']): Promise<Rebuilt> {
  try {
    return await eventLoopYield.through(rebuilding(id, events))
  } catch (cause) {
    if (isTriarchError(cause)) throw cause
    throw contradictory(cause)
  }
}

/** Replies in the inbox that did not come with the claim: their attempts are neither lost nor to be requested again. */
async function unreadReplies(host: RunnerHost, { key, letters }: Claim): Promise<Reply[]> {
  const replies: Reply[] = []
  for (let last = letters.at(-1)?.id ?? 0; ; ) {
    const page = await host.inboxAfter(key, last)
    for (const { message } of page) {
      if (message.type === 'reply') replies.push({ ...message, outcome: { kind: 'unknown' } })
    }
    if (page.length === 0) return replies
    last = page.at(-1)?.id ?? last
  }
}

/** Reads the current history, for code that starts anew from it. */
export async function reread(host: RunnerHost, id: string): Promise<Rebuilt> {
  const chronicle = new Chronicle()
  for await (const page of host.pages(id, 0)) await host.eventLoopYield.through(chronicle.adding(page))
  return folded(host, id, chronicle.events)
}
