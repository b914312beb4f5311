/** What is to be decided about: work of one kind, and the slots of those who do it. */
export interface Workload {
  /** What waits, and nobody has taken. */
  waiting: number
  /** How long what waits longest has waited (ms). */
  age: number
  /** What runs now. */
  running: number
  /** Slots of one process; null: no process runs it, so that nobody knows. */
  each: number | null
  /** More than so many cannot run at a time, whoever has slots; null: they can. */
  most: number | null
}

/** How many of each there should be. */
export interface Wanted {
  slots: number
  processes: number
}

/** Waits shorter than this share of what is allowed ask for nothing: each queue has one now and then. */
export const TOLERANCE = 0.1

/**
 * How many slots, and so how many processes, the work asks for, if none of it is to wait for longer than `within` (ms).
 *
 * By Little's law (Little 1961) what runs is throughput times the time that one takes. A queue that is worked off by `running` slots, and whose
 * head has waited for `age`, took that long to go by: `running × age / within` more slots would have it gone in `within`, whatever one takes.
 * What runs already needs its slots for what comes. More slots than there is work are of no use.
 *
 * While no process runs it, the law has nothing to go by: nothing was worked off, and the age says only how long nobody was there. One process
 * is asked for, and what it then does says how many more.
 */
export function wanted({ waiting, age, running, each, most }: Workload, within: number): Wanted {
  if (each === null) {
    const one = Math.min(1, running + waiting, most ?? 1)
    return { slots: one, processes: one }
  }
  const growth = age / within
  const grown = waiting > 0 && growth > TOLERANCE ? Math.ceil(Math.max(running, 1) * (1 + growth)) : running
  const some = waiting > 0 ? 1 : 0
  const slots = Math.min(running + waiting, Math.max(grown, some), most ?? Number.POSITIVE_INFINITY)
  return { slots, processes: Math.ceil(slots / Math.max(1, each)) }
}

/** What runs in one pool of slots, in all processes together. */
export interface PoolLoad {
  running: number
  most: number
}

/**
 * The same where slots are parted, and neither pool lends the other any: as many processes as the pool needs that needs most. What waits, waits
 * for a pool that is full, and how much of it for which nobody has to know: full pools grow by the same factor, whatever their sizes.
 */
export function wantedParted(
  { waiting, age, running, most }: Omit<Workload, 'each'>,
  { pools, processes }: { pools: readonly PoolLoad[]; processes: number },
  within: number,
): Wanted {
  const isFull = (pool: PoolLoad) => pool.running >= pool.most
  // What nodes said of their pools may be older than what waits.
  const known = pools.some(isFull)
  const all = pools.map((pool) => {
    const load = { age, running: pool.running, each: pool.most / processes }
    const more = most === null ? null : pool.running + Math.max(0, most - running)
    return wanted({ ...load, waiting: !known || isFull(pool) ? waiting : 0, most: more }, within)
  })
  const slots = all.reduce((sum, pool) => sum + pool.slots, 0)
  return {
    slots: Math.min(slots, running + waiting, most ?? Number.POSITIVE_INFINITY),
    processes: Math.max(...all.map((pool) => pool.processes)),
  }
}

/**
 * The same for those whose slots are not what keeps them: a scheduler has room for thousands of tasks, and is busy long before. Where tasks
 * wait, all `processes` are taken to be: as many more as the age of the queue asks for, by the same law.
 */
export function wantedBusy(load: Workload & { processes: number }, within: number): Wanted {
  const slotted = wanted(load, within)
  const growth = load.age / within
  if (load.each === null || load.waiting === 0 || growth <= TOLERANCE) return slotted
  const grown = Math.ceil(load.processes * (1 + growth))
  return { ...slotted, processes: Math.max(slotted.processes, Math.min(grown, load.running + load.waiting)) }
}
