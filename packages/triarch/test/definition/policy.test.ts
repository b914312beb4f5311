import { describe, expect, it } from 'vitest'
import { agent } from '../../src/definition/agent.ts'
import { type PolicyOptions, type RescueOption, toRecordedPolicy } from '../../src/definition/policy.ts'
import { type RetryOptions, toRetryPlan } from '../../src/definition/retry.ts'
import { lossWait, MOST_LOSSES } from '../../src/kernel/step/loss.ts'
import { backoff, DEFAULTS, defaultPolicy, type RetryPlan, resolvePolicy } from '../../src/kernel/step/policy.ts'
import { raises } from '../value/raises.ts'

const defaults = DEFAULTS
const none = { undo: false, verify: false }
const base = defaultPolicy.retry
const shop = agent('shop')
const plain = shop.action('plain', { run: () => 1 })
const tuned = shop.action('tuned', {
  run: () => 1,
  undo: () => 1,
  attemptWithin: '5s',
  retry: { attempts: 3, backoff: { initial: '1s' } },
  rescue: 'pause',
  priority: 7,
})
const tunedCaps = { undo: true, verify: false }

describe('a recorded policy', () => {
  it('holds only what differs from the defaults', () => {
    expect(toRecordedPolicy(plain, undefined, undefined, none)).toEqual({ defaults })
    const { attempts } = base
    expect(toRecordedPolicy(null, undefined, { attemptWithin: 30_000, retry: { attempts } }, none)).toEqual({
      defaults,
    })
    expect(toRecordedPolicy(tuned, undefined, undefined, tunedCaps)).toEqual({
      defaults,
      completeWithin: 5000,
      retry: { ...base, attempts: 3, initial: 1000 },
      rescue: 'pause',
      priority: 7,
      undo: true,
    })
  })

  it('puts the workflow over the action and the step over both', () => {
    expect(toRecordedPolicy(tuned, 'fail', undefined, tunedCaps).rescue).toBe('fail')
    const step: PolicyOptions = { rescue: 'skip', retry: { attempts: 9 }, priority: 0, stepWithin: '1m' }
    expect(toRecordedPolicy(tuned, 'fail', step, tunedCaps)).toEqual({
      defaults,
      completeWithin: 5000,
      expiresIn: 60_000,
      retry: { ...base, attempts: 9, initial: 1000 },
      rescue: 'skip',
      undo: true,
    })
    expect(toRecordedPolicy(tuned, undefined, { rescue: 'compensate' }, tunedCaps)).not.toHaveProperty('rescue')
  })

  it('records the substitute of a skip, and drops it with the skip', () => {
    const skip = { skip: { label: new Date(0) } }
    const skipped = { defaults, rescue: 'skip', substitute: { label: '1970-01-01T00:00:00.000Z' }, substituted: true }
    expect(toRecordedPolicy(plain, skip, undefined, none)).toEqual(skipped)
    expect(toRecordedPolicy(plain, skip, { rescue: 'fail' }, none)).toEqual({ defaults, rescue: 'fail' })
    expect(toRecordedPolicy(plain, { skip: undefined }, undefined, none)).toEqual({ defaults, rescue: 'skip' })
    raises('UNSERIALISABLE', () => toRecordedPolicy(plain, { skip: 5n }, undefined, none))
  })

  it('of an action that must not be tried twice has one attempt', () => {
    const options: PolicyOptions = { semantics: 'at-most-once', retry: { attempts: 5 } }
    const policy = resolvePolicy(toRecordedPolicy(plain, undefined, options, none))
    expect(policy).toMatchObject({ semantics: 'at-most-once', retry: { attempts: 1 }, undoRetry: { attempts: 60 } })
  })

  it('is the same frozen object each time when the step has no policy of its own', () => {
    const first = toRecordedPolicy(tuned, 'fail', undefined, tunedCaps)
    expect(toRecordedPolicy(tuned, 'fail', { name: 'x' } as PolicyOptions, tunedCaps)).toBe(first)
    expect(Object.isFrozen(first)).toBe(true)
    expect(toRecordedPolicy(tuned, 'pause', undefined, tunedCaps)).not.toBe(first)
    const local = toRecordedPolicy(null, undefined, undefined, none)
    expect(toRecordedPolicy(null, undefined, undefined, { ...none })).toBe(local)
    expect(toRecordedPolicy(null, undefined, undefined, tunedCaps)).toEqual({ defaults, undo: true })
  })

  it('may lift a bound that the action set', () => {
    const bounded = shop.action('bounded', { run: () => 1, stepWithin: '1h', heartbeatWithin: '5s' })
    const lifted = toRecordedPolicy(bounded, undefined, { stepWithin: null, heartbeatWithin: null }, none)
    expect(lifted).toEqual({ defaults })
  })

  it('is refused when it makes no sense', () => {
    const wrong: [PolicyOptions, Parameters<typeof raises>[0]][] = [
      [{ attemptWithin: 0 }, 'INVALID_DURATION'],
      [{ attemptWithin: null as never }, 'INVALID_DURATION'],
      [{ stepWithin: '0s' }, 'INVALID_DURATION'],
      [{ heartbeatWithin: 'soon' as never }, 'INVALID_DURATION'],
      [{ rescue: 'give up' as never }, 'INVALID_OPTION'],
      [{ rescue: { skip: 1, or: 2 } as RescueOption }, 'INVALID_OPTION'],
      [{ rescue: null as never }, 'INVALID_OPTION'],
      [{ semantics: 'exactly-once' as never }, 'INVALID_OPTION'],
      [{ priority: 1.5 }, 'INVALID_OPTION'],
      [{ priority: 1e9 }, 'INVALID_OPTION'],
      [{ retry: 3 as never }, 'INVALID_OPTION'],
      [{ retries: {} } as PolicyOptions, 'UNKNOWN_OPTION'],
      [{ retry: { retryIf: () => true } }, 'INVALID_OPTION'],
    ]
    for (const [options, code] of wrong) raises(code, () => toRecordedPolicy(plain, undefined, options, none))
    expect(toRecordedPolicy(null, undefined, { retry: { retryIf: () => true } }, none)).toEqual({ defaults })
  })
})

describe('the defaults', () => {
  const longest = (plan: RetryPlan): number =>
    Array.from({ length: plan.attempts - 1 }, (_, index) => backoff(plan, index + 1, 1)).reduce(
      (sum, wait) => sum + wait,
    )

  it('are patient: hours for a step, a day for its undo', () => {
    const hour = 3_600_000
    expect(longest(defaultPolicy.retry) / hour).toBeCloseTo(4.73, 2)
    expect(longest(defaultPolicy.undoRetry) / hour).toBeCloseTo(23.41, 2)
  })

  it('after a lost process begin with no wait at all, and never make it longer than a minute', () => {
    const waits = Array.from({ length: MOST_LOSSES }, (_, index) => lossWait({ losses: index + 1, doubts: 1 }, 1))
    expect(waits.slice(0, 5)).toEqual([0, 0, 0, 200, 400])
    expect(waits.at(-1)).toBe(60_000)
  })

  it('of a suspect grow from half a second or more to a minute at most', () => {
    const waits = Array.from({ length: MOST_LOSSES }, (_, index) => lossWait({ losses: 2, doubts: index + 1 }, 0))
    expect(waits.slice(0, 4)).toEqual([0, 500, 750, 1_125])
    expect(waits.at(-1)).toBe(30_000)
  })
})

describe('a retry plan', () => {
  it('takes what is given over its base', () => {
    expect(toRetryPlan(undefined, base)).toBe(base)
    expect(toRetryPlan({}, base)).toEqual(base)
    const given: RetryOptions = { attempts: 2, backoff: { initial: '1s', factor: 3, max: '1h', jitter: false } }
    expect(toRetryPlan(given, base)).toEqual({ attempts: 2, initial: 1000, factor: 3, max: 3_600_000, jitter: false })
  })

  it('never waits shorter than its first wait, and never NaN', () => {
    expect(toRetryPlan({ backoff: { initial: '15m' } }, base).max).toBe(900_000)
    raises('INVALID_OPTION', () => toRetryPlan({ backoff: { initial: '5m', max: '1m' } }, base))
    const eager = toRetryPlan({ attempts: 1_000_000, backoff: { initial: 0 } }, base)
    expect(backoff(eager, 999_999, 0.5)).toBe(0)
    expect(backoff(toRetryPlan({ attempts: 1_000_000 }, base), 999_999, 0)).toBe(300_000)
    expect(toRetryPlan({ backoff: { max: 100 } }, base)).toMatchObject({ initial: 100, max: 100 })
  })

  it('is refused when it makes no sense', () => {
    for (const attempts of [0, -1, 1.5, 1_000_001, Number.NaN, '3' as never]) {
      raises('INVALID_OPTION', () => toRetryPlan({ attempts }, base))
    }
    for (const factor of [0.5, Number.NaN, Number.POSITIVE_INFINITY, '2' as never]) {
      raises('INVALID_OPTION', () => toRetryPlan({ backoff: { factor } }, base))
    }
    raises('INVALID_OPTION', () => toRetryPlan({ backoff: { jitter: 1 as never } }, base))
    raises('INVALID_OPTION', () => toRetryPlan({ retryIf: 'always' as never }, base))
    raises('INVALID_DURATION', () => toRetryPlan({ backoff: { initial: -1 } }, base))
    raises('UNKNOWN_OPTION', () => toRetryPlan({ backoff: { maximum: 1 } as never }, base))
  })
})
