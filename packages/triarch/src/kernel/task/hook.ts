import { childTaskId } from '../child/child.ts'
import type { Json } from '../json.ts'
import type { Turn } from '../turn.ts'

/** The task of a hook, created with the transition. */
export interface HookTask {
  task: string
  workflow: string
  version: string
  input: Json
}

/** The hook tasks for all status changes of a turn. */
export function hookTasks({ state, moves, at }: Turn): HookTask[] {
  if (moves.length === 0) return []
  const { id, generation, hooks, result, error, workflow } = state
  return moves.flatMap(({ from, to, ordinal }) => {
    const named = [to, to === 'stopped' ? result : '']
    const input = { task: id, workflow, from, to, outcome: result, at, ...(error && to === 'stopped' && { error }) }
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
