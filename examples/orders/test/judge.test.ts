import { describe, expect, test } from 'vitest'
import { judge } from '../judge.ts'
import { type Rule, rules } from '../verdict.ts'
import { clock, drop, effect, effectsOf, receipt, type Shop, soundShop, task, undo } from './shop.ts'

test('a sound shop is cleared, and counted', () => {
  const shop = soundShop()
  shop.ledgers[0]?.receipts.push(receipt({}), receipt({ fault: 'lost', status: null }), receipt({ status: 402 }))
  expect(judge(shop)).toEqual({
    ok: true,
    violations: [],
    counts: { orders: 2, fulfilled: 1, undone: 1, requests: 3, effects: 6, undos: 2, refusals: 1, faults: { lost: 1 } },
  })
})

test('a mail may be missing when the task warns of it', () => {
  const shop = soundShop()
  drop(shop, 'mail', 'mail-kept')
  task(shop, 0).outcome = 'warning'
  expect(judge(shop).ok).toBe(true)
})

test('an order that failed before anything was done may end in error', () => {
  const shop = soundShop()
  shop.orders.push({ id: 'refused' })
  shop.tasks.push({ orderId: 'refused', status: 'stopped', outcome: 'error' })
  expect(judge(shop).ok).toBe(true)
})

/** What can be wrong, and every rule it breaks. */
const crimes: [string, (shop: Shop) => void, Rule[]][] = [
  ['an order without a task', (shop) => shop.tasks.shift(), ['lost-order']],
  ['an order with two tasks', (shop) => shop.tasks.push({ ...task(shop, 0) }), ['duplicate-task']],
  ['a task for no order', (shop) => shop.tasks.push({ ...task(shop, 0), orderId: 'ghost' }), ['unknown-order']],
  ['an effect for no order', (shop) => effectsOf(shop, 'mail').push(effect('mail', 'ghost')), ['unknown-order']],
  [
    'a request for no order, even one refused',
    (shop) => shop.ledgers[0]?.receipts.push(receipt({ orderId: 'ghost', status: 402 })),
    ['unknown-order'],
  ],
  ['a task that never stopped', (shop) => Object.assign(task(shop, 0), { status: 'running' }), ['not-stopped']],
  ['a task without a verdict', (shop) => Object.assign(task(shop, 0), { outcome: 'pending' }), ['wrong-outcome']],
  ['a ledger that was wiped', (shop) => shop.ledgers.splice(2, 1), ['not-done']],
  [
    'a double charge',
    (shop) => effectsOf(shop, 'payment').push(effect('payment', 'kept', { key: 'other', id: 'other' })),
    ['done-twice'],
  ],
  [
    'a double charge of an unfinished order',
    (shop) => {
      effectsOf(shop, 'payment').push(effect('payment', 'kept', { key: 'other', id: 'other' }))
      task(shop, 0).status = 'paused'
    },
    ['done-twice', 'not-stopped'],
  ],
  ['two mails', (shop) => effectsOf(shop, 'mail').push(effect('mail', 'kept', { id: 'other' })), ['done-twice']],
  ['a success that was never shipped', (shop) => drop(shop, 'shipping', 'shipping-kept'), ['not-done']],
  ['a success without its mail', (shop) => drop(shop, 'mail', 'mail-kept'), ['not-done']],
  [
    'a success that was refunded',
    (shop) => effectsOf(shop, 'payment').push(undo('payment', 'kept')),
    ['undone-but-fulfilled'],
  ],
  ['a missing undo', (shop) => drop(shop, 'stock', 'undo-stock-undone'), ['not-undone']],
  [
    'an error that left a charge behind',
    (shop) => {
      drop(shop, 'payment', 'undo-payment-undone')
      task(shop, 1).outcome = 'error'
    },
    ['not-undone'],
  ],
  [
    'a mail for an order that was undone',
    (shop) => effectsOf(shop, 'mail').push(effect('mail', 'undone', { at: 0 })),
    ['not-undone'],
  ],
  [
    'an undo of nothing',
    (shop) => effectsOf(shop, 'shipping').push(undo('shipping', 'undone')),
    ['undo-without-effect', 'undo-order'],
  ],
  ['a second undo', (shop) => effectsOf(shop, 'payment').push(undo('payment', 'undone')), ['undone-twice']],
  [
    'an undo before its effect',
    (shop) => Object.assign(effectsOf(shop, 'stock').at(-1) ?? {}, { at: -1 }),
    ['undo-without-effect', 'undo-order'],
  ],
  [
    'a refund before the release that depends on it',
    (shop) => Object.assign(effectsOf(shop, 'stock').at(-1) ?? {}, { at: clock + 1 }),
    ['undo-order'],
  ],
  [
    'new work after undoing began',
    (shop) => effectsOf(shop, 'shipping').push(effect('shipping', 'undone'), undo('shipping', 'undone', { at: 0 })),
    ['undo-order', 'undo-without-effect'],
  ],
  ...(['undo-without-effect', 'undone-twice', 'key-conflict'] as const).map((violation): (typeof crimes)[number] => [
    `a request that the service refused as ${violation}`,
    (shop) => shop.ledgers[0]?.receipts.push(receipt({ status: 409, violation })),
    [violation],
  ]),
]

describe('the judge notices', () => {
  test.each(crimes)('%s', (_, commit, broken) => {
    const shop = soundShop()
    commit(shop)
    const verdict = judge(shop)
    expect(verdict.ok).toBe(false)
    expect(new Set(verdict.violations.map(({ rule }) => rule))).toEqual(new Set(broken))
  })

  test('each of its rules', () => {
    expect(new Set(crimes.flatMap(([, , broken]) => broken))).toEqual(new Set(Object.keys(rules)))
  })
})
