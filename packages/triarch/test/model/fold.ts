import { apply } from '../../src/kernel/apply.ts'
import type { TaskEvent } from '../../src/kernel/event.ts'
import { type Delivery, newState, type TaskState } from '../../src/kernel/state.ts'
import { Table } from '../../src/kernel/table.ts'

/** A task as these events leave it, each recorded 10 ms after the one before. */
export class Fold {
  readonly state: TaskState = newState('t')
  readonly #deliveries: Delivery[] = []
  /** The instant of the last event. */
  now = 1_000

  constructor(...events: TaskEvent[]) {
    const submitted = { type: 'submitted', workflow: 'w', version: '1', input: null } as const
    for (const event of events[0]?.type === 'submitted' ? events : [submitted, ...events]) this.changes(event)
  }

  /**
   * All that the event changes, by its place in the state, and what the code is told. `gone`: there is no such thing any
   * more. What is new is told without what is zero or false in it. A step stays the same one when it is kept elsewhere (`kept`).
   */
  changes(event: TaskEvent): Record<string, unknown> {
    const before = places(this.state)
    const heard = this.#deliveries.length
    this.now += 10
    apply(this.state, event, this.now, this.#deliveries)
    const after = places(this.state)
    const changed: Record<string, unknown> = {}
    for (const [thing, old] of before) {
      const now = after.get(thing)
      if (!now) changed[thing] = 'gone'
      else
        for (const key of new Set([...old.keys(), ...now.keys()]))
          note(changed, `${thing}${key}`, old.get(key), now.get(key))
    }
    for (const [thing, now] of after)
      if (!before.has(thing))
        for (const [key, value] of now)
          if (value !== 0 && value !== false) note(changed, `${thing}${key}`, undefined, value)
    const told = this.#deliveries.slice(heard)
    return told.length === 0
      ? changed
      : { ...changed, told: told.map((it) => `${it.id}: ${it.ok ? JSON.stringify(it.value) : it.reason}`).join() }
  }
}

function note(changed: Record<string, unknown>, place: string, old: unknown, now: unknown): void {
  if (place === 'ordinal' || place.includes('.policy.') || Object.is(old, now)) return
  changed[place] = now ?? 'none'
}

type Values = Map<string, unknown>

/** Every value of the state by its place, together with those of the same thing: a step, a timer, the task itself. */
function places(state: TaskState): Map<string, Values> {
  const found = new Map<string, Values>()
  const { steps, compensable: done, ...task } = state
  for (const [kept, some] of Object.entries({ steps, done }))
    for (const [id, step] of some) found.set(`step ${id}`, flat(step, '', new Map([['.kept', kept]])))
  const own: Values = new Map()
  for (const [name, value] of Object.entries(task)) {
    if (value instanceof Table) for (const [id, one] of value) found.set(`${name} ${id}`, flat(one, ''))
    else flat(value, name, own)
  }
  return found.set('', own)
}

function flat(value: unknown, place: string, found: Values = new Map()): Values {
  if (value instanceof Set) for (const part of value) found.set(`${place}.${String(part)}`, true)
  else if (value instanceof Map || value instanceof Table)
    for (const [key, part] of value) flat(part, `${place}.${String(key)}`, found)
  else if (typeof value === 'object' && value !== null)
    for (const [key, part] of Object.entries(value)) flat(part, `${place}.${key}`, found)
  else if (value !== undefined && value !== null) found.set(place, value)
  return found
}
