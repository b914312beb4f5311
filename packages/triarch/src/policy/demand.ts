/** Work of one kind, and the slots of the processes that do it. */
export interface Workload {
  /** Number of requests or tasks that wait and have not been taken. */
  waiting: number
  /** How long the oldest of them has waited (ms). */
  age: number
  /** Number that run now. */
  running: number
  /** Slots of one process; null: unknown, because no process runs this kind of work. */
  each: number | null
  /** Largest number that may run at a time, however many slots there are; null: unbounded. */
  most: number | null
}

/** Recommended numbers of slots and of processes. */
export interface Wanted {
  slots: number
  processes: number
}

/** Waits shorter than this share of the allowed wait recommend nothing, because each queue has them now and then. */
export const TOLERANCE = 0.1

/**
 * How many slots, and therefore how many processes, the work needs if none of it is to wait longer than `within` (ms).
 *
 * By Little's law (Little 1961) the number that runs is the throughput times the duration of one. A queue that is worked off by `running`
 * slots, and whose head has waited for `age`, takes that long to pass: `running × age / within` more slots would work it off in `within`,
 * whatever one takes. The work that runs already needs its slots for what arrives. More slots than work are of no use.
 *
 * While no process runs the work, the law cannot be applied: nothing was worked off, and the age only tells how long no process was there.
 * One process is recommended then; what it achieves decides about more.
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

/** The load of one pool of slots, in all processes together. */
export interface PoolLoad {
  running: number
  most: number
}

/**
 * The same for slots that are divided into pools, which lend each other none: as many processes as the pool needs that needs most. Waiting
 * work waits for a pool that is full; how much of it waits for which pool need not be known, because full pools grow by the same factor,
 * whatever their sizes.
 */
export function wantedParted(
  { waiting, age, running, most }: Omit<Workload, 'each'>,
  { pools, processes }: { pools: readonly PoolLoad[]; processes: number },
  within: number,
): Wanted {
  const isFull = (pool: PoolLoad) => pool.running >= pool.most
  // Nodes may have reported their pools before the work that waits now arrived.
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
 * The same for workers that are not limited by slots: a scheduler has room for thousands of tasks and is busy long before. If tasks wait,
 * all `processes` are taken to be busy, and the age of the queue recommends more by the same law.
 */
export function wantedBusy(load: Workload & { processes: number }, within: number): Wanted {
  const slotted = wanted(load, within)
  const growth = load.age / within
  if (load.each === null || load.waiting === 0 || growth <= TOLERANCE) return slotted
  const grown = Math.ceil(load.processes * (1 + growth))
  return { ...slotted, processes: Math.max(slotted.processes, Math.min(grown, load.running + load.waiting)) }
}
