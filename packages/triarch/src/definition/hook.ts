import { TriarchError } from '../error/error.ts'
import type { ErrorRecord } from '../kernel/json.ts'
import { moves, type TaskResult, type TaskStatus } from '../kernel/status.ts'
import type { HookOrder } from '../kernel/task/order.ts'
import { checkOptions } from '../value/options.ts'
import type { Workflow } from './workflow.ts'

/** A state that a task comes into after its submission, or a result that it stops with. */
export type HookState = Exclude<TaskStatus, 'scheduled' | 'pending'> | Exclude<TaskResult, 'pending'>

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
  result: TaskResult
  /** ms since the epoch. */
  at: number
  /** Why it stopped or is paused, if it failed. */
  error?: ErrorRecord
}

/**
 * Runs a workflow whenever a task comes into one of these states. The hook is a task of its own, created by the very
 * transition that makes the move: it exists exactly if the move does, and runs at least once like every task. Hooks are
 * recorded with the submission, so they happen whichever node makes the move; those of a hook's own task do not.
 * @example
 * const told = workflow('told', { run: async ({ task, to }: TaskChange) => `${task} is ${to}` })
 * const hooks: TaskHook[] = [{ on: ['paused', 'error'], workflow: told }]
 */
export interface TaskHook {
  /** The states, or the results, at which it runs. */
  on: HookState | readonly HookState[]
  /** What runs then. */
  workflow: Workflow<TaskChange, unknown>
}

const results: readonly string[] = ['success', 'warning', 'error', 'cancelled', 'compensated']
const states = [...Object.keys(moves.task).filter((state) => state !== 'scheduled' && state !== 'pending'), ...results]

/** Hooks as they are recorded. Throws UNKNOWN_OPTION, INVALID_OPTION, UNKNOWN_WORKFLOW. */
export function toHookOrders(what: string, hooks: readonly TaskHook[] = []): HookOrder[] {
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
