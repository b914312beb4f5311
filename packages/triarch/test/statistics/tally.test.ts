import { describe, expect, it } from 'vitest'
import type { TaskEvent } from '../../src/kernel/event.ts'
import type { Plan } from '../../src/kernel/plan/plan.ts'
import type { RecordedPolicy } from '../../src/kernel/step/policy.ts'
import { bucketOf, quantiles } from '../../src/statistics/histogram.ts'
import { type Following, followingOf, followingText, tally, unknownTask } from '../../src/statistics/tally.ts'

const policy = {} as RecordedPolicy
const requested = (id: number, action: string | null): TaskEvent => ({
  ...{ type: 'stepRequested', id, action, name: action ?? 'local', input: null, policy },
})
const completed = (id: number): TaskEvent =>
  ({ type: 'stepCompleted', id, output: null, attempt: 1, startedAt: 0, endedAt: 8 }) as TaskEvent
const stopped: TaskEvent = { type: 'stopped', result: 'success', output: null }
const planned = (steps: Plan['steps']): TaskEvent => ({
  ...{ type: 'planned', plan: { first: 3, steps, policies: [], groups: [], output: null } },
})

/** What is counted of these events after a submission, as `kind outcome agent action`. */
function counted(events: readonly TaskEvent[], task: Following = unknownTask()): string[] {
  return tally(task, 10, events).map(({ kind, outcome, agent, action }) => [kind, outcome, agent, action].join(' '))
}

describe('what events count', () => {
  it('is told of the action of the step, be it requested, planned or a fallback', () => {
    const plan = planned([{ action: 'shop.reserve' }, { action: 'shop.pay' }])
    expect(counted([plan, completed(3), completed(4)])).toEqual([
      'step success shop shop.reserve',
      'step success shop shop.pay',
    ])
    expect(counted([requested(1, 'shop.pay'), completed(1)])).toEqual(['step success shop shop.pay'])
    const fallback: TaskEvent = { type: 'fallbackRequested', id: 1, action: 'bank.pay', policy, at: 0 }
    expect(counted([requested(1, 'shop.pay'), fallback, completed(1)])).toEqual(['step success bank bank.pay'])
  })

  it.each<[what: string, step: Plan['steps'][number]]>([
    ['a join', { action: null }],
    ['a step that takes a lock', { action: 'shop.pay', lock: 'till' }],
    ['a step that gives a lock back', { action: 'shop.pay', unlock: 1 }],
    ['a join that takes a lock', { action: null, lock: 'till' }],
  ])('names no action for %s of a plan', (_, step) => {
    const task = unknownTask()
    expect(counted([planned([step]), completed(3)], task)).toEqual(['step success  (local)'])
    expect(task.actions).toEqual(new Map())
  })

  it('names no action for a step of the workflow itself, nor an agent for an action without one', () => {
    expect(counted([requested(1, null), completed(1)])).toEqual(['step success  (local)'])
    expect(counted([requested(1, '.pay'), completed(1)])).toEqual(['step success  .pay'])
  })

  it('counts each end of a step as itself and once', () => {
    const ends: TaskEvent[] = [
      { type: 'stepSkipped', id: 1, output: null, by: 'operator' },
      { type: 'stepCancelled', id: 1 },
      { type: 'stepFailed', id: 1, error: { name: 'Error', message: '', code: 'NO_STOCK' } },
      { type: 'plannedStepFailed', id: 1, error: { name: 'Error', message: '' } },
    ]
    const all = tally(unknownTask(), 10, [requested(1, 'shop.pay'), ...ends])
    expect(all.map(({ outcome, error, count }) => [outcome, error, count])).toEqual([
      ['skipped', '', 1],
      ['cancelled', '', 1],
      ['error', 'NO_STOCK', 1],
      ['error', 'Error', 1],
    ])
    expect(all.every(({ agent, action }) => agent === 'shop' && action === 'shop.pay')).toBe(true)
  })

  it('forgets the steps of a run when the task continues as new', () => {
    const task = unknownTask()
    const again: TaskEvent = { type: 'continuedAsNew', input: null, nextId: 2, pendingSignals: [] }
    expect(counted([requested(1, 'shop.pay'), again, completed(1)], task)).toEqual(['step success  (local)'])
    expect(task.actions).toEqual(new Map())
  })

  it('takes a task that was reset for one that goes on, until it stops again', () => {
    const task = unknownTask()
    tally(task, 10, [stopped])
    expect(task.stopped).toBe(true)
    expect(counted([{ type: 'reset', step: 1 }], task)).toEqual([])
    expect(task.stopped).toBe(false)
    expect(tally(task, 20, [stopped]).map(({ count, ms }) => [count, ms])).toEqual([
      [1, 20],
      [-1, -10],
    ])
    expect(task.stopped).toBe(true)
  })
})

describe('what is kept of a task between its records', () => {
  it('is the same when it is read again, also where several steps are of one action', () => {
    const task = unknownTask()
    const submitted = {
      type: 'submitted',
      workflow: 'order',
      input: null,
      tags: { tenant: 'acme' },
    } as unknown as TaskEvent
    const steps = [requested(1, 'shop.pay'), requested(2, 'shop.pay'), requested(3, 'shop.ship')]
    tally(task, 5, [submitted, ...steps], 'tenant')
    expect(followingOf(followingText(task))).toEqual(task)
    tally(task, 9, [stopped])
    const { last } = followingOf(followingText(task))
    expect(last).toEqual(task.last)
    expect(followingOf(followingText(task))).toEqual(task)
  })
})

describe('the buckets of durations', () => {
  it('have one for all up to a millisecond, and the next for what is longer', () => {
    expect([-1, 0, 0.5, 1].map(bucketOf)).toEqual([0, 0, 0, 0])
    expect(bucketOf(1.01)).toBe(1)
    expect(quantiles(new Map([[0, 1]]), [0.5])).toEqual([1])
  })
})
