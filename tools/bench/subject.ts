import { postgres } from '@triarch/postgres'
import { type Agent, agent, type TaskHandle, Triarch, type TriarchOptions, type Workflow, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'

type Store = ReturnType<TriarchOptions['store']>

/** An engine under measurement, the store it runs on, and what it commits. */
export interface Subject extends AsyncDisposable {
  engine: Triarch
  store: Store
  /** `requests`: rows for work queues. */
  commits: { batches: number; transitions: number; requests: number }
}

/** Where the engine keeps a task's rows, for measures that fill or count them behind its back. */
export const tables = { tasks: 'triarch_tasks', history: 'triarch_history' } as const

export interface Count {
  n: number
}

/** Enough room for whatever a measure has in flight: what is measured is the engine, not its bounds. */
export const service: Agent = agent('service', { concurrency: 100_000 })
export const add = service.action('add', { run: async ({ n }: Count) => ({ n: n + 1 }) })

export const oneStep: Workflow<Count, Count> = workflow('one-step', {
  async run(input: Count, task) {
    return task.run(add, input)
  },
})

export const threeSteps: Workflow<Count, Count> = workflow('three-steps', {
  async run(input: Count, task) {
    const first = await task.run(add, input)
    const second = await task.run(add, first)
    return task.run(add, second)
  },
})

export const wide: Workflow<Count, number> = workflow('wide', {
  async run({ n }: Count, task) {
    const done = await Promise.all(Array.from({ length: n }, (_, index) => task.run(add, { n: index })))
    return done.length
  },
})

const workflows = [oneStep, threeSteps, wide]

/** The store at a URL, or in a file. */
export function storeAt(place: string): TriarchOptions['store'] {
  return place.startsWith('postgres:') ? postgres(place) : sqlite(place)
}

/** A node with all roles on the store of this place. */
export async function start(place: string, options: Partial<TriarchOptions> = {}): Promise<Subject> {
  const commits = { batches: 0, transitions: 0, requests: 0 }
  const factory = storeAt(place)
  let store: Store | undefined
  const engine = new Triarch({
    agents: [service],
    ...options,
    workflows: [...workflows, ...(options.workflows ?? [])],
    store: (environment) => {
      store = factory(environment)
      const commit = store.commit.bind(store)
      store.commit = (batch) => {
        commits.batches++
        commits.transitions += batch.length
        for (const { work } of batch) commits.requests += work.length
        return commit(batch)
      }
      return store
    },
  })
  await engine.start()
  if (!store) throw new Error('the engine made no store')
  return { engine, store, commits, [Symbol.asyncDispose]: () => engine.stop() }
}

/** Runs `tasks` tasks from submission to result, `inFlight` at a time; how long that took (ms). */
export function drive(engine: Triarch, of: Workflow<Count, unknown>, tasks: number, inFlight?: number): Promise<number>
export function drive<I>(
  engine: Triarch,
  of: Workflow<I, unknown>,
  tasks: number,
  inFlight: number,
  input: () => I,
): Promise<number>
export async function drive(
  engine: Triarch,
  of: Workflow<unknown, unknown>,
  tasks: number,
  inFlight = 256,
  input: () => unknown = () => ({ n: 1 }),
): Promise<number> {
  let next = 0
  const customer = async () => {
    while (next < tasks) {
      next++
      const task = await engine.submit(of, input())
      await task.result()
    }
  }
  const begin = performance.now()
  await Promise.all(Array.from({ length: Math.min(inFlight, tasks) }, customer))
  return performance.now() - begin
}

/** The history records of a finished task, as the store keeps them: what the raw ceiling writes. */
export async function recordsOf(task: TaskHandle<unknown>): Promise<string[]> {
  return (await task.export()).records.map(({ events }) => JSON.stringify(events))
}
