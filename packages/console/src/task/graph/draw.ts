import { type FlowNode, type FlowRecord, flowOfHistory, flowOfPlan, type PlannedNode } from './flow.ts'
import { closedAtFirst, closing, groupsOf } from './group.ts'
import { type Edge, layout } from './layout.ts'

/** What is to be drawn. */
export interface Order {
  /** Given back with the picture. */
  number: number
  plan: readonly PlannedNode[] | null
  records: readonly FlowRecord[]
  /** Keys of the groups that are drawn as one; null: as nobody has said anything. */
  closed: readonly string[] | null
}

export interface Placed extends FlowNode {
  x: number
  y: number
  /** What it comes after, and what comes after it. */
  before: readonly number[]
  behind: readonly number[]
  /** Of a group: whom it stands for. */
  group?: { key: string; members: readonly number[] }
}

export interface DrawnEdge {
  from: number
  to: number
  isLoose: boolean
  /** Where it bends on its way, x and y in turns. */
  bends: readonly number[]
}

export interface Picture {
  number: number
  nodes: readonly Placed[]
  lines: readonly DrawnEdge[]
  /** Points at which what several come after is gathered; x and y in turns. */
  knots: readonly number[]
  /** What could be drawn as one. */
  groups: readonly { key: string; name: string; count: number; isClosed: boolean }[]
  width: number
  height: number
}

/** Everything of a picture that takes time. */
export function draw({ number, plan, records, closed }: Order): Picture {
  const flow = plan ? flowOfPlan(plan) : flowOfHistory(records)
  const groups = groupsOf(flow)
  const shut = new Set(closed ?? closedAtFirst(groups))
  const shown = closing(flow, groups, shut)
  const index = new Map(shown.nodes.map(({ id }, at) => [id, at]))
  const [before, behind] = [new Map<number, Set<number>>(), new Map<number, Set<number>>()]
  const note = (map: Map<number, Set<number>>, of: number, it: number) => {
    const known = map.get(of)
    if (known) known.add(it)
    else map.set(of, new Set([it]))
  }
  // Many to many goes through a knot: as many lines as there are ends.
  let count = shown.nodes.length
  const edges: (Edge & { isLoose: boolean })[] = []
  const drawn = new Set<string>()
  const link = (from: number, to: number, isLoose: boolean) => {
    const key = `${from} ${to}`
    if (drawn.has(key) || from === to) return
    drawn.add(key)
    edges.push({ from, to, isLoose })
  }
  for (const { from, to, isLoose } of shown.bundles) {
    const ends = [from, to].map((ids) => ids.flatMap((id) => index.get(id) ?? []))
    const [left = [], right = []] = ends
    const isKnot = left.length > 1 && right.length > 1
    const knot = isKnot ? count++ : -1
    if (isKnot) {
      for (const it of left) link(it, knot, isLoose)
      for (const it of right) link(knot, it, isLoose)
    } else for (const one of left) for (const other of right) link(one, other, isLoose)
    for (const it of left.slice(0, MOST_NAMED)) for (const other of right) note(before, other, it)
    for (const it of right.slice(0, MOST_NAMED)) for (const other of left) note(behind, other, it)
  }
  const { x, y, bends, width, height } = layout(count, edges)
  const idOf = (at: number) => shown.nodes[at]?.id ?? 0
  const named = (map: Map<number, Set<number>>, at: number) => [...(map.get(at) ?? [])].map(idOf)
  const nodes = shown.nodes.map((node, at): Placed => {
    const group = shown.closed.get(node.id)
    return {
      ...node,
      ...{ x: x[at] ?? 0, y: y[at] ?? 0, before: named(before, at), behind: named(behind, at) },
      ...(group && { group: { key: group.key, members: group.members } }),
    }
  })
  const place = (at: number) => (at < shown.nodes.length ? idOf(at) : KNOTS - (at - shown.nodes.length))
  const knots: number[] = []
  for (let at = shown.nodes.length; at < count; at++) knots.push(x[at] ?? 0, y[at] ?? 0)
  return {
    ...{ number, nodes, knots, width, height },
    lines: edges.map(({ from, to, isLoose }, at) => ({
      from: place(from),
      to: place(to),
      isLoose,
      bends: bends[at] ?? [],
    })),
    groups: groups.map(({ key, name, members }) => ({ key, name, count: members.length, isClosed: shut.has(key) })),
  }
}

/** Of what something comes after, so many are named. */
const MOST_NAMED = 50
/** Knots have numbers from here downwards. */
export const KNOTS = -1_000_000
