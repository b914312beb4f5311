import { agent, type FairnessOptions, Triarch, type Workflow, workflow } from 'triarch'
import { type Bench, type Figure, type Measure, median, timed } from '../measure.ts'
import { storeAt } from '../subject.ts'

interface Call {
  /** Whose it is: of the loud one there are many. */
  tenant: 'loud' | 'quiet'
}

const SLOTS = 10
/** What one service takes (ms). */
const SERVICE = 2
/** Tasks that a node has in memory: what else is ready waits in the store. */
const IN_MEMORY = 100
/** Services that begin before it: a few for each slot. */
const TARGET = 3 * SLOTS
const SAMPLES = 5
const PORTION = 1_000

const byTenant: FairnessOptions = { key: ({ tags }) => tags.tenant ?? '' }

/** Counted in services, and not only in milliseconds: the count does not depend on the machine. */
export const fairness: Measure = {
  name: 'fairness',
  about: `delay of the single task of a quiet tenant by what a loud one has waiting, ${SLOTS} slots; with fairness and without`,
  async run(bench) {
    const levels = bench.quick ? [0, 300] : [0, 100, 1_000, 10_000, 100_000]
    const figures: Figure[] = []
    for (const level of levels)
      for (const fair of [true, false]) {
        const { served, ms } = await delay(bench, level, fair)
        figures.push({
          what: `${level} waiting, ${fair ? 'fair' : 'as they come'}`,
          value: served,
          unit: 'services',
          better: 'lower',
          ...(fair && { target: TARGET }),
          note: `${ms.toFixed(0)} ms until it began`,
        })
      }
    return figures
  },
}

/** How many services of the loud one began while it waited to begin, and for how long it did. */
async function delay(bench: Bench, level: number, fair: boolean): Promise<{ served: number; ms: number }> {
  const place = await bench.place(`fairness-${level}-${fair ? 'fair' : 'plain'}`)
  let begun = 0
  let wanted = 0
  let reached = (): void => undefined
  let quiet = (_: number): void => undefined
  const service = agent('shared', { concurrency: SLOTS, ...(fair && { fairness: byTenant }) })
  const call = service.action('call', {
    run: async ({ tenant }: Call) => {
      if (tenant === 'quiet') quiet(begun)
      else if (++begun === wanted) reached()
      await new Promise((resolve) => setTimeout(resolve, SERVICE))
      return null
    },
  })
  const one: Workflow<Call, null> = workflow('call', { run: (input: Call, task) => task.run(call, input) })
  const options = { store: storeAt(place), workflows: [one], ...(fair && { fairness: byTenant }) }
  await using client = new Triarch({ ...options, roles: [], notices: false })
  // A few more, for some are served before anybody looks.
  wanted = level === 0 ? 0 : SLOTS
  await fill(client, one, level + wanted)
  const limits = { tasks: IN_MEMORY }
  await using node = new Triarch({ ...options, agents: [service], limits })
  const first = new Promise<void>((resolve) => {
    reached = resolve
  })
  await node.start()
  if (level > 0) await first
  const samples: { served: number; ms: number }[] = []
  // Where nobody is fair, one waits for all of them: then there are no more.
  for (let sample = 0; sample < (fair || level === 0 ? SAMPLES : 1); sample++) {
    const before = begun
    let served = 0
    const ms = await timed(async () => {
      const told = new Promise<number>((resolve) => {
        quiet = resolve
      })
      await client.submit(one, { tenant: 'quiet' }, { tags: { tenant: 'quiet' } })
      served = (await told) - before
    })
    samples.push({ served, ms })
  }
  await node.stop({ grace: 0 })
  return { served: median(samples.map((it) => it.served)), ms: median(samples.map((it) => it.ms)) }
}

async function fill(client: Triarch, of: Workflow<Call, null>, count: number): Promise<void> {
  for (let left = count; left > 0; left -= PORTION) {
    const entry = { input: { tenant: 'loud' as const }, tags: { tenant: 'loud' } }
    const results = await client.submitMany(
      of,
      Array.from({ length: Math.min(left, PORTION) }, () => entry),
    )
    const failed = results.find(({ status }) => status === 'rejected')
    if (failed) throw new Error('not submitted', { cause: failed })
  }
}
