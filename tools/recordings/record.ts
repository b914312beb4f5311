import type { SharedStore } from '../../packages/triarch/src/testing/shared.ts'
import { World } from '../../packages/triarch/src/testing/world.ts'
import type { Feature } from './feature.ts'
import type { Commit, Recording, StoredLetter, StoredRecord } from './recording.ts'
import { Stage } from './stage.ts'
import { viewOf } from './view.ts'

const HOUR = 3_600
const RECORDS = `
SELECT t.id AS task, h.seq, h.at, h.events FROM triarch_history h JOIN triarch_tasks t ON t.key = h.task
ORDER BY h.at, t.key, h.seq`
const LETTERS = `
SELECT i.id, t.id AS task, i.control, i.message FROM triarch_inbox i JOIN triarch_tasks t ON t.key = i.task ORDER BY i.id`
const TASKS = 'SELECT id FROM triarch_tasks ORDER BY key'

/** Plays the feature and writes down what the store acknowledged: the same each time, wherever it is done. */
export async function record(feature: Feature, store: SharedStore): Promise<Recording> {
  const world = new World({ seed: 1 })
  const tap = new Tap(store, world)
  const { stackTraceLimit } = Error
  // Where the code lies is no part of what happened.
  Error.stackTraceLimit = 0
  const stage = new Stage({ feature, store, world, wrote: () => tap.note() })
  try {
    await stage.start()
    const began = world.now
    const acts: number[] = []
    for (const act of feature.script) {
      await world.run(began + act.at * 1_000 - world.now)
      acts.push(tap.commits.length)
      const error = await stage.act(act)
      if (error) throw new Error(`${feature.name}: act ${acts.length} was refused`, { cause: error })
    }
    await world.run((feature.rest ?? HOUR) * 1_000)
    if (stage.errors.length > 0) throw new AggregateError(stage.errors, `${feature.name}: errors in the engine`)
    const ids = store.database.all<{ id: string }>(TASKS).map(({ id }) => id)
    const tasks = await stage.during(() => Promise.all(ids.map((id) => viewOf(stage.triarch, id))))
    return { feature: feature.name, began, acts, commits: tap.commits, tasks }
  } finally {
    stage.leave()
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Sees what each call of the store left behind. */
class Tap {
  readonly commits: Commit[] = []
  readonly #store: SharedStore
  readonly #world: World
  readonly #records = new Set<string>()
  readonly #letters = new Set<number>()

  constructor(store: SharedStore, world: World) {
    this.#store = store
    this.#world = world
  }

  note(): void {
    const { database } = this.#store
    const commit: Commit = { at: this.#world.now }
    const records = database.all<StoredRecord>(RECORDS).filter(({ task, seq }) => {
      const place = `${task} ${seq}`
      return !this.#records.has(place) && this.#records.add(place)
    })
    if (records.length > 0) commit.records = records.map((record) => ({ ...record }))
    const inbox = database.all<Omit<StoredLetter, 'control'> & { control: number }>(LETTERS)
    const there = new Set(inbox.map(({ id }) => id))
    const letters = inbox.filter(({ id }) => !this.#letters.has(id) && this.#letters.add(id))
    if (letters.length > 0) commit.letters = letters.map((it) => ({ ...it, control: it.control === 1 }))
    const taken = [...this.#letters].filter((id) => !there.has(id))
    for (const id of taken) this.#letters.delete(id)
    if (taken.length > 0) commit.taken = taken
    if (commit.records ?? commit.letters ?? commit.taken) this.commits.push(commit)
  }
}
