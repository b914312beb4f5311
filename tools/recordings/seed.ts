import { apply } from '../../packages/triarch/src/kernel/apply.ts'
import type { TaskEvent } from '../../packages/triarch/src/kernel/event.ts'
import type { GateRequests } from '../../packages/triarch/src/kernel/lock/lock.ts'
import { requestsOf } from '../../packages/triarch/src/kernel/lock/request.ts'
import { type DatedEvent, rebuild } from '../../packages/triarch/src/kernel/rebuild.ts'
import type { TaskState } from '../../packages/triarch/src/kernel/state.ts'
import { summarise } from '../../packages/triarch/src/kernel/summary.ts'
import { eventsOf, outlineOf } from '../../packages/triarch/src/scheduler/history.ts'
import { snapshotOf, UNCHANGED } from '../../packages/triarch/src/scheduler/transition.ts'
import { draftOf } from '../../packages/triarch/src/store/origin.ts'
import type { SubmitOutcome, Transition } from '../../packages/triarch/src/store/port.ts'
import { RecordReader } from '../../packages/triarch/src/store/reader.ts'
import type { SharedStore } from '../../packages/triarch/src/testing/shared.ts'
import type { Recording, StoredLetter, StoredRecord } from './recording.ts'

/** The process that wrote all of it, and died. */
const BEFORE = 'before'
const OWN = `
UPDATE triarch_tasks SET locked_by = '${BEFORE}', epoch = 1, ready = 0, control = 0, orphaned = 0, wake_at = NULL, parent = ?
WHERE key = ?`

/** Fills the store with what these commits left behind. All but the records and letters is made of them, by today's code. */
export function seed(store: SharedStore, { commits, tasks }: Recording, count: number): void {
  const written = new Map<string, Written>()
  const letters = new Map<number, StoredLetter>()
  const parents = new Map(tasks.map(({ id, parent }) => [id, parent ?? null]))
  for (const commit of commits.slice(0, count)) {
    for (const record of commit.records ?? []) {
      const task = written.get(record.task) ?? new Written(store, record, parents.get(record.task) ?? null)
      written.set(record.task, task.add(record))
    }
    for (const letter of commit.letters ?? []) letters.set(letter.id, letter)
    for (const id of commit.taken ?? []) letters.delete(id)
  }
  // What the store said meanwhile of locks and ends is in the recording, and taken where it was taken.
  store.database.run('DELETE FROM triarch_inbox')
  for (const { task, control, message } of letters.values())
    store.perform('post', [[{ task, message: JSON.parse(message), control }]])
  for (const task of written.values()) task.orphan()
}

/** A task, as far as it is written. */
class Written {
  readonly #store: SharedStore
  readonly #id: string
  readonly #reader = new RecordReader()
  readonly #key: number
  #events: DatedEvent[] = []
  #last = 0

  constructor(store: SharedStore, first: StoredRecord, parent: string | null) {
    this.#store = store
    this.#id = first.task
    this.#key = this.#submit(first, parent)
  }

  #submit(first: StoredRecord, parent: string | null): number {
    const { task: id, at, events } = first
    const [submitted] = eventsOf(first, this.#reader)
    if (submitted?.type !== 'submitted') throw new Error(`${id} does not begin with its submission`)
    const { type: _, incarnation: __, ...order } = submitted
    const startAt = (order.startAt ?? 0) > at ? order.startAt : undefined
    const later = startAt !== undefined || order.after !== undefined || order.frozen === true
    const { task } = draftOf({ id, at, order, later, ...(startAt !== undefined && { startAt }) })
    const [made] = this.#store.perform('submit', [[{ ...task, events }]]) as SubmitOutcome[]
    if (!made?.created) throw new Error(`${id} could not be made`)
    this.#store.database.run(OWN, parent, made.key)
    return made.key
  }

  add(record: StoredRecord): this {
    const { seq, at, events } = record
    const read = eventsOf(record, this.#reader)
    const gates: GateRequests = { locks: [], unlocks: [] }
    const state = this.#state
    for (const event of read) {
      this.#events.push({ at, event })
      apply(state, event, at, [])
      requestsOf(state, event, gates)
      // The submission has asked for its locks already.
      if (seq === 1 && event.type === 'locksRequested') gates.locks.length = 0
    }
    this.#last = seq
    this.#write({
      ...{ seq, at, gates, snapshot: snapshotOf(summarise(this.#state)) },
      events: seq === 1 ? null : events,
      rebase: read.some(({ type }) => type === 'continuedAsNew'),
    })
    return this
  }

  get #state(): TaskState {
    return rebuild(this.#id, this.#events).state
  }

  /** Its owner died; one that has stopped had none. */
  orphan(): void {
    const stopped = this.#state.status === 'stopped'
    this.#write({
      ...{ seq: this.#last, at: this.#events.at(-1)?.at ?? 0 },
      release: { wakeAt: null, ready: !stopped, orphaned: !stopped },
    })
  }

  #write(change: Partial<Transition> & Pick<Transition, 'seq' | 'at'>): void {
    const transition: Transition = { ...UNCHANGED, key: this.#key, id: this.#id, node: BEFORE, epoch: 1, ...change }
    const [outcome] = this.#store.perform('commit', [[transition]]) as { ok: boolean }[]
    if (!outcome?.ok) throw new Error(`record ${change.seq} of ${this.#id} is refused: ${JSON.stringify(outcome)}`)
  }
}

/** Every type of event that occurs. */
export function typesIn({ commits }: Recording): Set<TaskEvent['type']> {
  const records = commits.flatMap(({ records = [] }) => records)
  return new Set(records.flatMap((record) => outlineOf(record).map(({ type }) => type)))
}
