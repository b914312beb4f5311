import { expect } from 'vitest'
import { apply } from '../../src/kernel/apply.ts'
import type { Child } from '../../src/kernel/child/child.ts'
import type { TaskEvent } from '../../src/kernel/event.ts'
import { type DatedEvent, rebuild } from '../../src/kernel/rebuild.ts'
import type { TaskState } from '../../src/kernel/state.ts'
import { mayMove, moves } from '../../src/kernel/status.ts'
import type { Step } from '../../src/kernel/step/step.ts'
import { Table } from '../../src/kernel/table.ts'
import { nextWake } from '../../src/kernel/tick.ts'
import { isOutstanding, type Turn } from '../../src/kernel/turn.ts'
import type { Attempt } from './machine.ts'
import { Saga } from './saga.ts'
import { tableOf } from './table.ts'

export interface Surroundings {
  now: number
  /** Those that somebody runs. */
  attempts: readonly Attempt[]
  children: ReadonlyMap<number, string>
  /** The node has the workflow's code. */
  coded: boolean
}

/** What must hold after every turn, whatever came (DESIGN §4). It keeps books of its own. */
export class Judge {
  /** Folded from the events alone. */
  #fold: TaskState
  #saga = new Saga()
  #atMostOnce = new Set<number>()
  readonly #sent = new Set<string>()

  constructor(state: TaskState) {
    this.#fold = copyOf(state)
  }

  /** The events of a turn, and the attempts that go out with them. */
  record(history: readonly DatedEvent[], { events, at, state, reload }: Turn, going: readonly Step[]): void {
    for (const event of events) {
      const before = { status: this.#fold.status, steps: statuses(this.#fold) }
      if (before.status === 'stopped') this.#mayFollowStop(event)
      this.#neverEarly(event, at)
      // What was is void now; the rebuilt state is where the books begin anew.
      if (event.type === 'reset' || event.type === 'continuedAsNew') break
      this.#saga.record(event)
      apply(this.#fold, event, at, [])
      this.#legal(before.status, before.steps, event)
    }
    const rebuilt = rebuild('t', history).state
    if (reload) {
      this.#fold = copyOf(rebuilt)
      this.#saga = Saga.of(rebuilt)
    } else {
      expect(durable(state), 'the state in memory is the fold of the history').toEqual(durable(rebuilt))
      expect(durable(this.#fold), 'the fold of the new events on the old state is the fold of all').toEqual(
        durable(rebuilt),
      )
    }
    this.#sends(events, state, going)
  }

  /** Nothing is left to do now: the task is at its end, or it waits for something that can be named. */
  rest(state: TaskState, { now, attempts, children, coded }: Surroundings): void {
    const awaited = [...state.steps.values()].filter((step) => isOutstanding(step) && step.dispatched)
    const current = awaited.map(({ id, operation, attempt }) => `${id}:${operation}:${attempt}`).sort()
    expect(
      attempts.map(({ step, operation, attempt }) => `${step}:${operation}:${attempt}`).sort(),
      'who runs',
    ).toEqual(state.status === 'stopped' ? [] : current)
    if (state.status === 'stopped') return
    for (const { id, status } of state.children.values()) {
      if (status !== 'stopped' && children.get(id) === 'stopped') throw new Error(`child ${id} has nothing more to say`)
    }
    if (state.status === 'paused') {
      expect(state.pause, 'a paused task says why').not.toBeNull()
      return
    }
    const wake = nextWake(state)
    if (wake !== null && wake <= now && coded) throw new Error(`at rest at ${now}, yet due at ${wake}`)
    const waits =
      !coded ||
      wake !== null ||
      awaited.length > 0 ||
      [...state.children.values()].some((child) => isAwaited(state, child)) ||
      (!state.closing && state.waits.size > 0)
    if (!waits) throw new Error(`stuck: ${JSON.stringify(durable(state))}`)
  }

  #mayFollowStop(event: TaskEvent): void {
    // Children that nobody waited for still end.
    const child = (event.type === 'childStopped' || event.type === 'undone') && this.#fold.children.has(event.id)
    if (child || event.type === 'reset' || event.type === 'continuedAsNew') return
    if (event.type === 'closing' && event.cause === 'operator') return
    if (event.type === 'messageIgnored') return
    throw new Error(`a stopped task went on with ${event.type}`)
  }

  #neverEarly(event: TaskEvent, at: number): void {
    const until =
      event.type === 'timerFired'
        ? this.#fold.timers.get(event.id)
        : event.type === 'waitTimedOut'
          ? this.#fold.waits.get(event.id)?.until
          : undefined
    if (until !== undefined && until !== null && at < until) throw new Error(`${event.type} at ${at}, before ${until}`)
  }

  #legal(status: TaskState['status'], steps: Map<number, Step['status']>, event: TaskEvent): void {
    if (!mayMove(moves.task, status, this.#fold.status))
      throw new Error(`illegal task move ${status} → ${this.#fold.status} by ${event.type}`)
    for (const [id, to] of statuses(this.#fold)) {
      const from = steps.get(id)
      if (from && !mayMove(moves.step, from, to)) throw new Error(`illegal step move ${from} → ${to} by ${event.type}`)
    }
  }

  #sends(events: readonly TaskEvent[], state: TaskState, going: readonly Step[]): void {
    // An operator's word allows another attempt of a step that must not be tried twice.
    for (const event of events) {
      if (event.type === 'stepRetried') this.#atMostOnce.delete(event.id)
      if (event.type === 'reset' || event.type === 'continuedAsNew') this.#atMostOnce.clear()
    }
    for (const { id, operation, attempt, policy } of going) {
      const name = `${id}:${operation}:${attempt}`
      if (this.#sent.has(name)) throw new Error(`attempt ${name} goes out twice`)
      this.#sent.add(name)
      if (state.status === 'stopped') throw new Error(`${name} starts after the stop`)
      if (operation !== 'run') continue
      if (state.closing) throw new Error(`${name} starts though the task unwinds`)
      if (policy.semantics === 'at-most-once' && this.#atMostOnce.has(id))
        throw new Error(`${name}: tried again, at most once was asked for`)
      this.#atMostOnce.add(id)
    }
  }

  /** The attempt was given back without having begun: the same may go out again. */
  withdrawn({ step, operation, attempt }: Pick<Attempt, 'step' | 'operation' | 'attempt'>): void {
    this.#sent.delete(`${step}:${operation}:${attempt}`)
    this.#atMostOnce.delete(step)
  }
}

function isAwaited({ closing }: TaskState, { status, mode, onCancel }: Child): boolean {
  if (status !== 'running') return status === 'compensating'
  if (!closing) return mode === 'call'
  const normal = closing.cause === 'returned' || closing.cause === 'continue'
  return onCancel !== 'detach' && !(normal && mode === 'start')
}

function statuses(state: TaskState): Map<number, Step['status']> {
  return new Map([...state.steps.values()].map(({ id, status }) => [id, status]))
}

/** A deep copy. */
function copyOf(state: TaskState): TaskState {
  const copy: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(state))
    copy[name] = value instanceof Table ? tableOf(structuredClone([...value])) : structuredClone(value)
  return copy as unknown as TaskState
}

/** The state without the two marks that only this process needs. */
export function durable(state: TaskState): unknown {
  const lasting = (steps: Table<number, Step>) =>
    [...steps.values()].map(({ dispatched: _d, aborted: _a, ...step }) => step)
  return {
    ...state,
    steps: lasting(state.steps),
    compensable: lasting(state.compensable),
    timers: [...state.timers],
    waits: [...state.waits],
    children: [...state.children.values()],
    patches: [...state.patches],
  }
}
