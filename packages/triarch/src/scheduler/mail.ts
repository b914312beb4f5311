import { isTriarchError, TriarchError } from '../error/error.ts'
import { isUrgent } from '../kernel/batch/batching.ts'
import type { Message } from '../kernel/message.ts'
import type { TaskState } from '../kernel/state.ts'
import { undecodable } from './history.ts'

/** Strikes of a task for which an operator has spoken: one more is too much. */
export const PROBATION = 2

/** A message for a task in memory. */
export interface Mail {
  message: Message
  /** Inbox id, when it came through the store. */
  letter: number | null
  /** Called once what came of it is durable. */
  recorded?: (counts: boolean) => void
}

/**
 * A letter that cannot be read is its task's trouble. After an operator's word for the task it is given up: that it came is all that is
 * known of it. Throws MESSAGE_CORRUPT, CODEC_*.
 */
export function checkLegible(message: Message, letter: number | null, strikes: number | null): void {
  if (message.type !== 'illegible') return
  const { why } = message
  const found = isTriarchError(why) ? why : undefined
  // What is missing may be given to the node yet: no letter is given up for that.
  const final = found === undefined || found.code === 'CODEC_FAILED'
  if (final && (strikes ?? 0) >= PROBATION) return
  if (found) throw undecodable(`letter ${letter} to the task`, found, { letter })
  throw new TriarchError('MESSAGE_CORRUPT', `letter ${letter} to the task cannot be read`, { details: { letter } })
}

/** Whether a turn is due: children of a batch that ended may wait for more of them, to be recorded together. */
export function isPressing(state: TaskState, mail: readonly Mail[]): boolean {
  for (let place = 0; place < mail.length; place++)
    if (isUrgent(state, (mail[place] as Mail).message, mail.length)) return true
  return false
}

/** What an attempt said or gave: of that only who runs it knows. */
export function isNews({ type }: Message): boolean {
  return type === 'reply' || type === 'heartbeat'
}

/** A step may say more than is recorded: what it says last is added to what it said before, and waits in its place. False: there is none. */
export function repeats(mail: Mail[], message: Message): boolean {
  if (!isWord(message)) return false
  const place = mail.findLastIndex(({ message: it, letter }) => {
    return letter === null && isWord(it) && it.step === message.step && it.attempt === message.attempt
  })
  const before = mail[place]
  if (!before) return false
  mail[place] = { ...before, message: { ...before.message, ...message } as Message }
  return true
}

/** Progress or a checkpoint, and nothing besides. */
function isWord(message: Message): message is Extract<Message, { type: 'heartbeat' }> {
  return message.type === 'heartbeat' && message.trial === undefined && message.elsewhere === undefined
}
