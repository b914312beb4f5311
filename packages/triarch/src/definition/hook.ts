import { TriarchError } from '../error/error.ts'
import type { ErrorRecord } from '../kernel/json.ts'
import { moves, type TaskOutcome, type TaskStatus } from '../kernel/status.ts'
import type { HookOrder } from '../kernel/task/order.ts'
import { checkOptions } from '../value/options.ts'

/** A state that a task enters after its submission, or an outcome with which it stops. */
export type HookState = Exclude<TaskStatus, 'scheduled' | 'pending'> | Exclude<TaskOutcome, 'pending'>

/**
 * The input of a hook's workflow.
 * @example const told = workflow('told', { run: async ({ task, to }: TaskChange) => `${task} is ${to}` })
 */
export interface TaskChange {
  /** The id of the task. */
  task: string
  /** The name of its workflow. */
  workflow: string
  /** The state that the task left. */
  from: TaskStatus
  /** The state that the task entered. */
  to: TaskStatus
  /** How the task ended; `pending` unless it has. */
  outcome: TaskOutcome
  /** When the state changed (ms since the epoch). */
  at: number
  /** Why it stopped or is paused, if it failed. */
  error?: ErrorRecord
}

const outcomes: readonly string[] = ['success', 'warning', 'error', 'cancelled', 'compensated']
const states = [...Object.keys(moves.task).filter((state) => state !== 'scheduled' && state !== 'pending'), ...outcomes]

/** The recorded part of a hook. */
interface RecordedHook {
  on: HookState | readonly HookState[]
  workflow: { name: string; version: string; definition: { run?: unknown; plan?: unknown } }
}

/** Hooks as they are recorded. Throws UNKNOWN_OPTION, INVALID_OPTION, UNKNOWN_WORKFLOW. */
export function toHookOrders(what: string, hooks: readonly RecordedHook[] = []): HookOrder[] {
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
