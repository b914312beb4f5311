import { expect } from 'vitest'
import type { ErrorRecord } from '../../src/index.ts'
import { type Alert, type TaskHandle, TriarchError } from '../../src/index.ts'
import { childTaskId } from '../../src/kernel/child/child.ts'
import type { TaskEvent } from '../../src/kernel/event.ts'
import { type DatedEvent, rebuild } from '../../src/kernel/rebuild.ts'
import { summarise } from '../../src/kernel/summary.ts'
import { snapshotOf } from '../../src/scheduler/transition.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import { withOutputs } from '../../src/store/output.ts'
import type { StateStore } from '../../src/store/port.ts'
import { RecordReader } from '../../src/store/reader.ts'
import { memory, type TestEngine, type TestOptions, testEngine } from '../../src/testing/index.ts'

/** A test engine under watch: what it alerts, what goes wrong inside it, and the store behind it. */
export class Stage implements AsyncDisposable {
  readonly engine: TestEngine
  readonly store: StateStore
  readonly alerts: Alert[] = []
  readonly errors: unknown[]
  #stopped = false

  constructor(engine: TestEngine, store: StateStore, errors: unknown[]) {
    this.engine = engine
    this.store = store
    this.errors = errors
    engine.triarch.on('alert', (alert) => this.alerts.push(alert))
  }

  get submit(): TestEngine['submit'] {
    return this.engine.submit.bind(this.engine)
  }

  get advance(): TestEngine['advance'] {
    return this.engine.advance.bind(this.engine)
  }

  get settle(): TestEngine['settle'] {
    return this.engine.settle.bind(this.engine)
  }

  /** Checks every task against its history, then goes away at once. */
  async leave(): Promise<void> {
    await this.settle()
    for (const { id } of (await this.store.list({ where: [], limit: 1_000, order: 'oldest' })).rows)
      await checkFold(this.store, id)
    await this.kill()
  }

  /** Stops without waiting for anything: what ran here is lost to others. */
  async kill(): Promise<void> {
    this.#stopped = true
    await this.engine.stop({ grace: 0 })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#stopped) await this.leave()
    expect(this.errors).toEqual([])
  }
}

export async function stage(options: TestOptions = {}): Promise<Stage> {
  const errors: unknown[] = []
  const made: StateStore[] = []
  const factory = options.store ?? memory()
  const engine = await testEngine({
    onError: (error) => errors.push(error),
    ...options,
    store: (environment) => {
      const store = factory(environment)
      made.push(store)
      return store
    },
  })
  return new Stage(engine, made[0] as StateStore, errors)
}

/** The store with some of its calls seen or changed. */
export function seen(factory: StoreFactory, change: (store: StateStore) => Partial<StateStore>): StoreFactory {
  return (environment) => {
    const store = factory(environment)
    const changed = change(store)
    return new Proxy(store, {
      get(target, key) {
        const own = (changed[key as keyof StateStore] ?? Reflect.get(target, key, target)) as unknown
        return typeof own === 'function' ? own.bind(target) : own
      },
    })
  }
}

/** The history is gapless, and the task's row is what a fold of it gives; so is a rebuild from the last fresh start. */
export async function checkFold(store: StateStore, id: string): Promise<void> {
  const row = await withOutputs(store).task(id)
  if (!row) throw new Error(`no task ${id}`)
  const records = await store.records(id, 0, 1_000_000)
  // What lies before the last new beginning is dropped, but for the submission.
  const base = records[1]?.seq ?? 2
  if (base > 2) expect(records[1]?.events).toContain('"type":"continuedAsNew"')
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => (index === 0 ? 1 : base + index - 1)))
  const dated = (from: typeof records): DatedEvent[] => {
    const reader = new RecordReader()
    return from.flatMap(({ seq, at, events }) => reader.events(events, seq).map((event) => ({ at, event })))
  }
  const fold = (from: typeof records) => snapshotOf(summarise(rebuild(id, dated(from)).state))
  expect({ ...row, output: row?.veiled ?? row?.output }).toMatchObject({ ...fold(records) })
  expect(fold(await store.replay(id))).toEqual(fold(records))
}

/** The id of what the task started as this step of it. */
export async function childOf(s: Stage, task: string, place: string | number): Promise<string> {
  const [submitted] = await events(s.engine.tasks.get(task))
  const incarnation = submitted?.type === 'submitted' ? (submitted.incarnation ?? '') : ''
  return childTaskId({ id: task, incarnation }, place)
}

/** As the store keeps them. */
export async function events(task: TaskHandle): Promise<TaskEvent[]> {
  return (await task.export()).records.flatMap((record) => record.events as unknown as TaskEvent[])
}

export async function eventsOf<T extends TaskEvent['type']>(
  task: TaskHandle,
  type: T,
): Promise<Extract<TaskEvent, { type: T }>[]> {
  return (await events(task)).filter((event): event is Extract<TaskEvent, { type: T }> => event.type === type)
}

/** The code of the error that the promise rejects with. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (error) {
    return error instanceof TriarchError ? error.code : `not typed: ${String(error)}`
  }
  return 'nothing'
}

/** Messages of an error and its causes, outermost first. */
export function causes(record: ErrorRecord | undefined): string[] {
  return record ? [record.message, ...causes(record.cause)] : []
}

export function never(): Promise<never> {
  return new Promise(() => undefined)
}
