import { describe, expect, it, vi } from 'vitest'
import { workflow } from '../../src/index.ts'
import type { TaskEvent } from '../../src/kernel/event.ts'
import type { TaskState } from '../../src/kernel/state.ts'
import { emit, type Turn } from '../../src/kernel/turn.ts'
import type { Driver } from '../../src/scheduler/driver.ts'
import type { driverOf } from '../../src/scheduler/drivers.ts'
import { stage } from '../engine/harness.ts'

/** What its driver does to a task without being asked, once. */
const wrong = new Map<string, (turn: Turn) => unknown>()

// A fault of the engine, made on purpose: a driver that breaks what must hold.
vi.mock(import('../../src/scheduler/drivers.ts'), async (actual) => {
  const usual = await actual()
  const withFault: typeof driverOf = (code, rebuilt, ...given) => {
    const driver = usual.driverOf(code, rebuilt, ...given)
    return new Proxy(driver, {
      get(target, name) {
        const value = Reflect.get(target, name, target) as unknown
        if (name === 'advance')
          return (turn: Turn) => {
            target.advance(turn)
            wrong.get(turn.state.id)?.(turn)
          }
        return typeof value === 'function' ? value.bind(target) : value
      },
    }) as Driver
  }
  return { ...usual, driverOf: withFault }
})

const waits = workflow('waits', { run: (_: null, task) => task.waitForSignal<number>('go') })
const stopped: TaskEvent = { type: 'stopped', result: 'success', output: null }

const set = (state: TaskState, to: Partial<TaskState>) => Object.assign(state, to)

const faults: [what: string, says: string, harm: (turn: Turn) => unknown][] = [
  ['has stopped without a result', 'has a result', ({ state }) => set(state, { status: 'stopped' })],
  ['is paused for no reason', 'a task is paused for a reason', ({ state }) => set(state, { status: 'paused' })],
  ['is undone for no reason', 'a task is undone for a reason', ({ state }) => set(state, { status: 'compensating' })],
  ['gives ids anew', 'no decision has the id of another', ({ state }) => set(state, { nextId: state.endId + 1 })],
  [
    'ends while it waits',
    'waits for nothing',
    (turn) => {
      emit(turn, stopped)
      turn.state.waits.set(9, { name: 'x', until: null })
    },
  ],
  [
    'ends with a lock',
    'has no lock',
    (turn) => {
      emit(turn, stopped)
      turn.state.locks.set(9, { name: 'x', ifHeld: 'queue', until: null, standing: 'held' })
    },
  ],
  ['makes a move that there is not', 'illegal task move', (turn) => emit(turn, { type: 'planning' })],
]

describe.each(faults)('a task of which the engine believes that it %s', (_, says, harm) => {
  it('is quarantined before anything of that is written, and others go on', async () => {
    wrong.clear()
    const s = await stage({ workflows: [waits] })
    const [bad, good] = [await s.submit(waits, null, { id: 'bad' }), await s.submit(waits, null, { id: 'good' })]
    await s.settle()
    wrong.set('bad', harm)
    await bad.signal('other', 0)
    await s.settle()
    await good.signal('go', 1)
    expect(await good.result()).toBe(1)

    const { status, pause, quarantined } = await bad.status()
    expect([status, pause?.cause, quarantined]).toEqual(['paused', 'quarantine', true])
    expect(pause?.error).toMatchObject({ code: 'TASK_QUARANTINED', details: { cause: 'invariant' } })
    expect(pause?.error?.message).toContain(says)
    const events = (await bad.history()).flatMap((record) => record.events.map(({ type }) => type))
    expect(events).toEqual(['submitted', 'started', 'waitStarted', 'paused'])
    expect(s.alerts.map(({ code, task }) => [code, task])).toEqual([['TASK_QUARANTINED', 'bad']])
    expect(s.errors.splice(0).map((error) => (error as Error).name)).toEqual(['BrokenInvariant'])

    // Mended, the engine goes on with it.
    wrong.clear()
    await bad.resume()
    await bad.signal('go', 2)
    expect(await bad.result()).toBe(2)
    await s[Symbol.asyncDispose]()
  })
})
