// A made-up shop where everything is in order, for the judge's tests to break.
import { expect } from 'vitest'
import type { Effect, LedgerRows, Receipt } from '../services/ledger.ts'
import type { Evidence } from '../verdict.ts'

const actions: Record<string, string> = { payment: 'charge', stock: 'reserve', shipping: 'ship', mail: 'send' }
const dependsOn = { stock: ['payment'], shipping: ['payment', 'stock'] }

/** The time of the latest effect; each one takes a tick. */
export let clock = 0
export function effect(service: string, orderId: string, more: Partial<Effect> = {}): Effect {
  clock += 1
  const id = `${service}-${orderId}`
  return { key: id, kind: actions[service] ?? '', orderId, id, undoes: null, at: clock, input: {}, output: {}, ...more }
}

export function undo(service: string, orderId: string, more: Partial<Effect> = {}): Effect {
  const id = `undo-${service}-${orderId}`
  return effect(service, orderId, { kind: 'undo', key: id, id, undoes: `${service}-${orderId}`, ...more })
}

/** A shop with one order that was fulfilled and one that was undone: nothing wrong with it. */
export function soundShop(): Evidence & { ledgers: LedgerRows[] } {
  const ledger = (service: string, effects: Effect[]): LedgerRows => ({ service, effects, receipts: [] })
  const payment = [effect('payment', 'kept'), effect('payment', 'undone')]
  const stock = [effect('stock', 'kept'), effect('stock', 'undone')]
  const shipping = [effect('shipping', 'kept')]
  const mail = [effect('mail', 'kept')]
  stock.push(undo('stock', 'undone'))
  payment.push(undo('payment', 'undone'))
  return {
    orders: [{ id: 'kept' }, { id: 'undone' }],
    tasks: [
      { orderId: 'kept', status: 'stopped', outcome: 'success' },
      { orderId: 'undone', status: 'stopped', outcome: 'compensated' },
    ],
    ledgers: [ledger('payment', payment), ledger('stock', stock), ledger('shipping', shipping), ledger('mail', mail)],
    dependsOn,
  }
}

export function receipt(more: Partial<Receipt>): Receipt {
  const nothing = { orderId: 'kept', attempt: 1, at: 0, fault: null, status: 200, violation: null }
  return { kind: 'charge', key: 'k', ...nothing, ...more }
}

export type Shop = ReturnType<typeof soundShop>
export const effectsOf = (shop: Shop, service: string) => {
  const ledger = shop.ledgers.find((ledger) => ledger.service === service)
  if (!ledger) throw new Error(service)
  return ledger.effects
}
export const drop = (shop: Shop, service: string, id: string) => {
  const effects = effectsOf(shop, service)
  effects.splice(
    effects.findIndex((effect) => effect.id === id),
    1,
  )
}
export const task = (shop: Shop, index: number) => shop.tasks[index] ?? expect.fail()
