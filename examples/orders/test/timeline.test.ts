import { stripVTControlCharacters } from 'node:util'
import type { HistoryEvent } from 'triarch'
import { describe, expect, it } from 'vitest'
import { barred } from '../progress.ts'
import { type Entry, type Life, mostTelling, render, timeline } from '../timeline.ts'
import type { Testimony } from '../witness.ts'

const at = (ms: number, ...events: unknown[]): Entry => ({ at: new Date(1_000 + ms), events: events as HistoryEvent[] })

const submitted = at(0, { type: 'submitted', input: { item: 'lamp', total: 1250 } })
const requested = (id: number, name: string) => ({ type: 'stepRequested', id, name })
const completed = (id: number, node: string, output: object, more = {}) => {
  return { type: 'stepCompleted', id, output, attempt: 1, node, ...more }
}
const lost = (id: number) => {
  const next = { operation: 'verify', at: 0 }
  return { type: 'attemptFailed', id, operation: 'run', error: { message: 'died' }, lost: 'death', next }
}

const testimony: Testimony = {
  processes: { a: { name: 'node 1', pid: 11 }, b: { name: 'node 2', pid: 22 } },
  ownerships: [
    { order: 'order-1', node: 'a', at: 1_090 },
    { order: 'order-1', node: 'b', at: 2_290 }, // seen late: it wrote a record before
  ],
  deaths: [{ name: 'node 1', pid: 11, at: 1_200, orders: ['order-1'] }],
}

/** Charged, killed while it shipped; the service had shipped; the mail failed once. */
const fulfilled: Life = {
  order: 'order-1',
  testimony,
  history: [
    submitted,
    at(20, { type: 'started' }, requested(1, 'charge')),
    at(110, completed(1, 'a', { chargeId: 'charge_1' }), requested(2, 'ship')),
    at(1_250, lost(2)),
    at(1_300, completed(2, 'b', { shipmentId: 'ship_1' }, { by: 'verify' }), requested(3, 'send')),
    at(1_350, {
      type: 'attemptFailed',
      id: 3,
      operation: 'run',
      error: { message: 'http://127.0.0.1:1/send answered 503: {"error":"too busy"}' },
      node: 'b',
      next: { operation: 'run', at: 0 },
    }),
    at(1_400, completed(3, 'b', { messageId: 'send_1' }, { attempt: 2 }), { type: 'returned' }),
    at(1_400, { type: 'stopped', outcome: 'success' }),
  ],
}

describe('the timeline of an order', () => {
  it('tells what happened when, in which process, and who took over from whom', () => {
    expect(stripVTControlCharacters(render('order-1', timeline(fulfilled)))).toBe(
      `order-1
  +0.00 s  web          order taken: a lamp for 12.50
  +0.02 s  node 1 (11)  began with it
  +0.11 s  node 1 (11)  charge: done, charge_1
  +0.20 s  node 1 (11)  KILLED, with ship under way
  +1.25 s  node 2 (22)  took the order over
  +1.25 s  node 2 (22)  ship: its process died; done or not, nobody knows
  +1.30 s  node 2 (22)  asked the service: ship WAS done, not repeated
  +1.35 s  node 2 (22)  send: refused with 503, again
  +1.40 s  node 2 (22)  send: done, send_1 (attempt 2)
  +1.40 s  node 2 (22)  fulfilled`,
    )
  })

  it('tells what was taken back', () => {
    const history = [
      ...fulfilled.history.slice(0, 4),
      at(1_300, { type: 'verified', id: 2, answer: 'not-done' }),
      at(1_400, { type: 'stepFailed', id: 2, error: { message: 'http://127.0.0.1:1/ship answered 422: {}' } }),
      at(1_400, { type: 'compensating' }),
      at(1_500, {
        type: 'attemptFailed',
        id: 1,
        operation: 'undo',
        error: { message: 'no answer from http://x/y' },
        unknown: true,
        node: 'b',
      }),
      at(1_600, { type: 'undone', id: 1, attempt: 2, node: 'b' }, { type: 'stopped', outcome: 'compensated' }),
    ]
    expect(
      timeline({ ...fulfilled, history })
        .slice(6)
        .map(({ what }) => what),
    ).toEqual([
      'asked the service: ship was NOT done: again',
      'ship: given up (refused with 422)',
      'cannot be fulfilled: what was done is taken back',
      'taking back charge: no answer; done or not, nobody knows',
      'charge: taken back',
      'undone as a whole',
    ])
  })

  it('ascribes nothing to a process that was dead by then', () => {
    const early = { ...testimony, deaths: [{ name: 'node 1', pid: 11, at: 1_010, orders: ['order-1'] }] }
    const moments = timeline({
      ...fulfilled,
      testimony: {
        ...early,
        ownerships: [
          { order: 'order-1', node: 'a', at: 1_010 },
          { order: 'order-1', node: 'b', at: 9_000 },
        ],
      },
    })
    expect(moments.slice(0, 4).map(({ where, what }) => `${where} ${what}`)).toEqual([
      'web order taken: a lamp for 12.50',
      'node 1 (11) KILLED',
      'node 2 (22) took the order over',
      'node 2 (22) began with it',
    ])
  })

  it('tells of an answer that was in the store when its process died', () => {
    const late = at(1_260, completed(2, 'a', { shipmentId: 'ship_1' }))
    const moments = timeline({ ...fulfilled, history: [...fulfilled.history.slice(0, 3), late] })
    expect(moments.slice(-2).map(({ where, what }) => `${where} ${what}`)).toEqual([
      'node 2 (22) took the order over',
      'node 2 (22) ship: done, ship_1, by node 1 (11) before it died',
    ])
  })

  it('fits into 80 columns, and says nothing of a process that nobody saw', () => {
    const long = at(50, requested(9, 'a step whose name is longer than any that a shop would have'), lost(9))
    const text = stripVTControlCharacters(
      render('order-2', timeline({ ...fulfilled, order: 'order-2', history: [submitted, long] })),
    )
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(text).not.toContain('node')
  })

  it('is that of the order that shows most', () => {
    const quiet = { ...fulfilled, order: 'order-3' }
    const brief = { ...fulfilled, history: [submitted] }
    expect(mostTelling([quiet, brief, fulfilled])).toBe(fulfilled)
    expect(mostTelling([quiet])).toBeNull()
  })
})

it.each([
  [0, 17, '░░░░░░░░░░ 5 of 9'],
  [0.55, 17, '█████░░░░░ 5 of 9'],
  [2, 17, '██████████ 5 of 9'],
  [1, 500, `${'█'.repeat(30)} 5 of 9`],
  [0.5, 8, '5 of 9'], // no room for a bar
  [0.5, 3, '5 o'],
])('the bar shows %d in %d columns', (done, columns, shown) => {
  expect(barred('5 of 9', done, columns)).toBe(shown)
})
