import type { Workflow } from '../../definition/definition.ts'
import { type SignalSchemas, undeclared } from '../../definition/signal.ts'
import type { TriarchError } from '../../error/error.ts'
import type { Rebuilt } from '../../kernel/rebuild.ts'
import type { TaskState } from '../../kernel/state.ts'
import type { Step } from '../../kernel/step/step.ts'
import type { Turn } from '../../kernel/turn.ts'
import type { LogEntry, NewTask } from '../../store/port.ts'
import { milliseconds } from '../../value/duration.ts'
import { decide, pauseFor } from '../decisions.ts'
import type { Driver } from '../driver.ts'
import type { LocalCode } from '../effect.ts'
import type { RunnerHost } from '../host.ts'
import { isStalled } from '../rest.ts'
import { replay, wasRunning } from './replay.ts'
import { FunctionRun } from './run.ts'

/** Drives a durable function, which runs in this process. The function has decided all it can when its promises are quiet. */
export class FunctionDriver implements Driver {
  readonly begins = 'function'
  readonly runWithin: number | undefined
  readonly #signals: SignalSchemas | undefined
  readonly #run: FunctionRun
  readonly #host: RunnerHost
  /** The error of a call that the code made outside of its turn. */
  #stray: TriarchError | null = null
  /** Unhandled errors of the code, by promise. */
  readonly #left = new Map<Promise<unknown> | null, TriarchError>()
  readonly #wake: () => void

  constructor(workflow: Workflow, rebuilt: Rebuilt, host: RunnerHost, wake: () => void) {
    const { runWithin, signals } = workflow.definition
    this.runWithin = runWithin === undefined ? undefined : milliseconds(runWithin, 'runWithin')
    this.#signals = signals
    this.#host = host
    this.#wake = wake
    this.#run = new FunctionRun(workflow, rebuilt, host.limits.payload, (error) => {
      this.#stray = error
      wake()
    })
  }

  get urgent(): boolean {
    return this.#stray !== null || this.#left.size > 0
  }

  refuses(signal: string): TriarchError | null {
    return undeclared(this.#signals, signal)
  }

  left(error: TriarchError, promise: Promise<unknown> | null): void {
    this.#left.set(promise, error)
    this.#wake()
  }

  handled(promise: Promise<unknown>): void {
    this.#left.delete(promise)
  }

  async replay(rebuilt: Rebuilt, undoes: boolean): Promise<void> {
    if (wasRunning(rebuilt.state, undoes)) await replay(this.#host, this.#run, rebuilt)
    // A rejection that looked unhandled in the middle of a long replay may be handled later.
    if (this.#left.size > 0) await new Promise<void>((resolve) => this.#host.environment.soon(resolve))
  }

  begin(at: number): boolean {
    this.#run.start(at)
    return true
  }

  tell(turn: Turn, children: NewTask[]): boolean {
    const run = this.#run
    run.rest()
    decide(turn, run.commands, children)
    if (turn.state.closing?.cause === 'continue' && turn.deliveries.length > 0) {
      run.giveBack(turn.deliveries)
      decide(turn, run.commands, children)
    }
    const delivery = run.failure ? undefined : turn.deliveries.shift()
    run.activate(delivery !== undefined)
    if (delivery) run.deliver(delivery, turn.at)
    else if (run.failure) pauseFor(turn, run.failure)
    return delivery !== undefined
  }

  advance(turn: Turn): void {
    const [left = null] = this.#left.values()
    const error = this.#stray ?? left
    if (error) pauseFor(turn, error)
    this.#stray = null
    this.#left.clear()
  }

  code({ id }: Step): LocalCode | undefined {
    return this.#run.locals.get(id)
  }

  misses({ id, action }: Step): boolean {
    return action === null && !this.#run.locals.has(id)
  }

  said(): readonly LogEntry[] | null {
    return this.#run.said()
  }

  isStranded(): boolean {
    return false
  }

  isStalled(state: TaskState): boolean {
    return isStalled(state)
  }
}
