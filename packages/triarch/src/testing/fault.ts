import { PermanentError, TransientError, UnknownOutcomeError } from '../error/step-error.ts'
import type { TaskEvent } from '../kernel/event.ts'
import type { Post, Transition } from '../store/port.ts'
import { outlineIn } from '../store/record.ts'
import type { LinkCall } from './link.ts'
import type { AttemptCall } from './sabotage.ts'

/**
 * A fault, injected once in each run. At a store call: `crash-before`, `crash-after`: the process dies, the call undone
 * or done; `unheard`: the call is done, and fails all the same. At an attempt: `fails`: the service cannot be reached;
 * `unanswered`: it did the work, and its answer is lost; `refuses`: it will never do it.
 */
export type CrashFault = StoreFault | AttemptFault

/** A fault at a store call. */
export type StoreFault = 'crash-before' | 'crash-after' | 'unheard'
/** A fault at an attempt. */
export type AttemptFault = 'fails' | 'unanswered' | 'refuses'

export const storeFaults: readonly StoreFault[] = ['crash-before', 'crash-after', 'unheard']
export const attemptFaults: readonly AttemptFault[] = ['fails', 'unanswered', 'refuses']
export const crashFaults: readonly CrashFault[] = [...storeFaults, ...attemptFaults]

/** A fault and its place: the `index`-th store call or attempt of the run. */
export type InjectedFault =
  | { at: 'call'; fault: StoreFault; index: number }
  | { at: 'attempt'; fault: AttemptFault; index: number }

/** Whether the fault is possible for the attempt: only work that has not begun can be refused, and a verification has no effect to lose. */
export function applies(fault: AttemptFault, { operation, received }: AttemptCall): boolean {
  if (fault === 'refuses') return operation === 'run' && received === undefined
  return fault === 'fails' || operation !== 'verify'
}

/** Runs the attempt with this fault. */
export async function meet(fault: AttemptFault, { operation }: AttemptCall, work: () => unknown): Promise<unknown> {
  if (fault === 'fails') throw new TransientError('injected: the service cannot be reached')
  if (fault === 'refuses') throw new PermanentError('injected: the service refuses')
  await work()
  if (operation === 'run') throw new UnknownOutcomeError('injected: the answer is lost')
  throw new TransientError('injected: the answer is lost')
}

/** A description of the attempt. */
export function attemptText({ action, operation, step, attempt, task }: AttemptCall): string {
  return `${operation} attempt ${attempt} of ${action} (step ${step} of task ${task})`
}

/** A description of the store call. */
export function callText({ name, machine, args }: LinkCall): string {
  return `${name}${whatOf(name, args)} of ${machine.name}`
}

function whatOf(name: LinkCall['name'], args: readonly unknown[]): string {
  if (name === 'post') return list((args[0] as Post[]).map(({ message }) => message.type))
  if (name !== 'commit') return ''
  return list(
    (args[0] as Transition[]).map(({ id, events }) => {
      const texts = (events ? outlineIn(events, 0) : []).map(eventText)
      return `${id}: ${texts.join(' ') || 'no events'}`
    }),
  )
}

function eventText(event: TaskEvent): string {
  return 'id' in event && event.id !== undefined ? `${event.type} ${event.id}` : event.type
}

function list(parts: readonly string[]): string {
  return parts.length === 0 ? '' : ` [${parts.join(', ')}]`
}
