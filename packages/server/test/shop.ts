// What the tests serve: an engine on a store of its own, and a server of it whose every answer is judged.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agent, type StoreFactory, Triarch, type TriarchOptions, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { z } from 'zod'
import { createServer, type ServerOptions, type TriarchServer } from '../src/index.ts'
import { judged } from './document.ts'

const bank = agent('bank')
const charge = bank.action('charge', {
  run: async ({ amount }: { amount: number }) => {
    if (amount > 1_000) throw new Error('card declined')
    return { receipt: `r-${amount}` }
  },
  undo: async () => undefined,
  retry: { attempts: 1 },
  rescue: 'pause',
})

const stack = bank.action('stack', { run: async (_: { n: number; text: string }) => null })

/** Done at once. */
export const order = workflow('order', {
  input: z.object({ amount: z.number() }),
  output: z.object({ receipt: z.string() }),
  run: ({ amount }, task) => task.run(charge, { amount }),
})
/** Waits until it is told how to go on. */
export const approval = workflow('approval', {
  signals: { decided: z.object({ by: z.string() }) },
  run: async (_: unknown, task) => (await task.waitForSignal('decided')).by,
})
export const failing = workflow('failing', {
  rescue: 'fail',
  run: async (): Promise<null> => {
    throw new Error('nothing works')
  },
})
export const planned = workflow('planned', {
  plan: (input: { amount: number }, plan) => plan.step(charge, input).output.receipt,
})
/** As many steps as it is told, each with its number, and so many characters of two bytes. */
export const broad = workflow('broad', {
  plan: ({ steps, size }: { steps: number; size: number }, plan) => {
    for (let n = 0; n < steps; n++) plan.step(stack, { n, text: 'é'.repeat(size) })
  },
})
export const parent = workflow('parent', { run: (_: unknown, task) => task.call(order, { amount: 1 }) })
const newer = workflow('order', { version: '2', run: async () => ({ receipt: 'new' }) })

let token = ''
const callback = bank.action('callback', {
  run: async (_: null, step, event): Promise<unknown> => {
    if (event) return event.payload
    token = step.token
    return step.suspend({ timeout: '1h' })
  },
})
export const called = workflow('called', { run: (_: unknown, task) => task.run(callback, null) })

export const workflows = [newer, order, approval, failing, planned, broad, parent, called]

export interface Shop extends AsyncDisposable {
  triarch: Triarch
  server: TriarchServer
  errors: unknown[]
  /** Asks, and has the answer judged. A body that is no string is sent as JSON. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
  /** The same, and what the answer says. */
  json<T = Record<string, never>>(method: string, path: string, body?: unknown): Promise<T>
  token(): string
}

export async function shop(
  options: ServerOptions = {},
  store?: StoreFactory,
  engine: Partial<TriarchOptions> = {},
): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-server-'))
  const triarch = new Triarch({
    store: store ?? sqlite(join(folder, 'store.db'), { writer: 'inline' }),
    operations: true,
    notices: false,
    onError: () => undefined,
    ...engine,
    agents: [bank, ...(engine.agents ?? [])],
    workflows: [...workflows, ...(engine.workflows ?? [])],
  })
  const errors: unknown[] = []
  const open = options.authenticate === undefined && options.keys !== true
  const server = createServer(triarch, { workflows, open, onError: (error) => errors.push(error), ...options })
  const ask: Shop['ask'] = async (method, path, body, headers = {}) => {
    const target = `/api/v1${path}`
    const request = new Request(`http://localhost${target}`, {
      method,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    })
    return judged(method, new URL(request.url).pathname, await server.fetch(request))
  }
  return {
    ...{ triarch, server, errors, ask },
    json: async <T>(method: string, path: string, body?: unknown) =>
      (await (await ask(method, path, body)).json()) as T,
    token: () => token,
    async [Symbol.asyncDispose]() {
      await server.close()
      await triarch.stop({ grace: 0 })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
