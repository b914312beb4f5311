import type { TaskEvent } from '../../src/kernel/event.ts'
import type { TaskState } from '../../src/kernel/state.ts'
import { resolvePolicy } from '../../src/kernel/step/policy.ts'

interface Unit {
  id: number
  kind: 'step' | 'child'
  requestedAt: number
  /** Completed with something to undo. */
  completedAt: number | null
  undoable: boolean
  /** It has its one outcome. */
  ended: boolean
  undo: 'none' | 'asked' | 'done'
}

/** Keeps the books of results and of what is to be undone, by itself. */
export class Saga {
  readonly #units = new Map<number, Unit>()
  #count = 0
  /** Why the task ends, and whether what it did is to be undone then. */
  #undoes: boolean | null = null

  /** After a rewind: what the rebuilt state holds. */
  static of(state: TaskState): Saga {
    const saga = new Saga()
    saga.#count = state.ordinal
    saga.#undoes = state.closing?.compensate ?? null
    for (const { id, requestedAt, completedAt, status, policy } of [
      ...state.steps.values(),
      ...state.compensable.values(),
    ]) {
      const done = status === 'success'
      const undo = status === 'compensating' ? 'asked' : 'none'
      const completed = done || undo === 'asked' ? completedAt : null
      saga.#units.set(id, {
        ...{ id, kind: 'step', requestedAt, undoable: policy.undo, completedAt: completed },
        ...{ ended: completed !== null, undo },
      })
    }
    for (const { id, requestedAt, completedAt, status, succeeded, undo } of state.children.values()) {
      saga.#units.set(id, {
        ...{ id, kind: 'child', requestedAt, undoable: undo, undo: status === 'compensating' ? 'asked' : 'none' },
        ...{ ended: status !== 'running', completedAt: status !== 'running' && succeeded ? completedAt : null },
      })
    }
    return saga
  }

  record(event: TaskEvent): void {
    this.#count++
    switch (event.type) {
      case 'stepRequested':
        return this.#add(event.id, 'step', resolvePolicy(event.policy).undo)
      case 'childStarted':
        return this.#add(event.id, 'child', event.undo)
      case 'undoRegistered':
        this.#add(event.id, 'step', true)
        return this.#ends(event.id, event.type, true)
      case 'stepCompleted':
        return this.#ends(event.id, event.type, true)
      case 'childStopped':
        return this.#ends(event.id, event.type, event.result === 'success' || event.result === 'warning')
      case 'stepFailed':
      case 'stepSkipped':
      case 'stepCancelled':
        return this.#ends(event.id, event.type, false)
      case 'closing':
        this.#undoes = event.compensate
        return
      case 'threw':
        this.#undoes = event.rescue === 'compensate'
        return
      case 'returned':
        this.#undoes = false
        return
      case 'undoRequested':
        return this.#asked(event.id)
      case 'undone':
        return this.#undone(event.id)
      case 'stopped':
        return this.#stopped()
    }
  }

  #add(id: number, kind: Unit['kind'], undoable: boolean): void {
    if (this.#undoes !== null) throw new Error(`${kind} ${id} starts though the task ends`)
    const unit = {
      id,
      kind,
      undoable,
      requestedAt: this.#count,
      completedAt: null,
      ended: false,
      undo: 'none',
    } as const
    this.#units.set(id, unit)
  }

  #ends(id: number, by: string, completed: boolean): void {
    const unit = this.#units.get(id)
    if (!unit) throw new Error(`${by} of ${id}, which was never asked for`)
    if (unit.ended) throw new Error(`${by}: a second outcome of ${unit.kind} ${id}`)
    unit.ended = true
    if (completed) unit.completedAt = this.#count
  }

  #asked(id: number): void {
    const unit = this.#units.get(id)
    if (!unit || unit.completedAt === null || !unit.undoable)
      throw new Error(`${id} is undone, but there is nothing to undo`)
    if (unit.undo !== 'none') throw new Error(`${id} is undone twice`)
    if (!this.#undoes) throw new Error(`${id} is undone, but nobody wants that`)
    const completedAt = unit.completedAt
    const first = this.#left().find((other) => other.requestedAt > completedAt)
    if (first) throw new Error(`${id} is undone before ${first.id}, which may depend on it`)
    unit.undo = 'asked'
  }

  #undone(id: number): void {
    const unit = this.#units.get(id)
    if (unit?.undo !== 'asked') throw new Error(`${id} was undone, but never asked to`)
    unit.undo = 'done'
  }

  #left(): Unit[] {
    return [...this.#units.values()].filter((it) => it.undoable && it.completedAt !== null && it.undo !== 'done')
  }

  #stopped(): void {
    const left = this.#left()
    if (this.#undoes && left.length > 0) throw new Error(`stopped with ${left.map(({ id }) => id)} not undone`)
    const open = [...this.#units.values()].filter(({ kind, ended }) => kind === 'step' && !ended)
    if (open.length > 0) throw new Error(`stopped with steps ${open.map(({ id }) => id)} open`)
    this.#undoes = null
  }
}
