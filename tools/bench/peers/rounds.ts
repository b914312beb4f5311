import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { FLAGS } from '../machine.ts'
import { median } from '../measure.ts'
import { install } from './install.ts'
import type { System } from './system.ts'
import { type Figures, type Times, type Workload, workloads } from './workload.ts'

/** What one process reports. */
export interface Taken {
  figures: Figures
  /** Cores that other processes kept busy meanwhile. */
  others: number
}

/** What was found of one system. */
export interface Found {
  system: System
  /** By workload: the median of the rounds of each figure, and each round. */
  medians: Record<string, Figures>
  rounds: Record<string, Taken[]>
  /** Why it was not measured. */
  missing?: string
}

export interface Place {
  folder: string
  /** Of the PostgreSQL of the run. */
  url: string
}

const run = fileURLToPath(new URL('run.ts', import.meta.url))
/** A process that takes longer hangs (ms). */
const LONGEST = 120_000

/** Takes every workload of every system, in turns: all systems once, then all of them again. */
export async function take(systems: readonly System[], place: Place, quick: boolean): Promise<Found[]> {
  const times: Times = quick ? { warmup: 300, window: 700 } : { warmup: 1_500, window: 3_000 }
  const rounds = quick ? 1 : 3
  const found = systems.map((system): Found => {
    const command = system.lacks?.() ?? null
    return { system, medians: {}, rounds: {}, ...(command !== null && { missing: `not measured: ${command}` }) }
  })
  install(found.filter(({ missing }) => missing === undefined).map(({ system }) => system))
  for (const workload of workloads) {
    for (let round = 0; round < rounds; round++) {
      for (const one of found) {
        if (one.missing === undefined && (!workload.across || one.system.across))
          await turn(one, workload, place, times)
      }
    }
    for (const one of found) one.medians[workload.name] = medians(workload, one.rounds[workload.name] ?? [])
  }
  return found
}

async function turn(found: Found, workload: Workload, { folder, url }: Place, times: Times): Promise<void> {
  if (process.stderr.isTTY) process.stderr.write(`${workload.name}: ${found.system.title} …\x1b[K\r`)
  const args = [...FLAGS, run, found.system.name, workload.name, folder, url, JSON.stringify(times)]
  try {
    const taking = promisify(execFile)(process.execPath, args, { timeout: LONGEST, maxBuffer: 1 << 24 })
    const { stdout } = await taking
    const taken = JSON.parse(stdout) as Taken
    found.rounds[workload.name] = [...(found.rounds[workload.name] ?? []), taken]
  } catch (error) {
    process.exitCode = 1
    found.missing = `failed in ${workload.name}`
    process.stderr.write(`${found.system.title}, ${workload.name}: ${String(error)}\n`)
  }
}

function medians({ finds }: Workload, rounds: readonly Taken[]): Figures {
  return Object.fromEntries(
    finds.map(({ what }) => [what, median(rounds.map(({ figures }) => figures[what] ?? Number.NaN))]),
  )
}
