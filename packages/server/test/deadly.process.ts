// A process that only runs actions, two of which it dies of: node deadly.process.ts FILE|URL
import { agent, connectAgents, Triarch, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'

const [place = ''] = process.argv.slice(2)

const bank = agent('bank', { concurrency: 20 })
const policy = { attemptWithin: '10m', retry: { attempts: 1 } } as const
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const exit = bank.action('exit', { ...policy, run: async () => process.exit(3) })
const hoard = bank.action('hoard', {
  ...policy,
  // In one go: with rests between, a busy machine takes longer to die than a trial lasts, and the process says that it lives.
  async run() {
    for (const all: unknown[] = []; ; ) all.push(new Array(4_000_000).fill(0))
  },
})
/** Longer than a process lives here, until the poison is found: it is hit by each death. */
const work = bank.action('work', { ...policy, run: (ms: number) => pause(ms).then(() => 'done') })

export const exits = workflow('exits', { run: (_: null, task) => task.run(exit, null) })
export const hoards = workflow('hoards', { run: (_: null, task) => task.run(hoard, null) })
export const innocent = workflow('innocent', { run: (ms: number, task) => task.run(work, ms) })
export const pace = { lease: 500, sweep: 100, poll: 20 }

if (place !== '') {
  process.once('disconnect', () => process.exit())
  if (place.startsWith('http:')) await connectAgents(place, { agents: [bank] }).connected
  else await new Triarch({ store: sqlite(place), agents: [bank], roles: ['agent'], ...pace }).start()
}
