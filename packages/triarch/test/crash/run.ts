import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Triarch } from '../../src/index.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { Client } from './client.ts'
import { dump, type Evidence, readEvidence } from './evidence.ts'
import { type Fault, Fleet } from './fleet.ts'
import { Operator } from './operator.ts'
import { Random } from './random.ts'
import { violations } from './rules.ts'
import { workload } from './workload.ts'

export interface RunOptions {
  seed: number
  /** How long faults go on (ms). */
  chaos: number
  /** How long all may take to come to rest afterwards (ms). */
  settle: number
  /** False: nobody is hurt. */
  faults?: boolean
}

export interface RunReport {
  evidence: Evidence
  faults: Record<Fault, number>
  /** Empty when every rule held. */
  violations: string[]
  /** What is unfinished; empty when nothing is. */
  stuck: string
}

/** Tasks in each run, however slow the machine is. */
const FEWEST = 50

const everything = 'scheduler,agent,supervisor'

/** One seeded run: nodes on one file work, are killed, frozen and drained; then they finish, and the rules judge. */
export async function run({ seed, chaos, settle, faults = true }: RunOptions): Promise<RunReport> {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-crash-'))
  const paths = { store: join(folder, 'store.db'), ledger: join(folder, 'ledger.jsonl') }
  const random = new Random(seed)
  const third = random.pick(['agent', everything, 'scheduler,supervisor']) ?? everything
  const fleet = new Fleet(paths, [everything, everything, third])
  const { workflows } = workload(null)
  const triarch = new Triarch({ store: sqlite(paths.store), workflows: Object.values(workflows), roles: [] })
  try {
    await triarch.open()
    await fleet.start()
    const operator = new Operator(triarch, new Random(seed + 1))
    const client = new Client(triarch, workflows, new Random(seed + 2))
    await storm({ seed, chaos, settle, faults }, { fleet, operator, client })
    const stuck = await until(settle, async () => {
      await operator.decide()
      const { ready, work, inbox } = await triarch.statistics.get()
      const open = await triarch.tasks.list({
        status: ['pending', 'scheduled', 'running', 'paused', 'compensating'],
        limit: 1,
      })
      return open.tasks.length + ready + work + inbox === 0
    })
    const left = stuck ? dump(readEvidence(paths.store, paths.ledger, client)) : ''
    await fleet.stop('SIGTERM')
    const evidence = readEvidence(paths.store, paths.ledger, client)
    const broken = [...violations(evidence), ...operator.astonished, ...fleet.complaints]
    return { evidence, faults: fleet.faults, violations: broken, stuck: left }
  } finally {
    await fleet.stop('SIGKILL')
    await triarch.stop()
    if (!process.env.TRIARCH_CRASH_KEEP) rmSync(folder, { recursive: true, force: true })
  }
}

/** What a run without faults leaves behind. */
export async function calm(seed: number): Promise<Evidence> {
  const { evidence, stuck } = await run({ seed, chaos: 2_000, settle: 15_000, faults: false })
  if (stuck) throw new Error(stuck)
  return evidence
}

interface Cast {
  fleet: Fleet
  operator: Operator
  client: Client
}

/** Submissions, meddling and faults side by side, each at its own random moments. */
async function storm({ seed, chaos, faults }: RunOptions, { fleet, operator, client }: Cast): Promise<void> {
  const end = Date.now() + chaos
  const again = async (random: Random, most: number, act: () => Promise<void>) => {
    while (Date.now() < end) {
      await act()
      await new Promise((resolve) => setTimeout(resolve, random.below(most)))
    }
  }
  const moments = new Random(seed + 3)
  // Each kind at least once, the drain when much is under way; the rest by chance.
  const first: Fault[] = ['kill', 'freeze']
  let drained = false
  const fault = async () => {
    const late = !drained && Date.now() > end - chaos / 2
    const kind = late ? 'drain' : (first.shift() ?? (moments.chance(0.65) ? 'kill' : 'freeze'))
    drained ||= late
    await fleet.hurt(kind, moments)
  }
  await Promise.all([
    ...(faults ? [again(moments, 400, fault), again(new Random(seed + 4), 900, fault)] : []),
    ...(faults ? [again(new Random(seed + 7), 400, () => operator.meddle())] : []),
    again(new Random(seed + 5), 150, () => client.submit()),
    again(new Random(seed + 6), 100, () => client.emit()),
    again(new Random(seed + 8), 200, () => operator.decide()),
  ])
  // On a slow machine the time may be over before each kind had its turn.
  for (const kind of Object.keys(fleet.faults) as Fault[])
    while (faults && fleet.faults[kind] === 0) await fleet.hurt(kind, moments)
  while (client.accepted.length < FEWEST) await client.submit()
  while (client.waiting) await client.emit()
}

/** Whether the condition did not come true in time. */
async function until(within: number, condition: () => Promise<boolean>): Promise<boolean> {
  for (const end = Date.now() + within; Date.now() < end; ) {
    if (await condition()) return false
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return true
}
