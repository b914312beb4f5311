// The console on the orders example while it runs: what the README shows of it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { orderOf, place, placeOrders } from '../../../examples/orders/customers.ts'
import { type Fleet, startFleet } from '../../../examples/orders/fleet.ts'
import { chance, rough } from '../../../examples/orders/services/faults.ts'

const SEED = 1
/** Orders that go well, more or less, before the bank falls ill. */
const BEFORE = 60
/** Orders that meet it ill. */
const MEANWHILE = 12
/** Longer than all of it takes (ms). */
const ILLNESS = 600_000
const REASON = 'the bank moves house'
/** Between two looks (ms). */
const LOOK = 100

export interface Picture {
  name: string
  path: string
  /** What must be seen before it is taken. */
  shows: string
  /** Of the page, from the top (px). */
  height: number
}

/** In the order in which they are taken. */
export const pictures: readonly Picture[] = [
  { name: 'overview', path: '/', shows: REASON, height: 780 },
  { name: 'waiting', path: `/tasks/order-${BEFORE + 1}`, shows: 'circuit breaker', height: 500 },
  { name: 'breaker', path: '/agents/payments', shows: REASON, height: 800 },
  { name: 'way-back', path: `/tasks/order-${undone()}`, shows: 'The way back', height: 680 },
]

/** The first order that stock refuses, once it is paid and shipped. */
function undone(): number {
  const refuses = (service: string, number: number) =>
    chance(SEED, service, 'refusal', `order-${number}`) < (rough.refusals[service] ?? 0)
  for (let number = 1; ; number++)
    if (refuses('stock', number) && !refuses('payment', number) && !refuses('shipping', number)) return number
}

/** Runs the example until all that is to be seen is there, and takes the pictures. */
export async function takePictures(page: Page, taken: (picture: Picture, image: Buffer) => void): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'triarch-pictures-'))
  const fleet = await startFleet({ dir, db: join(dir, 'orders.db'), seed: SEED, agent: 'node' })
  try {
    await happen(fleet)
    for (const picture of pictures) {
      await page.setViewportSize({ width: 1280, height: picture.height })
      await page.goto(fleet.url + picture.path)
      await page.getByText(picture.shows).first().waitFor()
      await page.waitForLoadState('networkidle', { timeout: 2_000 }).catch(() => undefined)
      taken(picture, await page.screenshot())
    }
  } finally {
    await fleet.stop()
    rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }
}

async function stopped(url: string): Promise<number> {
  const asked = `filter=${encodeURIComponent('status:stopped')}&limit=${BEFORE}`
  return (await fetched<{ tasks: unknown[] }>(`${url}/api/v1/tasks?${asked}`)).tasks.length
}

/** Some orders are fulfilled or undone; then the bank falls ill, and a person keeps its breaker open. */
async function happen({ url, services }: Fleet): Promise<void> {
  await placeOrders({ url, orders: BEFORE, seed: SEED }, () => undefined)
  await until(async () => (await stopped(url)) === BEFORE)
  const payment = services.find(({ name }) => name === 'payment')?.current.url
  await fetch(`${payment}/illness/${ILLNESS}`, { method: 'POST' })
  for (let number = BEFORE + 1; number <= BEFORE + MEANWHILE; number++)
    await place(`${url}/orders`, orderOf(number, SEED))
  await until(async () => (await fetched<{ state: string }>(`${url}/api/v1/breakers/payments`)).state === 'open')
  await fetched(`${url}/api/v1/breakers/payments/open`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ reason: REASON }),
  })
}

async function fetched<T>(url: string, init?: RequestInit): Promise<T> {
  const response = await fetch(url, init)
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(LOOK)
}
