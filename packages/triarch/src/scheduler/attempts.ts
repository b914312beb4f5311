import type { TaskState } from '../kernel/state.ts'
import { dispatchable } from '../kernel/step/dispatch.ts'
import { isSuspect } from '../kernel/step/loss.ts'
import type { Step } from '../kernel/step/step.ts'
import { Table } from '../kernel/table.ts'
import type { WorkRequest } from '../store/port.ts'
import type { Driver } from './driver.ts'
import type { RunnerHost } from './host.ts'
import { agentAction } from './rest.ts'
import { workRequest } from './transition.ts'

/** What goes out once the turn is recorded: through the agents' queues, or into this process. */
export interface Outgoing {
  work: readonly WorkRequest[]
  local: readonly Step[]
}

export const NOTHING_GOES: Outgoing = { work: [], local: [] }

/** The attempts of one task that run in this process: from the turn that lets them go to the one that takes their replies. */
export class Attempts {
  readonly #host: Pick<RunnerHost, 'reserve' | 'unreserve' | 'standing' | 'telemetry'>
  readonly #here = new Table<number, true>()
  /** What the queues were asked for last: an agent may give a request back, and another one of the same attempt follows it. */
  readonly #asked = new Table<number, WorkRequest>()
  /** Requests that were written without a record. */
  readonly #unrecorded = new WeakSet<WorkRequest>()
  /** Who waits to be told that a trial of these steps is recorded as begun. */
  readonly #trials = new Table<number, (recorded: boolean) => void>()

  constructor(host: Pick<RunnerHost, 'reserve' | 'unreserve' | 'standing' | 'telemetry'>) {
    this.#host = host
  }

  /** The steps whose attempts run here. */
  get steps(): Iterable<number> {
    return this.#here.keys()
  }

  /** Whether an attempt of it runs here. */
  has(step: number): boolean {
    return this.#here.has(step)
  }

  get none(): boolean {
    return this.#here.size === 0
  }

  /** The latest requests that were written and that no record of the task tells of. */
  get unrecorded(): WorkRequest[] {
    return [...this.#asked.values()].filter((request) => this.#unrecorded.has(request))
  }

  /** These were written in a transition without events. */
  written(requests: readonly WorkRequest[]): void {
    for (const request of requests) this.#unrecorded.add(request)
  }

  /** Another request of the step was made since, which may not be written yet. Of what was asked for before the task came here nothing is known. */
  hasFollowed(request: WorkRequest): boolean {
    const last = this.#asked.get(request.step)
    return last !== undefined && last !== request
  }

  /** Its reply came, or it was cut off. */
  ended(step: number): void {
    this.#here.delete(step)
    this.#asked.delete(step)
  }

  /** Lets go what is due: here if there is a slot, else to the queues. `leaving`: nothing more begins here. */
  dispatch(state: TaskState, at: number, driver: Driver, leaving: boolean): Outgoing {
    const due = dispatchable(state, at)
    if (due.length === 0) return NOTHING_GOES
    const work: WorkRequest[] = []
    const local: Step[] = []
    const tells = this.#host.telemetry['step:parked'].open
    for (const step of due) {
      const action = agentAction(step)
      if (action === null && !driver.code(step)) continue
      const here = action === null || !(leaving || step.lane !== null || step.putOff !== null || isSuspect(step))
      if (action !== null && !(here && this.#host.reserve(action, state, step))) {
        const request = workRequest(state, step, { action, at, tells, ...this.#host.standing(action, state, step) })
        this.#asked.set(step.id, request)
        work.push(request)
      } else if (leaving) continue
      else {
        local.push(step)
        this.#here.set(step.id, true)
      }
      step.dispatched = true
    }
    return { work, local }
  }

  /** The turn was not recorded: what was to begin here does not. */
  recall(state: TaskState, local: readonly Step[]): void {
    for (const step of local)
      if (this.#here.delete(step.id) && step.action !== null) this.#host.unreserve(step.action, state, step)
  }

  /** The step is about to be tried by itself. Whether that was recorded. */
  tried(step: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#trials.set(step, resolve)
    return promise
  }

  get hasTrials(): boolean {
    return this.#trials.size > 0
  }

  recorded(step: number): void {
    this.#trials.get(step)?.(true)
    this.#trials.delete(step)
  }

  /** The task leaves memory: no trial is recorded any more. */
  leave(): void {
    for (const give of this.#trials.values()) give(false)
  }
}
