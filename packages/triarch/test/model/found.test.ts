import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/kernel/message.ts'
import type { RecordedPolicy } from '../../src/kernel/step/policy.ts'
import type { Program, Want } from './code.ts'
import { Machine } from './machine.ts'

const retry = { attempts: 1, initial: 10, factor: 2, max: 30, jitter: false }
const once: RecordedPolicy = { retry, undoRetry: retry }
const step = (policy: RecordedPolicy = {}): Want => ({ type: 'step', policy: { ...once, ...policy } })
const call: Want = { type: 'child', mode: 'call', onCancel: 'wait', undo: false }
const failed = { kind: 'failed', error: { name: 'Error', message: 'no' }, retryable: false } as const
const done = { kind: 'done', output: null } as const

function begin(wants: Want[], change: Partial<Program> = {}, startIn: number | null = null): Machine {
  const program = { wants, width: 1, catches: false, throws: false, runs: 0, rescue: 'compensate', ...change } as const
  return new Machine({ program, startIn, startBefore: null, completeBy: null }, () => 0)
}

function answers(machine: Machine, outcome: typeof done | typeof failed, index = 0): Message {
  const attempt = machine.outstanding[index]
  if (!attempt) throw new Error('nothing runs')
  return machine.reply(attempt, outcome)
}

/** What the random interleavings of `kernel.test.ts` found broken once. */
describe('found by the model', () => {
  it('a stop forced in the middle of a compensation leaves the same state in memory as in the history', () => {
    const machine = begin([step({ undo: true }), step()])
    machine.turn([answers(machine, done)])
    machine.turn([{ type: 'cancel', force: false, compensate: true }, answers(machine, done)])
    expect(machine.state.status).toBe('compensating')
    machine.turn([{ type: 'cancel', force: true, compensate: null }])
    expect(machine.state).toMatchObject({ status: 'stopped', result: 'cancelled' })
    expect([...machine.state.steps]).toEqual([])
  })

  it('a retry from a step of an earlier run changes nothing', () => {
    const machine = begin([step({ rescue: 'fail' })], { rescue: 'fail' })
    machine.turn([answers(machine, failed)])
    machine.turn([{ type: 'retry', input: 0 }])
    machine.turn([answers(machine, failed)])
    expect(machine.state).toMatchObject({ status: 'stopped', result: 'error', firstId: 2 })
    const before = machine.history.length
    machine.turn([{ type: 'retry', step: 1 }])
    expect(machine.history).toHaveLength(before)
    machine.turn([{ type: 'retry', step: 2 }])
    expect(machine.state.status).toBe('running')
  })

  it.each(['while it ends', 'after its end'])('a child that fails %s is not what a retry goes back to', (when) => {
    const other: Want = when === 'after its end' ? { ...call, onCancel: 'detach' } : call
    const machine = begin([call, other], { width: 2 })
    machine.turn([{ type: 'child', step: 1, result: 'error' }])
    machine.turn([{ type: 'child', step: 2, result: 'cancelled' }])
    expect(machine.state.status).toBe('stopped')
    machine.turn([{ type: 'retry' }])
    const rewound = machine.history.map(({ event }) => event).filter(({ type }) => type === 'reset')
    expect(rewound).toEqual([{ type: 'reset', step: 1, children: [1, 2] }])
  })

  it('a step that is requested anew after a rewind goes on counting its attempts', () => {
    const machine = begin([step(), step({ rescue: 'fail' })])
    machine.turn([answers(machine, done)])
    const [late] = [answers(machine, failed)]
    machine.turn([late])
    machine.turn([{ type: 'retry', step: 1 }])
    machine.turn([answers(machine, done)])
    expect(machine.outstanding).toMatchObject([{ step: 2, attempt: 2 }])
    machine.turn([late])
    expect(machine.state.status).toBe('running')
  })

  it('an event that is waited for arrives however full the mailbox is of others', () => {
    const machine = begin([{ type: 'wait', name: 'approved', ms: null }])
    machine.turn(Array.from({ length: 5 }, () => ({ type: 'event', name: 'noise', payload: null }) as const))
    expect(machine.state.mailbox).toHaveLength(5)
    machine.turn([{ type: 'event', name: 'approved', payload: null }])
    expect(machine.state).toMatchObject({ status: 'stopped', result: 'success' })
  })

  it('code that stopped at its own error starts anew, though a step was held after that', () => {
    const machine = begin([call, step({ semantics: 'at-most-once' })], { width: 2, rescue: 'pause' })
    machine.turn([{ type: 'child', step: 1, result: 'error' }])
    machine.takeover(() => false, [], true)
    expect(machine.state.pause).toMatchObject({ reason: 'unknown-outcome', broken: true })
    machine.turn([{ type: 'resume' }])
    expect(machine.state.pause).toMatchObject({ reason: 'error' })
  })

  it('what the code asks for in the turn that pauses its task is kept until it goes on', () => {
    const machine = begin([step({ rescue: 'skip', expiresIn: 5 }), step({ semantics: 'at-most-once' }), step()], {
      width: 2,
    })
    machine.now += 10
    machine.takeover(() => false, [], true)
    expect(machine.state.pause).toMatchObject({ reason: 'unknown-outcome' })
    machine.turn([{ type: 'resume' }])
    expect(machine.outstanding.map(({ step }) => step)).toEqual([2, 3])
  })

  it('a task that was started over before its code had begun begins in its time', () => {
    const waiting = begin([{ type: 'timer', ms: 10 }], {}, 10)
    waiting.turn([{ type: 'cancel', force: false, compensate: null }])
    waiting.turn([{ type: 'retry', input: 0 }])
    waiting.turn([{ type: 'cancel', force: false, compensate: null }])
    waiting.turn([{ type: 'retry' }])
    expect(waiting.state).toMatchObject({ status: 'pending', begun: false })
    waiting.now += 10
    waiting.turn([])
    expect(waiting.state).toMatchObject({ status: 'running', begun: true, nextId: 2 })
  })

  it('a task can be retried twice, wherever it was paused and cancelled before', () => {
    const machine = begin([step({ rescue: 'pause' }), { type: 'timer', ms: 10 }])
    machine.turn([answers(machine, failed)])
    machine.turn([{ type: 'cancel', force: false, compensate: null }])
    machine.turn([{ type: 'retry' }])
    machine.turn([answers(machine, done)])
    machine.turn([{ type: 'cancel', force: false, compensate: null }])
    machine.turn([{ type: 'retry' }])
    expect(machine.state).toMatchObject({ status: 'running', generation: 2 })
    expect([...machine.state.timers.keys()]).toEqual([2])
  })

  it('an input that was edited for a retry stays edited in the next', () => {
    const machine = begin([step({ rescue: 'fail' })], { rescue: 'fail' })
    machine.turn([answers(machine, failed)])
    machine.turn([{ type: 'retry', step: 1, input: 'edited' }])
    machine.turn([answers(machine, failed)])
    machine.turn([{ type: 'retry', step: 1 }])
    expect(machine.state.steps.get(1)?.input).toBe('edited')
  })

  it('a task cancelled while it continued as new continues as new once it is retried', () => {
    const machine = begin([step(), { ...call, mode: 'start' }], { runs: 1 })
    machine.turn([answers(machine, done), { type: 'cancel', force: false, compensate: null }])
    machine.turn([{ type: 'child', step: 2, result: 'cancelled' }])
    expect(machine.state.status).toBe('stopped')
    machine.turn([{ type: 'retry' }])
    expect(machine.state).toMatchObject({ status: 'running', input: 0, firstId: 3 })
  })

  it('a retry that goes back into a pause knows that the pause was ended', () => {
    const machine = begin([call, step({ rescue: 'pause' })], { width: 2 })
    machine.turn([answers(machine, failed), { type: 'child', step: 1, result: 'error' }])
    machine.takeover(() => true, [{ type: 'resume' }], false)
    machine.takeover(() => true, [], true)
    machine.turn([answers(machine, done)])
    expect(machine.state).toMatchObject({ status: 'stopped', result: 'error' })
    machine.turn([{ type: 'retry' }])
    expect(machine.state).toMatchObject({ status: 'running', pause: null })
    machine.turn([{ type: 'child', step: 1, result: 'success' }])
    expect(machine.state).toMatchObject({ status: 'stopped', result: 'success' })
  })

  it('a task that starts over leaves the pauses of its earlier run behind', () => {
    const machine = begin([step({ undo: true }), step()])
    machine.turn([answers(machine, done)])
    machine.turn([{ type: 'cancel', force: false, compensate: true }, answers(machine, done)])
    machine.turn([answers(machine, failed)])
    expect(machine.state.pause).toMatchObject({ reason: 'undo', from: 'compensating' })
    machine.turn([{ type: 'cancel', force: true, compensate: null }])
    machine.turn([{ type: 'retry' }])
    machine.turn([{ type: 'cancel', force: false, compensate: false }, { type: 'pause' }])
    machine.turn([{ type: 'resume' }, answers(machine, failed)])
    machine.turn([{ type: 'retry' }])
    expect(machine.state).toMatchObject({ status: 'running', pause: null })
  })

  it('a task that starts over uses no id again, not even of a step that a retry had made void', () => {
    const machine = begin([step(), step({ rescue: 'fail' }), step()], { rescue: 'fail' })
    machine.turn([answers(machine, done)])
    machine.turn([answers(machine, done)])
    expect(machine.outstanding).toMatchObject([{ step: 3 }])
    machine.turn([{ type: 'cancel', force: true, compensate: null }])
    machine.turn([{ type: 'retry', step: 2 }])
    machine.turn([answers(machine, failed)])
    machine.turn([{ type: 'retry', input: 0 }])
    expect(machine.outstanding).toMatchObject([{ step: 4, attempt: 1 }])
  })
})
