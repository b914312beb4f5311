import { TriarchError } from '../error/error.ts'
import type { Message } from '../kernel/message.ts'
import type { TaskOutcome, TaskStatus } from '../kernel/status.ts'
import { type Amount, unsaid } from '../kernel/wait/buffered-signal.ts'
import type { PostRoom, PostTerms } from '../store/port.ts'

/** A request to a task from outside. */
export type Asking = Extract<
  Message,
  { type: 'event' | 'signal' | 'cancel' | 'pause' | 'resume' | 'thaw' | 'retry' | 'skip' | 'compensate' }
>

/** Most undelivered controls of one kind and task. */
const MOST_CONTROLS = 1_000

const hearing = ['scheduled', 'pending', 'planning', 'planned', 'running', 'paused']
const failed = ['stopped/error', 'stopped/cancelled', 'stopped/compensated', 'stopped/warning']

/** The states in which a task accepts each request. What happens if the state changes meanwhile is recorded in the task's history. */
const fitting: Readonly<Record<Asking['type'], readonly string[]>> = {
  event: hearing,
  signal: hearing,
  cancel: [...hearing, 'compensating'],
  pause: [...hearing, 'compensating'],
  resume: ['paused'],
  thaw: ['scheduled', 'planned'],
  retry: ['paused', ...failed],
  skip: ['paused', ...failed],
  compensate: ['stopped/success', 'stopped/warning'],
}

/** A named step may wait for its next attempt while its task goes on. */
function fits(asking: Asking): readonly string[] {
  const all = fitting[asking.type]
  const named = (asking.type === 'retry' || asking.type === 'skip') && asking.step !== undefined
  return named ? ['running', 'compensating', ...all] : all
}

/** Holders of tokens can fill at most three quarters of an inbox; the rest is for senders to the task itself. */
function roomFor({ type }: Asking, { letters, bytes }: Amount): Amount {
  const share = type === 'signal' ? 0.75 : 1
  return { letters: Math.ceil(letters * share), bytes: Math.ceil(bytes * share) }
}

/** The terms on which the store accepts the request. */
export function termsOf(asking: Asking, inbox: Amount): PostTerms {
  const { type } = asking
  const isMail = type === 'event' || type === 'signal'
  const room = isMail
    ? { ...roomFor(asking, inbox), only: null, unsaid: unsaid(inbox), asOf: null }
    : few(type, null, MOST_CONTROLS)
  return { fits: fits(asking), room }
}

export type Sending = Extract<Asking, { type: 'event' | 'signal' }>

/** From a task's history: how many such signals it waits for, and how much it keeps. */
export interface HistoryUse {
  awaited: number
  kept: Amount
  last: number
}

/** If there seems to be no room: the terms that apply given the task's history, to be tried one after the other. */
export function closeTerms(asking: Sending, inbox: Amount, { awaited, kept, last }: HistoryUse): PostTerms[] {
  const { type } = asking
  const fits = fitting[type]
  const name = type === 'event' ? asking.name : asking.key
  const terms: PostTerms[] = []
  if (awaited > 0) terms.push({ fits, room: few(type, name, awaited) })
  // Beyond this amount, the task publishes what it keeps in its inbox.
  const { letters, bytes } = unsaid(inbox)
  if (kept.letters <= letters && kept.bytes <= bytes)
    terms.push({ fits, room: { ...roomFor(asking, inbox), only: null, unsaid: kept, asOf: last } })
  return terms
}

/** Room for this many messages of this kind, and of this name if one is given. */
function few(kind: Message['type'], name: string | null, letters: number): PostRoom {
  return { only: { kind, name }, letters, bytes: 0, unsaid: { letters: 0, bytes: 0 }, asOf: null }
}

export function misfit(id: string, { type }: Asking, task: { status: TaskStatus; outcome: TaskOutcome }): TriarchError {
  const code =
    type === 'resume' ? 'TASK_NOT_PAUSED' : fitting[type].includes('running') ? 'TASK_STOPPED' : 'ILLEGAL_MOVE'
  return new TriarchError(
    code,
    `task "${id}" is ${task.status} (${task.outcome}): it takes no ${type === 'event' ? 'signal' : type} now`,
  )
}
