import { TriarchError } from '../error/error.ts'
import type { ErrorRecord } from '../kernel/json.ts'
import { moves, type TaskOutcome, type TaskStatus } from '../kernel/status.ts'
import type { HookOrder } from '../kernel/task/order.ts'
import { checkOptions } from '../value/options.ts'

/** A state that a task comes into after its submission, or an outcome that it stops with. */
export type HookState = Exclude<TaskStatus, 'scheduled' | 'pending'> | Exclude<TaskOutcome, 'pending'>

/**
 * What a hook's workflow is given.
 * @example const told = workflow('told', { run: async ({ task, to }: TaskChange) => `${task} is ${to}` })
 */
export interface TaskChange {
  /** The id of the task. */
  task: string
  /** The name of its workflow. */
  workflow: string
  /** The state that it left. */
  from: TaskStatus
  /** The state that it came into. */
  to: TaskStatus
  /** How it ended; `pending` unless it has. */
  outcome: TaskOutcome
  /** ms since the epoch. */
  at: number
  /** Why it stopped or is paused, if it failed. */
  error?: ErrorRecord
}

const outcomes: readonly string[] = ['success', 'warning', 'error', 'cancelled', 'compensated']
const states = [...Object.keys(moves.task).filter((state) => state !== 'scheduled' && state !== 'pending'), ...outcomes]

/** A hook, as far as it is recorded. */
interface Recorded {
  on: HookState | readonly HookState[]
  workflow: { name: string; version: string; definition: { run?: unknown; plan?: unknown } }
}

/** Hooks as they are recorded. Throws UNKNOWN_OPTION, INVALID_OPTION, UNKNOWN_WORKFLOW. */
export function toHookOrders(what: string, hooks: readonly Recorded[] = []): HookOrder[] {
  return hooks.map((hook) => {
    checkOptions(`${what}: hook`, hook, ['on', 'workflow'])
    const { name, version, definition } = hook.workflow ?? {}
    if (!definition?.run && !definition?.plan)
      throw new TriarchError('UNKNOWN_WORKFLOW', `${what}: hook: give what workflow() returned`)
    const on = [hook.on].flat()
    for (const state of on) {
      if (!states.includes(state))
        throw new TriarchError('INVALID_OPTION', `${what}: hook: on must be of ${states.join(', ')}`)
    }
    return { on, workflow: name, version }
  })
}
