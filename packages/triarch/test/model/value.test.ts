import { describe, expect, it } from 'vitest'
import { childTaskId } from '../../src/kernel/child/child.ts'
import type { TaskEvent } from '../../src/kernel/event.ts'
import type { Json } from '../../src/kernel/json.ts'
import { isFull } from '../../src/kernel/load.ts'
import { fenceOf, isGated } from '../../src/kernel/lock/gate.ts'
import type { Message } from '../../src/kernel/message.ts'
import { newPlanState, progressOf } from '../../src/kernel/plan/plan.ts'
import { missingReference, references, resolve } from '../../src/kernel/plan/reference.ts'
import { HIDDEN, hideAt, SecretTexts, secretsAt } from '../../src/kernel/secret.ts'
import type { TaskState } from '../../src/kernel/state.ts'
import { idempotencyKey, isWider } from '../../src/kernel/step/dispatch.ts'
import { isRelief, lossWait, onTrial } from '../../src/kernel/step/loss.ts'
import { backoff, DEFAULTS, resolvePolicy } from '../../src/kernel/step/policy.ts'
import type { Step } from '../../src/kernel/step/step.ts'
import { isWaiting, sameSummary, summarise } from '../../src/kernel/summary.ts'
import { waitingParents } from '../../src/kernel/task/order.ts'
import { newTurn } from '../../src/kernel/turn.ts'
import { NO_SIGNALS, said } from '../../src/kernel/wait/buffered-signal.ts'
import { unreadSignals } from '../../src/kernel/wait/mailbox.ts'
import { Fold } from './fold.ts'
import * as h from './history.ts'

const after = (...events: TaskEvent[]): TaskState => new Fold(...events).state
const paused: TaskEvent = { type: 'paused', reason: 'operator' }

describe('a template', () => {
  const outputs = new Map<number, Json>([
    [1, { a: { b: [1, 2] }, n: null, s: 'x', $ref: ['output', 2] }],
    [2, [{ k: 1 }, { k: null, j: 2 }]],
    [3, 0],
  ])
  const ref = (...expression: Json[]): Json => ({ $ref: expression })
  const one = (...path: Json[]) => ref('output', 1, ...path)
  const two = ref('output', 2)
  const gone = ref('output', 9)

  it.each<[template: Json, value: Json | undefined]>([
    [null, null],
    ['x', 'x'],
    [0, 0],
    [
      [1, one('s')],
      [1, 'x'],
    ],
    [[1, gone], undefined],
    [
      { x: one('s'), y: null },
      { x: 'x', y: null },
    ],
    [{ x: gone }, undefined],
    [{ $ref: 'no list' }, { $ref: 'no list' }],
    [
      { $ref: ['output', 3], and: 1 },
      { $ref: ['output', 3], and: 1 },
    ],
    [one('a', 'b', 1), 2],
    [one('a', 'b', 2), undefined],
    [one('n'), null],
    [one('n', 'x'), undefined],
    [one('s', 'length'), undefined],
    [one('toString'), undefined],
    [one(), outputs.get(1)],
    [two, outputs.get(2)],
    [gone, undefined],
    [ref('or', gone, 'y'), 'y'],
    [ref('or', one('n'), 'y'), 'y'],
    [ref('or', one('s'), 'y'), 'x'],
    [ref('or', gone, gone), undefined],
    [ref('when', ref('output', 3), 1, 2), 2],
    [ref('when', one('s'), 1, 2), 1],
    [ref('when', gone, 1, 2), undefined],
    [ref('when', one('s'), 1, gone), 1],
    [ref('object', ['$ref', one('s')], ['y', 1]), { $ref: 'x', y: 1 }],
    [ref('object', ['x', gone]), undefined],
    [ref('at', one('a'), 'b', 0), 1],
    [ref('at', gone, 'b'), undefined],
    [ref('pluck', two, 'k'), [1, null]],
    [ref('pluck', two, 'j'), undefined],
    [ref('pluck', one('s'), 'k'), undefined],
    [ref('text', 'a', one('s'), 1, null, one('a')), 'ax1null{"b":[1,2]}'],
    [ref('text', gone), undefined],
    [ref('length', one('a', 'b')), 2],
    [ref('length', 'four'), 4],
    [ref('length', one('a')), undefined],
    [ref('concat', one('a', 'b'), [3]), [1, 2, 3]],
    [ref('concat', one('a', 'b'), 3), undefined],
    [ref('merge', { x: 1, y: 1 }, { y: 2 }), { x: 1, y: 2 }],
    [ref('merge', { x: 1 }, [1]), undefined],
    [ref('merge', { x: 1 }, null), undefined],
    [ref('merge', { x: 1 }, 'x'), undefined],
    [ref('join', ['a', 1], '-'), 'a-1'],
    [ref('join', ['a', 'b']), 'a,b'],
    [ref('join', 'a', '-'), undefined],
    [ref('equals', { x: 1, y: [{ b: 1, a: 2 }] }, { y: [{ a: 2, b: 1 }], x: 1 }), true],
    [ref('equals', { x: 1 }, { x: 2 }), false],
    [ref('equals', [1, 2], [2, 1]), false],
    [ref('equals', [1], { 0: 1 }), false],
    [ref('equals', null), true],
    [ref('equals', 'a', 'a'), true],
    [ref('equals', null, {}), false],
    [ref('unheard of', 1), undefined],
  ])('%j is %j', (template, value) => {
    expect(resolve(template, outputs)).toEqual(value)
  })

  it('gives copies, whose keys are keys', () => {
    const of = new Map<number, Json>([[1, JSON.parse('{"__proto__":{"x":1},"d":[{"y":1}]}')]])
    const value = resolve(ref('output', 1), of)
    expect(JSON.stringify(value)).toBe('{"__proto__":{"x":1},"d":[{"y":1}]}')
    expect((value as { d: Json[] }).d[0]).not.toBe((of.get(1) as { d: Json[] }).d[0])
    expect(JSON.stringify(resolve(JSON.parse('{"__proto__":1}'), of))).toBe('{"__proto__":1}')
  })

  it.each<[template: Json, found: number[]]>([
    [null, []],
    ['x', []],
    [
      [one(), { x: ref('text', ref('output', 2), one('s')) }],
      [1, 2],
    ],
    [ref('output', 1, ref('output', 2)), [1]],
    [{ $ref: ['output', 3], and: 1 }, []],
  ])('%j refers to %j', (template, found) => {
    expect([...references(template)].sort()).toEqual(found)
  })

  it.each<[template: Json, what: string | null]>([
    [null, null],
    ['x', null],
    [one('s'), null],
    [one('a', 'b', 7), 'output of step 1.a.b[7]'],
    [{ x: one('s'), y: [gone, one('z')] }, 'output of step 9'],
    [ref('text', 'a', one('z')), 'output of step 1.z'],
    [ref('merge', { x: 1 }, [1]), 'merge'],
    [[1, { x: 2 }], null],
  ])('%j lacks %j', (template, what) => {
    expect(missingReference(template, outputs)).toBe(what)
  })
})

describe('a secret', () => {
  it.each<[value: Json, paths: string[], shown: Json]>([
    [{ a: 'x', b: 'y' }, ['a'], { a: HIDDEN, b: 'y' }],
    [{ a: [{ b: 1, c: 2 }, { b: 3 }] }, ['a.*.b'], { a: [{ b: HIDDEN, c: 2 }, { b: HIDDEN }] }],
    [['x', 'y'], ['1'], ['x', HIDDEN]],
    [{ a: { x: 1, y: 2 } }, ['a.*'], { a: { x: HIDDEN, y: HIDDEN } }],
    [{ a: 'x' }, ['a.b'], { a: 'x' }],
    [{ a: null }, ['a.b', 'c'], { a: null }],
    [{ a: 'x', b: 'y' }, ['a', 'b'], { a: HIDDEN, b: HIDDEN }],
  ])('of %j at %j is not shown', (value, paths, shown) => {
    expect(hideAt(value, paths)).toEqual(shown)
  })

  it.each<[value: Json | undefined, paths: string[], found: string[]]>([
    [undefined, ['a'], []],
    [{ a: 'four', b: 'other' }, ['a'], ['four']],
    [{ a: 'abc' }, ['a'], []],
    [{ a: 1234, b: 123 }, ['a', 'b'], ['1234']],
    [{ a: { x: ['deep', null, true, { y: 'deeper' }] } }, ['a'], ['deep', 'deeper']],
    [{ a: null }, ['a'], []],
  ])('of %j at %j is found', (value, paths, found) => {
    expect([...secretsAt(value, paths)]).toEqual(found)
  })

  it.each<[value: Json, secrets: string[], shown: Json]>([
    ['my password is hunter22!', ['hunter22'], `my password is ${HIDDEN}!`],
    ['hunter22', ['hunter22'], HIDDEN],
    ['hunter22hunter22', ['hunter22'], `${HIDDEN}${HIDDEN}`],
    ['hunter223', ['hunter22', 'hunter223'], HIDDEN],
    ['hunter223', ['hunter223', 'hunter22'], HIDDEN],
    ['huntress', ['hunter22'], 'huntress'],
    ['a hunt and a hunter22', ['hunter22', 'hunt'], `a ${HIDDEN} and a ${HIDDEN}`],
    ['four', ['four'], HIDDEN],
    ['fou', ['four'], 'fou'],
    ['a four', ['four', 'five'], `a ${HIDDEN}`],
    [1234, ['1234'], HIDDEN],
    [123, ['1234'], 123],
    [null, ['1234'], null],
    [true, ['true'], true],
    [{ a: ['hunter22', 1], b: { c: 'x hunter22' } }, ['hunter22'], { a: [HIDDEN, 1], b: { c: `x ${HIDDEN}` } }],
    ['hunter22', [], 'hunter22'],
  ])('in %j of %j stands nowhere', (value, secrets, shown) => {
    expect(new SecretTexts(secrets).scrub(value)).toEqual(shown)
  })

  it('that is found later is hidden as well', () => {
    const secrets = new SecretTexts(['hunter22'])
    expect(secrets.scrub('hunter22 swordfish')).toBe(`${HIDDEN} swordfish`)
    secrets.add('swordfish')
    expect(secrets.scrub('hunter22 swordfish')).toBe(`${HIDDEN} ${HIDDEN}`)
  })
})

describe('what a task was sent and has not heard', () => {
  const mail = (count: number): TaskEvent[] =>
    Array.from({ length: count }, () => ({ type: 'signalReceived', name: 'e', payload: 'xx' }))
  const busy: TaskEvent[] = [h.started, h.requested(1), { type: 'stepSignalled', id: 1, name: 'e', payload: 'xx' }]

  it('counts by letters and by characters of their JSON', () => {
    expect(unhead(mail(2))).toEqual({ letters: 2, bytes: 2 * '{"name":"e","payload":"xx"}'.length })
    expect(unhead(busy.slice(1))).toEqual({ letters: 1, bytes: '{"name":"e","payload":"xx"}'.length })
    const twice = after(h.started, ...mail(1))
    expect(unreadSignals(twice)).toEqual(unreadSignals(twice))
  })

  it('is nothing once it has stopped', () => {
    expect(unreadSignals(after(...busy, h.closing(false), { type: 'stopped', result: 'cancelled' }))).toEqual(
      NO_SIGNALS,
    )
  })

  it.each([
    [{ letters: 2, bytes: 10 }, false],
    [{ letters: 3, bytes: 10 }, true],
    [{ letters: 2, bytes: 51 }, true],
    [{ letters: 2, bytes: 50 }, false],
  ])('is said by the task only where it is more than half of what there may be: %j', (kept, isSaid) => {
    expect(said(kept, { letters: 5, bytes: 101 })).toBe(isSaid ? kept : NO_SIGNALS)
  })

  function unhead(events: TaskEvent[]) {
    return unreadSignals(after(h.started, ...events))
  }
})

describe('a turn', () => {
  const half = 'x'.repeat(4 * 1024 * 1024)
  const turnOf = (payloads: Json[]) => {
    const turn = newTurn(after(), 0, () => 0, { history: 1, fanOut: 1, payload: 8 * 1024 * 1024 })
    for (const payload of payloads) turn.events.push({ type: 'signalReceived', name: '', payload })
    return turn
  }

  it.each<[what: string, full: boolean, payloads: Json[]]>([
    ['nothing', false, []],
    ['little', false, ['x']],
    ['half of it twice', true, [half, half]],
    ['all but the last character', false, [half, half.slice(99)]],
    ['all to the last character', true, [half, half.slice(98)]],
    ['half of it twice in lists', true, [[half], [half]]],
    ['half of it twice in objects', true, [{ a: half }, { a: half }]],
    ['numbers and nulls', false, [1, null, true]],
  ])('that has %s is full: %s', (_, full, payloads) => {
    const turn = turnOf(payloads)
    expect([isFull(turn), isFull(turn), turn.full]).toEqual([full, full, full])
  })

  it('weighs each event once', () => {
    const turn = turnOf([half])
    expect(isFull(turn)).toBe(false)
    const { size } = turn.load
    expect(isFull(turn)).toBe(false)
    expect(turn.load.size).toBe(size)
    turn.events.push({ type: 'signalReceived', name: '', payload: [1, 'y', null, { k: 2 }] })
    isFull(turn)
    expect(turn.load.size - size).toBe(78)
  })

  it('weighs nothing while its events are too few to be too much', () => {
    const turn = turnOf([half])
    Object.assign(turn, { limits: { ...turn.limits, payload: 8 * 1024 * 1024 - 1 } })
    expect([isFull(turn), turn.load.events]).toEqual([false, 0])
  })
})

describe('a step that was lost with its process', () => {
  it.each([
    [{ losses: 1, doubts: 0 }, 0],
    [{ losses: 3, doubts: 1 }, 0],
    [{ losses: 4, doubts: 1 }, 150],
    [{ losses: 5, doubts: 0 }, 300],
    [{ losses: 60, doubts: 0 }, 45_000],
    [{ losses: 2, doubts: 2 }, 750],
    [{ losses: 3, doubts: 3 }, 1_125],
    [{ losses: 60, doubts: 60 }, 45_000],
  ])('waits, after %j, for %d ms', (lost, wait) => {
    expect(lossWait(lost, 0.5)).toBe(wait)
  })

  it.each([
    [1, 99, false],
    [2, 99, true],
    [2, 100, false],
  ])('with %d doubts is tried by itself at %d: %s', (doubts, at, expected) => {
    expect(onTrial({ doubts, patientUntil: 100 }, at)).toBe(expected)
  })
})

describe('the answer of a step', () => {
  const lost = (times: number): TaskEvent[] => [
    h.started,
    h.requested(1),
    ...Array.from({ length: times }, () => h.failedAttempt(1, { lost: 'death', next: { operation: 'run', at: 1 } })),
  ]

  it.each<[what: string, times: number, message: Message, relief: boolean]>([
    ['that was lost twice', 2, h.reply(1, h.done), true],
    ['that was verified after it was lost twice', 2, h.reply(1, h.done, { operation: 'verify' }), true],
    ['that was lost once', 1, h.reply(1, h.done), false],
    ['that fails', 2, h.reply(1, h.failed()), false],
    ['that is undone', 2, h.reply(1, h.done, { operation: 'undo' }), false],
    ['that nobody knows', 2, h.reply(9, h.done), false],
    ['that is none', 2, { type: 'resume' }, false],
  ])('%s is a relief, which must not be lost with what comes after it', (_, times, message, relief) => {
    expect(isRelief(after(...lost(times)), message)).toBe(relief)
  })
})

describe('a policy', () => {
  it('is what was recorded, over the defaults', () => {
    expect(resolvePolicy({ defaults: DEFAULTS }).retry.attempts).toBe(40)
    expect(resolvePolicy({ defaults: DEFAULTS, priority: 2 })).toMatchObject({ priority: 2, retry: { attempts: 40 } })
    expect(resolvePolicy({ priority: 2, defaults: DEFAULTS })).toEqual({
      ...resolvePolicy({ defaults: DEFAULTS }),
      priority: 2,
    })
    expect(resolvePolicy({ defaults: DEFAULTS })).toBe(resolvePolicy({ defaults: DEFAULTS }))
  })

  it('waits longer each time, up to a bound, and half of it by chance', () => {
    const plan = { attempts: 9, initial: 10, factor: 2, max: 35, jitter: false }
    expect([1, 2, 3, 4].map((failures) => backoff(plan, failures, 0.5))).toEqual([10, 20, 35, 35])
    expect([0, 0.5, 1].map((draw) => backoff({ ...plan, jitter: true }, 1, draw))).toEqual([5, 8, 10])
  })
})

describe('the row of a task', () => {
  const submitted = (more: object): TaskEvent => ({ ...h.submitted, ...more })

  it.each<[what: string, history: TaskEvent[], deadline: number | null]>([
    ['nothing', [], null],
    ['its start-before', [submitted({ startBefore: 50 })], 51],
    ['its complete-by', [submitted({ completeBy: 50 })], 50],
    ['the earlier of the two', [submitted({ startBefore: 50, completeBy: 70 })], 51],
    ['the other, if that is earlier', [submitted({ startBefore: 50, completeBy: 40 })], 40],
    ['its complete-by, once it began', [submitted({ startBefore: 50, completeBy: 70 }), h.started], 70],
    ['nothing, once it ends', [submitted({ completeBy: 70 }), h.started, h.closing(false)], null],
    ['nothing, once it stopped', [submitted({ completeBy: 70 }), h.started, h.stopped('success')], null],
  ])('has for a deadline %s', (_, history, deadline) => {
    expect(summarise(after(...history)).deadline).toBe(deadline)
  })

  it('tells how far it is, by its own word or that of its plan', () => {
    expect(summarise(after(h.started, { type: 'progressed', progress: 3 })).progress).toBe(3)
    const plan = h.plan([{ action: 'a.b' }, { action: 'a.b', weight: 2 }])
    expect(summarise(after(...plan, h.requested(1), h.completed(1))).progress).toBe(0.33)
    expect(progressOf(newPlanState({ first: 1, steps: [], policies: [], groups: [], output: null }))).toBe(1)
  })

  it('counts steps that finalize nothing as done', () => {
    const plan = h.plan([{ action: 'a.b' }, { action: 'a.b', finalizes: 1 }])
    const skipped: TaskEvent = { type: 'stepSkipped', id: 1, cascade: [], by: 'rescue' }
    expect(summarise(after(...plan, h.requested(1), skipped)).progress).toBe(1)
  })

  const row = summarise(after(h.started))

  it.each<[field: string, value: unknown]>([
    ['status', 'paused'],
    ['result', 'success'],
    ['failures', 1],
    ['deadline', 1],
    ['progress', 1],
    ['output', 1],
    ['error', h.error],
    ['pause', {}],
  ])('is another where its %s is', (field, value) => {
    expect(sameSummary(row, { ...row })).toBe(true)
    expect(sameSummary(row, { ...row, [field]: value })).toBe(false)
    expect(sameSummary({ ...row, [field]: value }, { ...row, [field]: value })).toBe(true)
  })

  it.each([
    ['pending', true],
    ['scheduled', true],
    ['planned', true],
    ['planning', false],
    ['running', false],
    ['paused', false],
    ['stopped', false],
  ] as const)('that says %s is of a task that waits: %s', (status, expected) => {
    expect(isWaiting({ ...after(), status })).toBe(expected)
  })
})

describe('the key of an attempt', () => {
  const step = (more: Partial<Step>): Step => ({ ...(after(h.started, h.requested(1)).steps.get(1) as Step), ...more })

  it.each<[incarnation: string, step: Partial<Step>, key: string]>([
    ['x', { generation: 2 }, 't~x:1~2'],
    ['x', {}, 't~x:1'],
    ['', {}, 't:1'],
    ['', { generation: 2 }, 't:1~2'],
    ['', { operation: 'verify' }, 't:1'],
    ['', { operation: 'undo', generation: 2 }, 't:1~2:undo'],
  ])('of incarnation %s for %j is %s', (incarnation, more, key) => {
    expect(idempotencyKey({ ...after(), incarnation }, step(more))).toBe(key)
  })
})

describe('the id of what a task starts', () => {
  it.each([
    ['', 't~1'],
    ['x', 't~x~1'],
  ])('of incarnation %s is %s', (incarnation, id) => {
    expect(childTaskId({ id: 't', incarnation }, 1)).toBe(id)
  })
})

describe('the width of a task', () => {
  const timer = (id: number): TaskEvent => ({ type: 'timerStarted', id, until: 9 })
  const all = after(
    h.started,
    h.requested(1),
    timer(2),
    { type: 'waitStarted', id: 3, name: 'e', until: null },
    h.called(4),
    { type: 'lockRequested', id: 5, name: 'm', until: null },
  )

  it('is that of all it waits for', () => {
    expect([isWider(all, 4), isWider(all, 5)]).toEqual([true, false])
  })

  it('does not count children that ended', () => {
    const ended = after(h.started, h.called(1), { type: 'childStopped', id: 1, result: 'success' }, timer(2), timer(3))
    expect([isWider(ended, 1), isWider(ended, 2)]).toEqual([true, false])
  })

  it('is kept by the driver of a plan', () => {
    expect(isWider(after(...h.plan([{ action: 'a.b' }, { action: 'a.b' }]), h.requested(1), h.requested(2)), 1)).toBe(
      false,
    )
  })
})

describe('what a task has of locks and others', () => {
  const lock = (id: number, fence?: number): TaskEvent[] => [
    { type: 'lockRequested', id, name: `m${id}`, until: null },
    ...(fence === undefined ? [] : [{ type: 'lockGranted', id, fence } as const]),
  ]

  it('is fenced by the latest grant that it still holds', () => {
    expect(fenceOf(after(h.started))).toBeUndefined()
    expect(fenceOf(after(h.started, ...lock(1, 5), ...lock(2, 3), ...lock(3)))).toBe(5)
    expect(fenceOf(after(h.started, ...lock(1, 5), h.closing(false), h.stopped('success')))).toBeUndefined()
    expect(fenceOf(after(h.started, ...lock(1), { type: 'lockGranted', id: 1 }))).toBeUndefined()
  })

  const frozen: TaskEvent = { ...h.submitted, frozen: true }
  const keyed: TaskEvent = { ...h.submitted, exclusive: [{ key: 'k', ifHeld: 'queue' }] }

  it.each<[what: string, history: TaskEvent[], gated: boolean]>([
    ['nothing', [], false],
    ['that it is thawed', [frozen], true],
    ['that it is thawed, though it is paused', [frozen, paused], true],
    ['nothing, for it began', [frozen, h.started], false],
    ['nothing, for it ends', [frozen, h.closing(false)], false],
    ['nothing, for it has stopped', [frozen, h.closing(false), h.stopped('cancelled')], false],
    ['another task', [{ ...h.submitted, after: [{ task: 'x', on: 'end' }] }], true],
    ['keys that it asked for', [keyed, { type: 'locksRequested' }], true],
    ['nothing, for it has not asked', [keyed], false],
    ['nothing, for it has them', [keyed, { type: 'locksRequested' }, { type: 'lockGranted', id: 0 }], false],
  ])('waits to begin for %s', (_, history, gated) => {
    expect(isGated(after(...history))).toBe(gated)
  })

  it('knows who waits for its end, the nearest first', () => {
    const above = Array.from({ length: 40 }, (_, index) => `p${index}`)
    expect(waitingParents({ task: 'p', step: 1, above })).toEqual([])
    expect(waitingParents({ task: 'p', step: 1, ordinal: 0 })).toEqual(['p'])
    expect(waitingParents({ task: 'p', step: 1, awaits: true, above })).toEqual(['p', ...above.slice(0, 31)])
  })
})
