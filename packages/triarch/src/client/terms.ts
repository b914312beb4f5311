import { TriarchError } from '../error/error.ts'
import type { Message } from '../kernel/message.ts'
import type { TaskResult, TaskStatus } from '../kernel/status.ts'
import type { PostTerms } from '../store/port.ts'

/** What can be asked of a task from outside. */
export type Asking = Extract<
  Message,
  { type: 'event' | 'signal' | 'cancel' | 'pause' | 'resume' | 'thaw' | 'retry' | 'skip' | 'compensate' }
>

/** Undelivered messages of one task, of any kind, and their bytes. */
const MOST_LETTERS = 10_000
const MOST_BYTES = 64 * 1024 * 1024

const hearing = ['scheduled', 'pending', 'planning', 'planned', 'running', 'paused']
const failed = ['stopped/error', 'stopped/cancelled', 'stopped/compensated', 'stopped/warning']

/** The states of a task in which something comes of it; races past that are told by the task's history. */
const fitting: Readonly<Record<Asking['type'], readonly string[]>> = {
  event: hearing,
  signal: hearing,
  cancel: [...hearing, 'compensating'],
  pause: [...hearing, 'compensating'],
  resume: ['paused'],
  thaw: ['scheduled'],
  retry: ['paused', ...failed],
  skip: ['paused', ...failed],
  compensate: ['stopped/success', 'stopped/warning'],
}

/** On which terms the store takes it. */
export function termsOf(asking: Asking, mailbox: number): PostTerms {
  const fits = fitting[asking.type]
  const room = { letters: Math.max(MOST_LETTERS, mailbox), bytes: MOST_BYTES }
  if (asking.type === 'event') return { fits, room, full: { if: '"events":true', unless: JSON.stringify(asking.name) } }
  if (asking.type === 'signal') return { fits, room, full: { if: `"#${asking.step}"`, unless: null } }
  return { fits, room: null, full: null }
}

export function misfit(id: string, { type }: Asking, task: { status: TaskStatus; result: TaskResult }): TriarchError {
  const code =
    type === 'resume' ? 'TASK_NOT_PAUSED' : fitting[type].includes('running') ? 'TASK_STOPPED' : 'ILLEGAL_MOVE'
  return new TriarchError(code, `task "${id}" is ${task.status} (${task.result}): it takes no ${type} now`)
}
