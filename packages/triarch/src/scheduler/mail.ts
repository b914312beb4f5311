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
  letter: number | null
  /** Called once the outcome of the message is durable. */
  recorded?: (counts: boolean) => void
}

/**
 * A message that cannot be read is a fault of its task. Once an operator has released the task, the message is given up: only its arrival
 * is known. Throws MESSAGE_CORRUPT, CODEC_*.
 */
export function checkLegible(message: Message, letter: number | null, strikes: number | null): void {
  if (message.type !== 'illegible') return
  const { why } = message
  const found = isTriarchError(why) ? why : undefined
  // A missing codec may still be given to the node, so the message is not given up for that.
  const final = found === undefined || found.code === 'CODEC_FAILED'
  if (final && (strikes ?? 0) >= PROBATION) return
  if (found) throw undecodable(`letter ${letter} to the task`, found, { letter })
  throw new TriarchError('MESSAGE_CORRUPT', `letter ${letter} to the task cannot be read`, { details: { letter } })
}

/** Whether a turn is due. The ends of a batch's children may wait for more of them, to be recorded together. */
export function isPressing(state: TaskState, mail: readonly IncomingMessage[]): boolean {
  for (let place = 0; place < mail.length; place++)
    if (isUrgent(state, (mail[place] as IncomingMessage).message, mail.length)) return true
  return false
}

/** Whether the message comes from an attempt, so that only the process running the attempt has it. */
export function isNews({ type }: Message): boolean {
  return type === 'reply' || type === 'heartbeat'
}

/**
 * A step may report more often than turns are recorded: a newer report is merged into the one that still waits. Returns false if none
 * waits.
 */
export function repeats(mail: IncomingMessage[], message: Message): boolean {
  if (!isWord(message)) return false
  const place = mail.findLastIndex(({ message: it, letter }) => {
    return letter === null && isWord(it) && it.step === message.step && it.attempt === message.attempt
  })
  const before = mail[place]
  if (!before) return false
  mail[place] = { ...before, message: { ...before.message, ...message } as Message }
  return true
}

/** Whether the message is a heartbeat with progress or a checkpoint and nothing else. */
function isWord(message: Message): message is Extract<Message, { type: 'heartbeat' }> {
  return message.type === 'heartbeat' && message.trial === undefined && message.elsewhere === undefined
}
