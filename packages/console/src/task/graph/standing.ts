import type { Step } from '../../api/types.ts'
import type { DrawnEdge, Placed } from './draw.ts'

/** Of what stands for several, the most telling state of them counts: those that ask for somebody come first. */
const telling = [
  ...['error', 'suspended', 'compensating', 'running', 'pending', 'waiting', 'warning', 'skipped', 'cancelled'],
  ...['compensated', 'success'],
]

/** What each node of a picture is now. */
export function standingOf(
  nodes: readonly Placed[],
  steps: ReadonlyMap<number, Step>,
  known: ReadonlyMap<number, string>,
) {
  const stateOf = (id: number) => steps.get(id)?.status ?? known.get(id) ?? 'waiting'
  return new Map(
    nodes.map(({ id, state, group }) => {
      if (!group) return [id, steps.get(id)?.status ?? state]
      const states = new Set(group.members.map(stateOf))
      return [id, telling.find((it) => states.has(it)) ?? state]
    }),
  )
}

/** How many of those a group stands for are in which state. */
export function countsIn(
  members: readonly number[],
  steps: ReadonlyMap<number, Step>,
  known: ReadonlyMap<number, string>,
) {
  const counts = new Map<string, number>()
  for (const id of members) {
    const state = steps.get(id)?.status ?? known.get(id) ?? 'waiting'
    counts.set(state, (counts.get(state) ?? 0) + 1)
  }
  return [...counts].toSorted(([one], [other]) => telling.indexOf(one) - telling.indexOf(other))
}

/** Compensation goes this line backwards: what came after is undone, or being undone. */
export function isWayBack({ to }: DrawnEdge, standing: ReadonlyMap<number, string>): boolean {
  const state = standing.get(to)
  return state === 'compensated' || state === 'compensating'
}
