import type { SubmitOptions } from '../client/submission.ts'
import type { TaskHandle } from '../client/task.ts'
import { Triarch } from '../client/triarch.ts'
import type { Workflow } from '../definition/definition.ts'
import type { NoSignals, SignalSchemas } from '../definition/signal.ts'
import type { TriarchOptions } from '../node/options.ts'
import { type Duration, milliseconds } from '../value/duration.ts'
import { memory } from './memory.ts'
import { VirtualEnvironment } from './virtual.ts'

/**
 * As for a Triarch; an in-memory store and virtual time when not given.
 * @example const engine = await testEngine({ workflows: [fulfil], agents: [payments], seed: 7 })
 */
export interface TestOptions extends Partial<Omit<TriarchOptions, 'environment'>> {
  /** Shared by several engines, it gives them the same time. */
  environment?: VirtualEnvironment
  /** Seed of randomness and ids; 1. */
  seed?: number
}

/** Virtual time until a stop that waits for something gives up. */
const LONGEST_STOP = 3_600_000

/**
 * A started engine whose time stands still until it is told to advance.
 * @example
 * await using engine = await testEngine({ workflows: [fulfil], agents: [payments] })
 * const task = await engine.submit(fulfil, { id: 'o-1', amount: 10 })
 * await engine.advance('30d')
 */
export async function testEngine(options: TestOptions = {}): Promise<TestEngine> {
  const { seed, environment = new VirtualEnvironment(seed === undefined ? {} : { seed }), ...rest } = options
  // Nobody else writes to this store and nobody dies: looking out for that now and then makes long advances cheap.
  const standing = { store: memory(), lease: '1d', sweep: '1h', poll: '1h', grace: 0, notices: false } as const
  const triarch = new Triarch({ ...standing, ...rest, environment })
  await triarch.start()
  await environment.settle()
  return new TestEngine(triarch, environment)
}

/**
 * A Triarch and its virtual time.
 * @example
 * const engine = await testEngine({ workflows: [fulfil], agents: [payments] })
 * const { text } = await engine.triarch.task('o-1').explain()
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
   * As Triarch.submit().
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
   * As Triarch.task().
   * @example const { receipt } = await engine.task('o-1', fulfil).result()
   */
  task<O = unknown, E extends SignalSchemas = NoSignals>(
    id: string,
    workflow?: Workflow<unknown, O, E>,
  ): TaskHandle<O, E> {
    return this.triarch.task<O, E>(id, workflow)
  }

  /**
   * The virtual instant.
   * @example const due = new Date(engine.now().getTime() + 86_400_000)
   */
  now(): Date {
    return new Date(this.environment.now())
  }

  /**
   * Lets this much time pass; everything that comes due meanwhile happens in its order.
   * @example await engine.advance('30d')
   */
  advance(duration: Duration): Promise<void> {
    return this.environment.advance(milliseconds(duration, 'advance'))
  }

  /**
   * Lets everything happen that needs no time to pass.
   * @example
   * await engine.task('o-1').signal('approved')
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
