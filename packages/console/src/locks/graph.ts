import type { Lock } from '../api/types.ts'

/** A task that has a lock or waits for one, at its place: `column` 0 waits for nobody. */
export interface Spot {
  task: string
  column: number
  row: number
  isInCycle: boolean
}

/** A task waits for a lock that another has. */
export interface LockWait {
  from: string
  to: string
  lock: string
  isInCycle: boolean
}

export interface Graph {
  spots: readonly Spot[]
  waits: readonly LockWait[]
  /** Tasks that wait for each other, each for the one after it. */
  cycles: readonly (readonly string[])[]
}

/** Who waits for whom. Who waits stands right of whom it waits for; of tasks in a cycle, one is taken to wait for nobody. */
export function graphOf(locks: readonly Lock[]): Graph {
  const waits = locks.flatMap(({ name, holder, next }) =>
    next.filter(({ task }) => task !== holder).map(({ task }) => ({ from: task, to: holder, lock: name })),
  )
  const tasks = [...new Set(locks.flatMap(({ holder, next }) => [holder, ...next.map(({ task }) => task)]))]
  const after = Map.groupBy(waits, ({ from }) => from)
  const columns = new Map<string, number>()
  const cycles: string[][] = []
  const path: string[] = []
  const place = (task: string): number => {
    const known = columns.get(task)
    if (known !== undefined) return known
    const at = path.indexOf(task)
    if (at >= 0) {
      cycles.push(path.slice(at))
      return -1
    }
    path.push(task)
    const column = Math.max(-1, ...(after.get(task) ?? []).map(({ to }) => place(to))) + 1
    path.pop()
    columns.set(task, column)
    return column
  }
  for (const task of tasks) place(task)
  const inCycle = new Set(cycles.flat())
  const rows = new Map<number, number>()
  const spots = tasks.map((task) => {
    const column = columns.get(task) ?? 0
    const row = rows.get(column) ?? 0
    rows.set(column, row + 1)
    return { task, column, row, isInCycle: inCycle.has(task) }
  })
  const isPart = (from: string, to: string) =>
    cycles.some((cycle) => cycle.some((it, n) => it === from && cycle[(n + 1) % cycle.length] === to))
  return { spots, waits: waits.map((it) => ({ ...it, isInCycle: isPart(it.from, it.to) })), cycles }
}
