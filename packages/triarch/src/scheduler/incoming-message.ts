import { isTriarchError, TriarchError } from '../error/error.ts'
import { isUrgent } from '../kernel/batch/batching.ts'
import type { Message } from '../kernel/message.ts'
import type { TaskState } from '../kernel/state.ts'
import { undecodable } from './history.ts'

/** The number of deaths set for a task that an operator released from quarantine: one more puts it back. */
export const PROBATION = 2

/** A message for a task in memory. */
export interface IncomingMessage {
  message: Message
  /** The id in the inbox, if it came through the store. */
  inboxId: number | null
  /** Called once the outcome of the message is durable. */
  recorded?: (counts: boolean) => void
}

/**
 * A message that cannot be read is a fault of its task. Once an operator has released the task, the message is given up: only its arrival
 * is known. Throws MESSAGE_CORRUPT, CODEC_*.
 */
export function checkDecodable(message: Message, inboxId: number | null, strikes: number | null): void {
  if (message.type !== 'illegible') return
  const { why } = message
  const found = isTriarchError(why) ? why : undefined
  // A missing codec may still be given to the node, so the message is not given up for that.
  const final = found === undefined || found.code === 'CODEC_FAILED'
  if (final && (strikes ?? 0) >= PROBATION) return
  if (found) throw undecodable(`message ${inboxId} of the inbox`, found, { message: inboxId })
  throw new TriarchError('MESSAGE_CORRUPT', `message ${inboxId} of the inbox cannot be read`, {
    details: { message: inboxId },
  })
}

/** Whether a turn is due. The ends of a batch's children may wait for more of them, to be recorded together. */
export function isPressing(state: TaskState, waiting: readonly IncomingMessage[]): boolean {
  for (let place = 0; place < waiting.length; place++)
    if (isUrgent(state, (waiting[place] as IncomingMessage).message, waiting.length)) return true
  return false
}

/** Whether the message comes from an attempt, so that only the process running the attempt has it. */
export function isFromAttempt({ type }: Message): boolean {
  return type === 'reply' || type === 'heartbeat'
}

/**
 * A step may report more often than turns are recorded: a newer report is merged into the one that still waits. Returns false if none
 * waits.
 */
export function repeats(waiting: IncomingMessage[], message: Message): boolean {
  if (!isWord(message)) return false
  const place = waiting.findLastIndex(({ message: it, inboxId }) => {
    return inboxId === null && isWord(it) && it.step === message.step && it.attempt === message.attempt
  })
  const before = waiting[place]
  if (!before) return false
  waiting[place] = { ...before, message: { ...before.message, ...message } as Message }
  return true
}

/** Whether the message is a heartbeat with progress or a checkpoint and nothing else. */
function isWord(message: Message): message is Extract<Message, { type: 'heartbeat' }> {
  return message.type === 'heartbeat' && message.trial === undefined && message.elsewhere === undefined
}
