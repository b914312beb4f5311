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

/** What goes out once the turn is recorded: requests to the agents' queues, and attempts to begin in this process. */
export interface Outgoing {
  work: readonly WorkRequest[]
  local: readonly Step[]
}

export const NOTHING_GOES: Outgoing = { work: [], local: [] }

/** The attempts of one task that run in this process, from the turn that dispatches them to the turn that takes their replies. */
export class Attempts {
  readonly #host: Pick<RunnerHost, 'reserve' | 'unreserve' | 'standing' | 'telemetry'>
  readonly #here = new Table<number, true>()
  /** The last queued request of each step. If an agent gives a request back, another one for the same attempt follows. */
  readonly #asked = new Table<number, WorkRequest>()
  /** Requests that were written by a transition without a record. */
  readonly #unrecorded = new WeakSet<WorkRequest>()
  /** Callers waiting for these steps' probation attempts to be recorded as begun. */
  readonly #onProbation = new Table<number, (recorded: boolean) => void>()

  constructor(host: Pick<RunnerHost, 'reserve' | 'unreserve' | 'standing' | 'telemetry'>) {
    this.#host = host
  }

  /** The steps whose attempts run here. */
  get steps(): Iterable<number> {
    return this.#here.keys()
  }

  has(step: number): boolean {
    return this.#here.has(step)
  }

  get none(): boolean {
    return this.#here.size === 0
  }

  /** The latest requests that were written and that no record of the task mentions. */
  get unrecorded(): WorkRequest[] {
    return [...this.#asked.values()].filter((request) => this.#unrecorded.has(request))
  }

  /** These requests were written by a transition without events. */
  written(requests: readonly WorkRequest[]): void {
    for (const request of requests) this.#unrecorded.add(request)
  }

  /** Whether another request of the step was made since, written or not. Requests made before the task came to this node are not known. */
  hasFollowed(request: WorkRequest): boolean {
    const last = this.#asked.get(request.step)
    return last !== undefined && last !== request
  }

  /** The attempt has replied, or was cut off. */
  ended(step: number): void {
    this.#here.delete(step)
    this.#asked.delete(step)
  }

  /** Dispatches what is due: here if there is a slot, otherwise to the queues. `leaving`: nothing more begins here. */
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

  /** The turn was not recorded, so the attempts that it was to begin here do not begin. */
  recall(state: TaskState, local: readonly Step[]): void {
    for (const step of local)
      if (this.#here.delete(step.id) && step.action !== null) this.#host.unreserve(step.action, state, step)
  }

  /** An attempt on probation is about to begin. Resolves to whether that was recorded. */
  tried(step: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#onProbation.set(step, resolve)
    return promise
  }

  get hasProbation(): boolean {
    return this.#onProbation.size > 0
  }

  recorded(step: number): void {
    this.#onProbation.get(step)?.(true)
    this.#onProbation.delete(step)
  }

  /** The task leaves memory, so beginnings are no longer recorded. */
  leave(): void {
    for (const give of this.#onProbation.values()) give(false)
  }
}
