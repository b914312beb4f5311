import {
  type Agent,
  agent,
  PermanentError,
  type StepContext,
  TransientError,
  type Workflow,
  workflow,
} from '../../src/index.ts'
import type { Entry, Place } from './ledger.ts'

/** Where services write down what they saw, and the time they live by. */
export interface Book {
  write(kind: Entry['kind'], place: Place): void
  /** Whether the service did what it was asked to under this key. */
  did(key: string): boolean
  /** Waits for so long (ms), unless the signal fires first: rejects with its reason. */
  pause(ms: number, signal: AbortSignal): Promise<void>
}

/** How one step misbehaves, and the steps whose outputs it was made of. */
export interface Order {
  after?: number[]
  /** Its first attempts fail, before any effect. */
  fails?: number
  /** It takes this long before its effect (ms). */
  slow?: number
  /** Its first attempts say nothing after their effect, until they are given up. */
  hangs?: number
  permanent?: boolean
  /** The first attempts to undo it fail. */
  undoFails?: number
  /** By which of several keys it waits. */
  where?: number
}

/** What a step's output says to the next ones. */
export interface Done {
  step: number
}

export interface Plan {
  size: number
  orders: Order[]
  /** The task's own code fails at its end. */
  fails?: boolean
}

/** The workflows of the crash test and their agents. */
export function workload(ledger: Book | null): {
  agents: Agent[]
  workflows: Record<string, Workflow<Plan, unknown>>
  shop: ReturnType<typeof services>
} {
  const shop = services(ledger)
  const local = (order: Order) => ({
    run: (step: StepContext) => perform(ledger, 'local', order, step),
    undo: (_: unknown, step: StepContext) => takeBack(ledger, 'local', order, step),
  })

  const sequence = workflow('sequence', {
    async run({ orders, fails }: Plan, task) {
      const [a = {}, b = {}, c = {}, d = {}] = orders
      const reserved = await task.run(shop.reserve, a)
      const charged = await task.run(shop.charge, { ...b, after: ids(reserved) })
      await task.sleep(20 + ids(reserved).length)
      const shipped = await task.run(shop.ship, { ...c, after: ids(reserved, charged) })
      const mailed = await task.run(shop.mail, { ...d, after: ids(shipped) })
      if (fails) throw new Error('the sequence fails at its end')
      return ids(reserved, charged, shipped, mailed)
    },
  })

  const fan = workflow('fan', {
    async run({ size, orders, fails }: Plan, task) {
      const parts = Array.from({ length: size }, (_, index) => task.run(shop.reserve, orders[index] ?? {}))
      const all = ids(...(await Promise.all(parts)))
      const first = await Promise.race([task.run(shop.charge, { after: all }), task.sleep('10s')])
      const { run, undo } = local({ after: all })
      const packed = await task.run('pack', run, { undo, retry: quick, attemptWithin: 400 })
      if (fails) await task.run(shop.refuse, { permanent: true, after: ids(packed) })
      return { all, first }
    },
  })

  const listener = workflow('listener', {
    async run({ size }: Plan, task) {
      const heard: unknown[] = []
      while (heard.length < size) {
        heard.push(await task.waitForSignal('news'))
        await task.run(shop.mail, {})
      }
      await task.waitForSignal('never', { timeout: 30 }).catch(() => undefined)
      return heard
    },
  })

  const parent = workflow('parent', {
    async run({ size, orders, fails }: Plan, task) {
      task.undo((step) => takeBack(ledger, 'adhoc', {}, step))
      const children = orders.slice(0, size).map((order, index) => {
        const plan = { size: 2, orders: [order, {}] }
        return index % 2 === 0 ? task.call(sequence, plan) : task.call(fan, plan, { undo: index % 4 === 1 })
      })
      await Promise.allSettled(children)
      const kept = await task.run(shop.reserve, { undoFails: 1 })
      if (fails) throw new Error('the parent fails at its end')
      return ids(kept)
    },
  })

  const batch = workflow('batch', {
    async run({ size, orders, fails }: Plan, task) {
      const items = Array.from({ length: size * 2 }, (_, n) => ({ size: 2, orders: [orders[n % size] ?? {}, {}] }))
      const counts = await task.batch('all', { workflow: sequence, items, concurrency: 3, page: 2, tolerate: 'any' })
      const kept = await task.run(shop.reserve, {})
      if (fails) throw new Error('the batch fails at its end')
      return { ...counts, kept: ids(kept) }
    },
  })

  const loop = workflow('loop', {
    async run({ size, orders }: Plan, task) {
      const done = await task.run(shop.reserve, orders[size % orders.length] ?? {})
      if (size > 1) await task.continueAsNew({ size: size - 1, orders })
      return ids(done)
    },
  })

  const risky = workflow('risky', {
    async run({ orders: [order = {}] }: Plan, task) {
      const reserved = await task.run(shop.reserve, {})
      const told = await task.run(shop.tell, { ...order, after: ids(reserved) })
      const far = await task.run(shop.travel, { slow: 300, after: ids(reserved) })
      return ids(told, far)
    },
  })

  return { agents: [shop.agent], workflows: { sequence, fan, listener, parent, batch, loop, risky }, shop }
}

export const quick = { attempts: 6, backoff: { initial: 20, max: 100 } }

function services(ledger: Book | null) {
  const own = agent('shop', { concurrency: 3 })
  const base = { retry: quick, undoRetry: quick, attemptWithin: 400 }
  const handlers = (action: string) => ({
    run: (order: Order, step: StepContext) => perform(ledger, action, order, step),
    undo: ({ input }: { input: Order }, step: StepContext) => takeBack(ledger, action, input, step),
    verify: (_: Order, step: StepContext) => verify(ledger, action, step),
  })
  const define = (action: string, part: Partial<ReturnType<typeof handlers>>, policy: object = {}) =>
    own.action(action, { ...base, ...policy, run: handlers(action).run, ...part })
  const all = handlers
  const { undo, verify: ask } = {
    undo: (name: string) => ({ undo: all(name).undo }),
    verify: (name: string) => ({ verify: all(name).verify }),
  }
  return {
    agent: own,
    reserve: define('reserve', undo('reserve')),
    charge: define('charge', { ...undo('charge'), ...ask('charge') }),
    ship: define('ship', ask('ship'), { semantics: 'at-most-once' }),
    tell: define('tell', {}, { semantics: 'at-most-once' }),
    mail: define('mail', {}, { rescue: { skip: { step: 0 } }, retry: { ...quick, attempts: 3 } }),
    refuse: define('refuse', {}),
    travel: define('travel', {}, { heartbeatWithin: 200, attemptWithin: 2_000 }),
  }
}

export function ids(...done: (Done | null)[]): number[] {
  return done.flatMap((one) => (one && one.step > 0 ? [one.step] : []))
}

export function placeOf(operation: Place['operation'], action: string, step: StepContext): Place {
  const key = step.idempotencyKey.replace(/:undo$/, '')
  return { operation, key, action, task: step.taskId, step: step.stepId, attempt: step.attempt }
}

export async function perform(ledger: Book | null, action: string, order: Order, step: StepContext): Promise<Done> {
  const place = placeOf('run', action, step)
  ledger?.write('call', place)
  const { attempt, signal } = step
  if (order.permanent) throw new PermanentError('refused for good')
  if (attempt <= (order.fails ?? 0)) throw new TransientError('not now', { retryAfter: 10 })
  for (let left = order.slow ?? 0; left > 0; left -= 40) {
    await ledger?.pause(Math.min(left, 40), signal)
    step.heartbeat({ checkpoint: left })
  }
  signal.throwIfAborted()
  ledger?.write('effect', place)
  if (attempt <= (order.hangs ?? 0)) await ledger?.pause(60_000, signal)
  return { step: step.stepId }
}

export async function takeBack(ledger: Book | null, action: string, order: Order, step: StepContext): Promise<void> {
  const place = placeOf('undo', action, step)
  ledger?.write('call', place)
  await ledger?.pause(5, step.signal)
  if (step.attempt <= (order.undoFails ?? 0)) throw new Error('cannot undo yet')
  ledger?.write('undo', place)
}

function verify(ledger: Book | null, action: string, step: StepContext) {
  const place = placeOf('verify', action, step)
  ledger?.write('call', place)
  return ledger?.did(place.key) ? { done: true as const, output: { step: step.stepId } } : { done: false as const }
}
