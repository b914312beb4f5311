import type { Bundle, Flow, FlowNode } from './flow.ts'

/** What can be drawn as one: what a sub-plan planned, or many that are alike. */
export interface Group {
  key: string
  name: string
  members: readonly number[]
}

/** Fewer that are alike are no crowd. */
const CROWD = 4
/** Of so many on, those that are alike are drawn as one until somebody wants to see them all. */
const MANY = 12

/** Drawn in place of what is in it; its number is below 0. */
export interface Shown extends Flow {
  groups: readonly Group[]
  /** By its number, what a group that is closed stands for. */
  closed: ReadonlyMap<number, Group>
}

/** What could be drawn as one. */
export function groupsOf({ nodes, bundles }: Flow): Group[] {
  const planned = new Map<string, FlowNode[]>()
  for (const node of nodes)
    for (let depth = 1; depth <= node.within.length; depth++) {
      const key = `within ${JSON.stringify(node.within.slice(0, depth))}`
      planned.set(key, [...(planned.get(key) ?? []), node])
    }
  const [before, behind] = [new Map<number, string>(), new Map<number, string>()]
  const note = (map: Map<number, string>, ids: readonly number[], said: string) => {
    for (const id of ids) map.set(id, `${map.get(id) ?? ''} ${said}`)
  }
  bundles.forEach(({ from, to }, index) => {
    note(before, to, String(index))
    // Whether it was waited for or only over before is no difference between those that are alike.
    note(behind, from, to.join())
  })
  const alike = new Map<string, FlowNode[]>()
  for (const node of nodes) {
    const key = [node.kind, node.name, node.within.join('/'), before.get(node.id), behind.get(node.id)].join('|')
    const known = alike.get(key)
    if (known) known.push(node)
    else alike.set(key, [node])
  }
  const found = [
    ...[...planned].map(([key, members]) => ({
      key,
      members,
      name: (JSON.parse(key.slice(7)) as string[]).at(-1) ?? '',
    })),
    ...[...alike.values()].map((members) => ({
      key: `alike ${members[0]?.id}`,
      members,
      name: members[0]?.name ?? '',
    })),
  ]
  return found
    .filter(
      ({ key, members }) => members.length >= (key.startsWith('alike') ? CROWD : 2) && members.length < nodes.length,
    )
    .map(({ key, name, members }) => ({ key, name, members: members.map(({ id }) => id) }))
}

/** Groups that are closed before anybody has said anything: big crowds. */
export function closedAtFirst(groups: readonly Group[]): string[] {
  return groups.filter(({ key, members }) => key.startsWith('alike') && members.length >= MANY).map(({ key }) => key)
}

/** The flow with one node for each group that is closed. A group in a closed one is not seen. */
export function closing(flow: Flow, groups: readonly Group[], closed: ReadonlySet<string>): Shown {
  const stands = new Map<number, number>()
  const shown = new Map<number, Group>()
  // Larger ones first: what is in them is taken.
  for (const group of groups
    .filter(({ key }) => closed.has(key))
    .toSorted((a, b) => b.members.length - a.members.length)) {
    const left = group.members.filter((id) => !stands.has(id))
    if (left.length === 0) continue
    const id = -1 - shown.size
    shown.set(id, { ...group, members: left })
    for (const member of left) stands.set(member, id)
  }
  if (shown.size === 0) return { ...flow, groups, closed: shown }
  const there = (ids: readonly number[]) => [...new Set(ids.map((id) => stands.get(id) ?? id))]
  const bundles = flow.bundles.flatMap(({ from, to, isLoose }): Bundle[] => {
    const [left, right] = [there(from), there(to)]
    const inner = left.filter((id) => id < 0 && right.includes(id))
    const bundle = {
      from: left.filter((id) => !inner.includes(id)),
      to: right.filter((id) => !inner.includes(id)),
      isLoose,
    }
    return bundle.from.length > 0 && bundle.to.length > 0 ? [bundle] : []
  })
  const placed = new Set<number>()
  const nodes = flow.nodes.flatMap((node): FlowNode[] => {
    const id = stands.get(node.id)
    if (id === undefined) return [node]
    if (placed.has(id)) return []
    placed.add(id)
    return [{ id, kind: node.kind, name: shown.get(id)?.name ?? '', state: 'waiting', within: [] }]
  })
  return { nodes, bundles, groups, closed: shown }
}
