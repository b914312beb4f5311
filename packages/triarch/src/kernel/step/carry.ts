import type { Child } from '../child/child.ts'
import type { TaskEvent } from '../event.ts'
import type { TaskState } from '../state.ts'
import { DEFAULTS, defaultPolicy, type RecordedPolicy, type StepPolicy } from './policy.ts'
import type { Step } from './step.ts'

/** Largest number of effects of earlier runs that a later run can still undo; the newest ones are kept. */
export const MOST_CARRIED = 256
/** Largest size of their inputs and outputs, in characters of JSON. */
const MOST_SIZE = 256 * 1024

type Carried = Extract<TaskEvent, { type: 'stepCarried' | 'childCarried' }>

/** What the next run takes over to undo, in the order of ids, and how many effects cannot be undone any more. */
export interface Luggage {
  readonly carried: readonly Carried[]
  readonly left: number
}

/**
 * Effects that can be undone belong to the task, not to the run that made them. The code of a local step or of a registered compensation
 * belongs to the run that ends, so it cannot be carried over; a child of a run before the last may have been deleted by its own retention;
 * and there are bounds. What is not carried over is counted in `left`.
 */
export function luggageOf(state: TaskState): Luggage {
  const steps = [...state.compensable.values()].map((step) => ({ at: step.completedAt, event: ofStep(state, step) }))
  const children = [...state.children.values()].filter(isToUndo).map((child) => {
    const carriable = child.status === 'running' || child.completedAt >= 0
    return { at: child.completedAt || state.ordinal, event: carriable ? ofChild(state, child) : null }
  })
  const newest = [...steps, ...children].sort((a, b) => b.at - a.at)
  const carried: Carried[] = []
  let left = state.left
  let size = 0
  for (const { event } of newest) {
    size += event?.type === 'stepCarried' ? JSON.stringify([event.input, event.output]).length : 0
    if (event && carried.length < MOST_CARRIED && size <= MOST_SIZE) carried.push(event)
    else left++
  }
  return { carried: carried.sort((a, b) => a.id - b.id), left }
}

function isToUndo({ status, succeeded, undo, onCancel }: Child): boolean {
  return status === 'running' ? onCancel !== 'detach' : succeeded && undo
}

function ofStep(state: TaskState, step: Step): Carried | null {
  const { id, action, fallbackOf, name, input, output, generation, policy } = step
  const batch = state.batches.get(id)
  if (action === null && !batch) return null
  return {
    type: 'stepCarried',
    ...{ id, action, name, input, output: output ?? null, policy: recorded(policy), generation },
    ...before(state, step),
    ...(fallbackOf.length > 0 && { fallbackOf }),
    ...(batch && {
      batch: { generation: batch.generation, next: batch.next, success: batch.success, foreign: [...batch.foreign] },
    }),
  }
}

function ofChild(state: TaskState, { id, task, workflow, mode, onCancel, undo, status, ...child }: Child): Carried {
  return {
    type: 'childCarried',
    ...{ id, task, workflow, mode, onCancel, undo, ended: status === 'stopped' },
    ...before(state, child),
  }
}

/** Ordinals relative to the next run, which counts from zero: those of earlier events become negative and keep their order. */
function before(
  { ordinal }: TaskState,
  { requestedAt, completedAt }: { requestedAt: number; completedAt: number },
): { requestedAt: number; completedAt: number } {
  return { requestedAt: requestedAt - ordinal - 1, completedAt: completedAt - ordinal - 1 }
}

/** The parts of the policy that differ from the defaults. */
function recorded(policy: StepPolicy): RecordedPolicy {
  const own = Object.entries(policy).filter(([key, value]) => value !== defaultPolicy[key as keyof StepPolicy])
  return { ...Object.fromEntries(own), defaults: DEFAULTS }
}
