/** What is to be decided about: work of one kind, and the slots of those who do it. */
export interface Workload {
  /** What waits, and nobody has taken. */
  waiting: number
  /** How long what waits longest has waited (ms). */
  age: number
  /** What runs now. */
  running: number
  /** Slots of one process. */
  each: number
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
 */
export function wanted({ waiting, age, running, each, most }: Workload, within: number): Wanted {
  const growth = age / within
  const grown = waiting > 0 && growth > TOLERANCE ? Math.ceil(Math.max(running, 1) * (1 + growth)) : running
  const some = waiting > 0 ? 1 : 0
  const slots = Math.min(running + waiting, Math.max(grown, some), most ?? Number.POSITIVE_INFINITY)
  return { slots, processes: Math.ceil(slots / Math.max(1, each)) }
}

/**
 * The same for those whose slots are not what keeps them: a scheduler has room for thousands of tasks, and is busy long before. Where tasks
 * wait, all `processes` are taken to be: as many more as the age of the queue asks for, by the same law.
 */
export function wantedBusy(load: Workload & { processes: number }, within: number): Wanted {
  const slotted = wanted(load, within)
  const growth = load.age / within
  if (load.waiting === 0 || growth <= TOLERANCE) return slotted
  const grown = Math.ceil(Math.max(load.processes, 1) * (1 + growth))
  return { ...slotted, processes: Math.max(slotted.processes, Math.min(grown, load.running + load.waiting)) }
}
