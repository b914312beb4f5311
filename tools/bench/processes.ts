import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts CPU time in these (ms). */
const TICK = 10

/** The fields of a process's line in /proc from its state on; throws when there is none. */
function fields(pid: number | string): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Null: not on this machine, or not on Linux. */
export function parentOf(pid: number): number | null {
  try {
    return Number(fields(pid)[1])
  } catch {
    return null
  }
}

/** CPU time of the process, of its children, and of those that have ended (ms); null where it cannot be known. */
export function cpuOf(pid: number): number | null {
  if (parentOf(pid) === null) return null
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const [, parent, ...rest] = fields(name)
      const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = rest.slice(9, 13).map(Number)
      if (Number(name) === pid) ticks += user + system + endedUser + endedSystem
      else if (Number(parent) === pid) ticks += user + system
    } catch {
      // it ended while we looked
    }
  }
  return ticks * TICK
}
