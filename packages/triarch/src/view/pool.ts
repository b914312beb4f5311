import type { NodeRow } from '../store/port.ts'
import { agentOf } from '../value/name.ts'

/** One of two pools of slots, over all nodes. */
export interface PoolShare {
  name: 'high' | 'rest'
  /** The priority at which the high pool begins. */
  from: number
  slots: number
}

/** The pool that serves steps of this priority; null: the agent has no pools, or its nodes do not report them. */
export function poolOf(nodes: readonly NodeRow[], action: string, priority: number): PoolShare | null {
  const agent = agentOf(action)
  const shares = nodes.flatMap(({ runs }): PoolShare[] => {
    const pools = runs?.actions.includes(action) ? runs.pools?.[agent] : undefined
    if (pools?.from === undefined) return []
    const name = priority >= pools.from ? 'high' : 'rest'
    return [{ name, from: pools.from, slots: pools[name] }]
  })
  const [first] = shares
  return first ? { ...first, slots: shares.reduce((sum, { slots }) => sum + slots, 0) } : null
}

export function poolText({ name, from, slots }: PoolShare): string {
  const many = `${slots.toLocaleString('en')} ${slots === 1 ? 'slot' : 'slots'}`
  return name === 'high'
    ? `one of ${many} for priorities of ${from} and more`
    : `one of ${many} for priorities below ${from}`
}
