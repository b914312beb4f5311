import { describe, expect, it } from 'vitest'
import { isTriarchError, TriarchError } from '../../src/error/error.ts'
import {
  PermanentError,
  retryAfterOf,
  stepErrorKind,
  TransientError,
  UnknownOutcomeError,
} from '../../src/error/step-error.ts'
import {
  ChildFailedError,
  SignalTimeoutError,
  StepFailedError,
  TaskCancelledError,
  TaskCompensatedError,
  TaskExpiredError,
  TaskFailedError,
  taskError,
} from '../../src/error/task-error.ts'

const hostile = new Proxy(
  {},
  {
    get() {
      throw new Error('boom')
    },
  },
)

describe('a TriarchError', () => {
  it('has a code, and details and a cause only when given', () => {
    const bare = new TriarchError('INVARIANT', 'm')
    expect(Object.keys(bare)).toEqual(['code'])
    expect('cause' in bare).toBe(false)
    const full = new TriarchError('INVARIANT', 'm', { cause: undefined, details: 1 })
    expect('cause' in full).toBe(true)
    expect(full.details).toBe(1)
    expect(String(full)).toBe('TriarchError: m')
  })

  it('is recognised by its brand, also from another copy of the package', async () => {
    const url = new URL('../../src/error/error.ts?copy', import.meta.url).href
    const copy = (await import(/* @vite-ignore */ url)) as { TriarchError: typeof TriarchError }
    const foreign = new copy.TriarchError('TASK_FAILED', 'm')
    expect(foreign).not.toBeInstanceOf(TriarchError)
    expect(isTriarchError(foreign)).toBe(true)
    expect(isTriarchError(foreign, 'TASK_FAILED')).toBe(true)
    expect(isTriarchError(foreign, 'INVARIANT')).toBe(false)
  })

  it('is not confused with anything else', () => {
    const others = [null, undefined, 'x', {}, hostile, new Error('x'), { code: 'INVARIANT' }]
    expect(others.some((other) => isTriarchError(other))).toBe(false)
  })
})

describe('the errors of actions', () => {
  it('are told apart by brand', () => {
    expect(stepErrorKind(new TransientError('x'))).toBe('transient')
    expect(stepErrorKind(new PermanentError('x'))).toBe('permanent')
    expect(stepErrorKind(new UnknownOutcomeError('x'))).toBe('unknown-outcome')
    class Refused extends PermanentError {}
    expect(stepErrorKind(new Refused('x'))).toBe('permanent')
    expect([null, 'x', new Error('x'), hostile].map(stepErrorKind)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  it('carry a cause and the wait they ask for', () => {
    const cause = new Error('inner')
    const error = new TransientError('x', { cause, retryAfter: 1500 })
    expect([error.name, error.cause, error.retryAfter]).toEqual(['TransientError', cause, 1500])
    expect(retryAfterOf(error)).toBe(1500)
    expect(retryAfterOf(new UnknownOutcomeError('x', { retryAfter: 0 }))).toBe(0)
    expect(retryAfterOf(new TransientError('x', { retryAfter: Number.NaN }))).toBeUndefined()
    expect(retryAfterOf(new TransientError('x', { retryAfter: -1 }))).toBeUndefined()
    expect(retryAfterOf(new PermanentError('x'))).toBeUndefined()
    expect(retryAfterOf(hostile)).toBeUndefined()
  })
})

describe('the errors of tasks', () => {
  const record = { name: 'Error', message: 'card declined', code: 'DECLINED' }

  it('say how the task ended, and why', () => {
    expect(taskError('t', 'error', record)).toBeInstanceOf(TaskFailedError)
    expect(taskError('t', 'cancelled')).toBeInstanceOf(TaskCancelledError)
    expect(taskError('t', 'compensated', record)).toBeInstanceOf(TaskCompensatedError)
    expect(taskError('t', 'error', { ...record, code: 'TASK_EXPIRED' })).toBeInstanceOf(TaskExpiredError)
    const failed = taskError('t', 'error', record)
    expect(failed).toMatchObject({ name: 'TaskFailedError', code: 'TASK_FAILED', taskId: 't', outcome: 'error' })
    expect(failed.message).toBe('Task "t" failed: card declined')
    expect(failed.cause).toMatchObject(record)
    expect('cause' in taskError('t', 'cancelled')).toBe(false)
  })

  it('inside a workflow name the step, the signal, the child', () => {
    const step = new StepFailedError({
      id: 4,
      action: 'payments.charge',
      attempts: 1,
      rescue: 'compensate',
      error: record,
    })
    expect(step.message).toBe('Step 4 (payments.charge) failed after 1 attempt: card declined')
    expect(step).toMatchObject({ code: 'STEP_FAILED', stepId: 4, attempts: 1, rescue: 'compensate', cause: record })
    expect(new SignalTimeoutError('approved')).toMatchObject({ code: 'SIGNAL_TIMEOUT', signal: 'approved' })
    const child = new ChildFailedError('c', 'cancelled')
    expect(child).toMatchObject({ code: 'CHILD_FAILED', childId: 'c', outcome: 'cancelled' })
    expect([step, child].every((error) => isTriarchError(error))).toBe(true)
  })
})
