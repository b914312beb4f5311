import type { SubmitOptions } from '../client/submission.ts'
import type { TaskHandle } from '../client/task.ts'
import type { TaskCollection } from '../client/tasks.ts'
import { Triarch } from '../client/triarch.ts'
import type { Workflow } from '../definition/definition.ts'
import type { SignalSchemas } from '../definition/signal.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import type { TriarchOptions } from '../node/options.ts'
import type { StoreFactory } from '../store/factory.ts'
import type { StateStore } from '../store/port.ts'
import { type Duration, milliseconds } from '../value/duration.ts'
import { memory } from './memory.ts'
import { Foresight } from './prospect.ts'
import { VirtualEnvironment } from './virtual.ts'

/**
 * The options of a Triarch; by default with an in-memory store and virtual time.
 * @example const engine = await testEngine({ workflows: [fulfil], agents: [payments], seed: 7 })
 */
export interface TestOptions extends Partial<Omit<TriarchOptions, 'environment'>> {
  /** Engines that share an environment have the same time. */
  environment?: VirtualEnvironment
  /** Seed of randomness and ids; 1. */
  seed?: number
  /**
   * How long, in real time, a result waits for user code that is at work, or for something from outside, before it is rejected with
   * WAIT_ENDLESS; 2 s.
   */
  patience?: Duration
}

const PATIENCE = '2s'
/** Virtual time after which a stop that waits for something gives up. */
const LONGEST_STOP = 3_600_000

/**
 * A started engine whose time stands still until the test advances it.
 * @example
 * await using engine = await testEngine({ workflows: [fulfil], agents: [payments] })
 * const task = await engine.submit(fulfil, { id: 'o-1', amount: 10 })
 * await engine.advance('30d')
 */
export async function testEngine(options: TestOptions = {}): Promise<TestEngine> {
  const { seed, environment = new VirtualEnvironment(seed === undefined ? {} : { seed }), patience, ...rest } = options
  // There are no other writers and no dying nodes, so rare polls suffice, which makes long advances cheap.
  const standing = { lease: '1d', sweep: '1h', poll: '1h', grace: 0, notices: false } as const
  const store = watched(rest.store ?? memory(), environment)
  const time = new EngineTime(environment, milliseconds(patience ?? PATIENCE, 'patience'))
  const triarch = new Triarch({ ...standing, ...rest, store, environment: time })
  time.foresight = new Foresight(triarch, () => environment.now())
  await triarch.start()
  await environment.settle()
  return new TestEngine(triarch, environment)
}

/**
 * A Triarch with virtual time.
 * @example
 * const engine = await testEngine({ workflows: [fulfil], agents: [payments] })
 * const { text } = await engine.triarch.tasks.get('o-1').explain()
 */
export class TestEngine implements AsyncDisposable {
  /** The engine. */
  readonly triarch: Triarch
  /** Its time, ids and randomness. */
  readonly environment: VirtualEnvironment

  constructor(triarch: Triarch, environment: VirtualEnvironment) {
    this.triarch = triarch
    this.environment = environment
  }

  /**
   * Like Triarch.submit().
   * @example const task = await engine.submit(fulfil, { id: 'o-1', amount: 10 })
   */
  submit<I, O, E extends SignalSchemas>(
    workflow: Workflow<I, O, E>,
    input: NoInfer<I>,
    options: SubmitOptions = {},
  ): Promise<TaskHandle<O, E>> {
    return this.triarch.submit(workflow, input, options)
  }

  /**
   * Like Triarch.tasks.
   * @example const { receipt } = await engine.tasks.get('o-1', fulfil).result()
   */
  get tasks(): TaskCollection {
    return this.triarch.tasks
  }

  /**
   * The virtual instant.
   * @example const due = new Date(engine.now().getTime() + 86_400_000)
   */
  now(): Date {
    return new Date(this.environment.now())
  }

  /**
   * Lets this much time pass; everything that becomes due meanwhile happens in order.
   * @example await engine.advance('30d')
   */
  advance(duration: Duration): Promise<void> {
    return this.environment.advance(milliseconds(duration, 'advance'))
  }

  /**
   * Lets everything happen that needs no passing of time.
   * @example
   * await engine.tasks.get('o-1').signal('approved')
   * await engine.settle()
   */
  settle(): Promise<void> {
    return this.environment.settle()
  }

  /**
   * Stops the engine; time advances as far as the stop needs it to.
   * @example await engine.stop()
   */
  async stop(options: { grace?: Duration } = {}): Promise<void> {
    let over = false
    const stopping = this.triarch.stop(options).finally(() => {
      over = true
    })
    stopping.catch(() => undefined)
    for (let waited = 0; !over && waited <= LONGEST_STOP; waited += 1_000) {
      await this.environment.settle()
      if (!over) await this.environment.advance(1_000)
    }
    await stopping
  }

  /** Stops it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop({ grace: 0 })
  }
}

/** The time of one engine, which passes by itself while a result is awaited. */
class EngineTime implements Environment {
  readonly random: () => number
  readonly id: () => string
  readonly #inner: VirtualEnvironment
  readonly #stopBudget: number
  foresight: Foresight | null = null

  constructor(inner: VirtualEnvironment, patience: number) {
    this.#inner = inner
    this.#stopBudget = patience
    this.random = inner.random
    this.id = inner.id
  }

  now(): number {
    return this.#inner.now()
  }

  monotonic(): number {
    return this.#inner.monotonic()
  }

  timer(ms: number, callback: () => void): Timer {
    return this.#inner.timer(ms, callback)
  }

  // The results are returned, so that an environment of a test that wrongly returns a promise is noticed.
  soon(callback: () => void): void {
    return this.#inner.soon(callback)
  }

  drain(callback: () => void): void {
    return this.#inner.drain(callback)
  }

  awaited<T>(task: string, result: Promise<T>, bounded: boolean): Promise<T> {
    const { foresight } = this
    if (!foresight) return result
    const ahead = () => foresight.of(task)
    return this.#inner.awaitedBy(result, { task, bounded, patience: this.#stopBudget, ahead })
  }
}

/** The store, which marks the environment as busy while a call is under way. */
function watched(factory: StoreFactory, environment: VirtualEnvironment): StoreFactory {
  return (given) => {
    // Cached by method, because a test may replace one.
    const calls = new Map<unknown, unknown>()
    const watch = (target: StateStore, method: (...args: unknown[]) => unknown) => {
      return (...args: unknown[]): unknown => {
        const answer = method.apply(target, args)
        return answer instanceof Promise ? environment.during(answer) : answer
      }
    }
    return new Proxy(factory(given), {
      get(target, key) {
        const own: unknown = Reflect.get(target, key, target)
        if (typeof own !== 'function') return own
        if (!calls.has(own)) calls.set(own, watch(target, own as (...args: unknown[]) => unknown))
        return calls.get(own)
      },
    })
  }
}
