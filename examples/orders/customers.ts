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

/** How a customer hears what became of an order. */
export type Way = 'reply' | 'poll' | 'stream'

/** What customers were told. */
export interface Told {
  id: string
  way: Way
  outcome: string
}

/** Places all orders at the shop, one after the other in time, and tells of each that is confirmed; and what customers were told who wanted to know. */
export async function placeOrders(
  { url, orders, seed }: { url: string; orders: number; seed: number },
  placed: (id: string) => void,
): Promise<Told[]> {
  const gap = 1000 / Math.max(RATE, orders / LONGEST)
  const began = Date.now()
  const customer = async (number: number) => {
    const order = orderOf(number, seed)
    const { id } = order
    const way = wayOf(chance(seed, 'way', number))
    const reply = await place(`${url}/orders${way === 'reply' ? '?wait=5s' : ''}`, order)
    placed(id)
    // Some click twice.
    if (chance(seed, 'twice', number) < 0.05) await place(`${url}/orders`, order)
    if (way !== null)
      told.push({ id, way, outcome: outcomeIn(reply) ?? (await follow(`${url}/api/v1/tasks/${id}`, way)) })
  }
  const told: Told[] = []
  const customers: Promise<void>[] = []
  for (let number = 1; number <= orders; number++) {
    await delay(Math.max(0, began + (number - 1) * gap - Date.now()))
    customers.push(customer(number))
  }
  await Promise.all(customers)
  return told
}

/** Places one order, and tries again until it is confirmed. What the shop said then. */
export async function place(url: string, order: Order): Promise<unknown> {
  for (;;) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(order),
      signal: AbortSignal.timeout(10_000),
    }).catch(() => null)
    const answer = await response?.text().catch(() => null)
    if (response?.ok && answer) return JSON.parse(answer)
    if (response && response.status < 500) throw new Error(`${order.id} was refused: ${response.status} ${answer}`)
    await delay(100)
  }
}

/** Three in ten want to know what becomes of their order: in the reply, by asking again and again, or as it happens. */
function wayOf(draw: number): Way | null {
  const ways: Way[] = ['reply', 'poll', 'stream']
  return ways[Math.floor(draw * 10)] ?? null
}

/** Undefined while there is none. */
function outcomeIn(said: unknown): string | undefined {
  const { outcome } = said as { outcome?: string }
  return outcome === 'pending' ? undefined : outcome
}

/** Waits for the outcome, whatever the web process goes through meanwhile. */
async function follow(task: string, way: Way): Promise<string> {
  for (;;) {
    try {
      const outcome = way === 'stream' ? await streamed(`${task}/events`) : await polled(`${task}/outcome?wait=5s`)
      if (outcome !== undefined) return outcome
    } catch {
      await delay(100)
    }
  }
}

async function polled(url: string): Promise<string | undefined> {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) })
  return outcomeIn(await response.json())
}

/** Server-Sent Events: lines of which those that begin with `data:` are JSON. */
async function streamed(url: string): Promise<string | undefined> {
  const { body } = await fetch(url, { signal: AbortSignal.timeout(30_000) })
  let text = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = `${text}${chunk}`.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) {
      const outcome = line.startsWith('data:') ? outcomeIn(JSON.parse(line.slice('data:'.length))) : undefined
      if (outcome !== undefined) return outcome
    }
  }
  return undefined
}
