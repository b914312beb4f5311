// The shop's customers: each places an order by HTTP, and tries again until the shop has confirmed it.
import { setTimeout as delay } from 'node:timers/promises'
import { chance } from './services/faults.ts'
import type { Order } from './shop.ts'

/** Orders come at least at this rate (per second), and at most for this long (s). */
const RATE = 30
const LONGEST = 20

export function orderOf(number: number, seed: number): Order {
  const draw = (what: string) => chance(seed, 'order', number, what)
  const items = ['lamp', 'chair', 'table', 'clock']
  return {
    id: `order-${number}`,
    item: items[Math.floor(items.length * draw('item'))] ?? 'lamp',
    total: 100 + Math.floor(99_900 * draw('total')),
    email: `customer-${number}@example.com`,
  }
}

/** Places all orders, one after the other in time, and tells of each that is confirmed. */
export async function placeOrders(
  { url, orders, seed }: { url: string; orders: number; seed: number },
  placed: (id: string) => void,
): Promise<void> {
  const gap = 1000 / Math.max(RATE, orders / LONGEST)
  const began = Date.now()
  const customer = async (number: number) => {
    const order = orderOf(number, seed)
    await place(url, order)
    placed(order.id)
    // Some click twice.
    if (chance(seed, 'twice', number) < 0.05) await place(url, order)
  }
  const customers: Promise<void>[] = []
  for (let number = 1; number <= orders; number++) {
    await delay(Math.max(0, began + (number - 1) * gap - Date.now()))
    customers.push(customer(number))
  }
  await Promise.all(customers)
}

/** Places one order, and tries again until it is confirmed. */
export async function place(url: string, order: Order): Promise<void> {
  for (;;) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(order),
      signal: AbortSignal.timeout(5_000),
    }).catch(() => null)
    const answer = await response?.text().catch(() => null)
    if (response?.status === 202 && answer) return
    if (response && response.status < 500) throw new Error(`${order.id} was refused: ${response.status} ${answer}`)
    await delay(100)
  }
}
