// A payment service for the tests to call: fresh for each test, in this process, with the faults a test asks for.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { calm, type Profile } from '../services/faults.ts'
import type { LedgerRows } from '../services/ledger.ts'
import { payment } from '../services/payment.ts'
import { type Server, serve } from '../services/server.ts'

export interface Answer {
  status: number
  body: object
  headers: Headers
}

let dir: string
let server: Server | undefined

export const payments = {
  /** How long a request waits for its answer, in ms. */
  patience: 10_000,

  get url() {
    return server?.url
  },

  async start(profile: Partial<Profile> = {}, seed = 1): Promise<void> {
    server = await serve(payment, { dir, seed, profile: { ...calm, faultyReceipts: 1, ...profile } })
  },

  async stop(): Promise<void> {
    await server?.close()
    server = undefined
  },

  async forget(): Promise<void> {
    await rm(dir, { recursive: true })
    dir = await mkdtemp(join(tmpdir(), 'orders-'))
  },

  async post(path: string, key: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(`${server?.url}/${path}`, {
      method: 'POST',
      headers: { 'idempotency-key': key, ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(this.patience),
    })
    return { status: response.status, body: (await response.json()) as object, headers: response.headers }
  },

  charge(key: string, orderId = 'o1'): Promise<Answer> {
    return this.post('charge', key, { orderId, amount: 5 })
  },

  async get<Body extends object = { output?: unknown }>(path: string): Promise<Body> {
    return (await (await fetch(`${server?.url}/${path}`)).json()) as Body
  },

  ledger(): Promise<LedgerRows> {
    return this.get<LedgerRows>('ledger')
  },
}

export function chargeIdOf({ body }: Answer): string {
  return (body as { chargeId: string }).chargeId
}

beforeEach(async () => {
  payments.patience = 10_000
  dir = await mkdtemp(join(tmpdir(), 'orders-'))
})
afterEach(async () => {
  await payments.stop()
  await rm(dir, { recursive: true })
})
