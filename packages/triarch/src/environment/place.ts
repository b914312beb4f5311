import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, networkInterfaces } from 'node:os'
import type { ProcessIdentity } from './environment.ts'

/** Identifies this process; undefined: the machine does not provide the data. */
export function thisPlace(): ProcessIdentity | undefined {
  const host = hostname()
  try {
    // If /proc shows another set of processes than ours, its numbers are of no use.
    if (readlinkSync('/proc/self') !== String(process.pid)) return undefined
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    const space = readlinkSync('/proc/self/ns/pid')
    const born = stat(process.pid)?.born
    return born === undefined ? undefined : { host, boot, space, pid: process.pid, born }
  } catch {
    const boot = hardware()
    return boot === undefined ? undefined : { host, boot, space: '', pid: process.pid, born: '' }
  }
}

/** Whether that process has certainly ended. Processes of another machine or container are taken to live. */
export function isGone(place: ProcessIdentity, here: ProcessIdentity | undefined): boolean {
  if (!here || here.host !== place.host || here.boot !== place.boot || here.space !== place.space) return false
  try {
    process.kill(place.pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true
  }
  if (place.born === '') return false
  const found = stat(place.pid)
  return found !== undefined && (found.born !== place.born || found.ended)
}

/** Reads the start time and state of a process; undefined: they are not readable. */
function stat(pid: number): { born: string; ended: boolean } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // Fields after the name, which is in parentheses and may contain anything: the state is first, the start time twentieth.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [state, born] = [fields[0] ?? '', fields[19]]
    return born === undefined ? undefined : { born, ended: 'ZXx'.includes(state) }
  } catch {
    return undefined
  }
}

/** Distinguishes machines without /proc. */
function hardware(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ mac }) => mac) ?? [])
  const real = [...new Set(addresses)].filter((mac) => !/^[0:]*$/.test(mac)).sort()
  return real.length === 0 ? undefined : createHash('sha256').update(real.join()).digest('hex').slice(0, 32)
}
