import type { CommitOutcome, NewTask, Transition } from 'triarch/store'
import { type Measure, timed } from '../measure.ts'
import { start } from '../subject.ts'

const NODE = 'bench'
const nothing = {
  events: null,
  create: null,
  snapshot: null,
  consumed: [],
  work: [],
  withdraw: [],
  forget: [],
} as const
const stopped = { status: 'stopped', result: 'success', failures: 0, deadline: null, progress: null } as const

/** Each task has a lock of its own and waits for one that all want: the line that every asker's search begins with. */
export const line: Measure = {
  name: 'line',
  about: '10,000 tasks, each with a lock of its own, ask for one more, 100 a commit; then it goes from one to the next',
  async run({ quick, place }) {
    const [waiters, portion, passes] = quick ? [200, 100, 10] : [10_000, 1_000, 500]
    await using subject = await start(await place('engine'), { workflows: [] })
    const { store } = subject
    const at = await store.now()
    const keys: number[] = []
    const commit = async (batch: Transition[]): Promise<number[]> =>
      (await store.commit(batch)).map((outcome: CommitOutcome) => (outcome.ok ? outcome.key : Number.NaN))
    const transition = (n: number, seq: number, change: Partial<Transition>): Transition => ({
      ...{ ...nothing, key: keys[n] ?? null, id: `t${n}`, node: NODE, epoch: 1, seq, at, lastAt: null },
      ...{ children: [], posts: [], release: null, rebase: false, ...change },
    })
    const asks = (name: string, step: number) => ({ locks: [{ step, name, ifHeld: 'queue' as const }], unlocks: [] })
    const batches = Array.from({ length: waiters / 100 }, (_, batch) =>
      Array.from({ length: 100 }, (_, index) => batch * 100 + index),
    )
    for (const batch of batches) {
      const made = batch.map((n) => {
        const { events, ...create } = task(`t${n}`, at)
        return transition(n, 1, { events, create, gates: asks(`own:${n}`, 1) })
      })
      keys.push(...(await commit(made)))
    }
    const taken: number[] = []
    for (const batch of batches) {
      const wanting = batch.map((n) => transition(n, 2, { events: '[]', gates: asks('hot', 2) }))
      taken.push(await timed(() => commit(wanting)))
    }
    const passing = await timed(async () => {
      for (let n = 0; n < passes; n++) {
        const snapshot = { ...stopped, output: null, error: null, pause: null }
        await commit([transition(n, 3, { events: '[]', snapshot })])
      }
    })
    const sum = (of: number[]) => of.reduce((all, one) => all + one, 0)
    const ask = (of: number[]) => (sum(of) / (of.length * 100)) * 1_000
    const [first, last] = [ask(taken.slice(0, portion / 100)), ask(taken.slice(-portion / 100))]
    return [
      { what: `first ${portion}`, value: first, unit: 'µs/ask', better: 'lower', note: 'behind up to as many' },
      { what: `last ${portion}`, value: last, unit: 'µs/ask', better: 'lower', note: `of ${waiters} in one line` },
      { what: 'growth', value: last / first, unit: '×', better: 'lower', target: 2 },
      { what: 'pass', value: passing / passes, unit: 'ms', better: 'lower', note: 'a commit that stops the holder' },
    ]
  },
}

function task(id: string, at: number): NewTask {
  const events = JSON.stringify([{ type: 'submitted', workflow: 'bench', version: '1', input: null }])
  const rest = { priority: 0, tags: {}, status: 'pending', at, startAt: null, deadline: null, parent: null } as const
  return { id, workflow: 'bench', version: '1', ...rest, events }
}
