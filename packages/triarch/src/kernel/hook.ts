import { childTaskId } from './child.ts'
import type { Json } from './json.ts'
import type { TaskStatus } from './status.ts'
import type { Turn } from './turn.ts'

/** A workflow that runs when the task comes into one of these states, as the submission records it. */
export interface HookOrder {
  /** States, and results that it stops with. */
  on: readonly string[]
  workflow: string
  version: string
}

/** A move of the task in this turn. */
export interface Move {
  from: TaskStatus
  to: TaskStatus
  /** Events up to it: part of the ids of its hooks' tasks, so that each exists once. */
  ordinal: number
}

/** A hook's task, to be created with the transition. */
export interface HookTask {
  task: string
  workflow: string
  version: string
  input: Json
}

/** The hooks of all moves of a turn. */
export function hookTasks({ state, moves, at }: Turn): HookTask[] {
  const { id, generation, hooks, result, error, workflow } = state
  return moves.flatMap(({ from, to, ordinal }) => {
    const named = [to, to === 'stopped' ? result : '']
    const input = { task: id, workflow, from, to, result, at, ...(error && to === 'stopped' && { error }) }
    return [...hooks.entries()]
      .filter(([, { on }]) => on.some((state) => named.includes(state)))
      .map(([index, hook]) => ({
        task: childTaskId(state, `${to}.${at}-${generation}-${ordinal}-${index}`),
        workflow: hook.workflow,
        version: hook.version,
        input: input as unknown as Json,
      }))
  })
}
