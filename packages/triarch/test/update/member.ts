// One process of a roll-out, of whatever version 'triarch' is where this file lies: node member.ts <store> <journal> [later]
// `later`: it knows one migration more than that version.
import { appendFileSync, existsSync } from 'node:fs'
import {
  agent,
  PermanentError,
  type StepContext,
  type SubmitOptions,
  type TaskContext,
  Triarch,
  workflow,
} from 'triarch'
import { sqlite } from 'triarch/sqlite'
import type { StoreFactory } from 'triarch/store'

const [place = '', journal = '', version = 'today'] = process.argv.slice(2)

/** Each effect is a line of its own. */
const write = (kind: string, step: StepContext) =>
  appendFileSync(journal, `${JSON.stringify({ kind, task: step.taskId, key: step.idempotencyKey })}\n`)

const shop = agent('shop', { concurrency: 100 })
const policy = { retry: { attempts: 20, backoff: { initial: 20, max: 50 } }, attemptWithin: 5_000 }
const buy = shop.action('buy', {
  ...policy,
  run(item: string, step) {
    write('buy', step)
    return item
  },
  undo: (_, step) => write('undo', step),
})
/** Fails, for good, until the file of this name is there. */
const check = shop.action('check', {
  ...policy,
  rescue: 'pause',
  run(file: string) {
    if (!existsSync(file)) throw new PermanentError('not yet')
    return 'checked'
  },
})
/** Holds its attempt until the file is there. */
const slow = shop.action('slow', {
  ...policy,
  attemptWithin: 60_000,
  async run(file: string, step) {
    while (!existsSync(file)) await pause(20, step)
    write('slow', step)
    return 'slow'
  },
})
const ask = shop.action('ask', {
  ...policy,
  run(file: string, step) {
    if (step.received?.name === 'resume') return step.received.payload
    appendFileSync(file, step.token)
    return step.suspend()
  },
})
/** Is undone only when the file is there. */
const book = shop.action('book', {
  ...policy,
  undoRetry: { attempts: 1_000, backoff: { initial: 20, max: 20 } },
  run: (file: string) => file,
  undo({ input }, step) {
    if (!existsSync(input)) throw new Error('not yet')
    write('unbooked', step)
  },
})

function pause(ms: number, { signal }: StepContext): Promise<void> {
  return new Promise((resolve, reject) => {
    setTimeout(() => (signal.aborted ? reject(signal.reason) : resolve()), ms)
  })
}

const small = workflow('small', {
  async run(name: string, task) {
    if (name === 'wait') await task.waitForSignal('go')
    return task.run(buy, name)
  },
})

/** A little of everything, with two signals on the way. */
const journey = workflow('journey', {
  async run(name: string, task: TaskContext) {
    const first = await task.run(buy, 'first')
    await task.waitForSignal('one')
    const child = await task.call(small, 'child')
    const both = await Promise.all([task.run(buy, 'left'), task.run(buy, 'right'), task.sleep(20)])
    const lock = await task.lock('counter')
    const answer = await task.transaction('answer', () => 42)
    lock.release()
    await task.waitForSignal('two')
    const { success } = await task.batch('all', { workflow: small, items: ['a', 'b', 'c'], concurrency: 2 })
    const local = await task.run('local', (step) => step.idempotencyKey)
    return { name, first, child, both: both.slice(0, 2), answer, success, local }
  },
})
const listening = workflow('listening', { run: async (_: string, task) => task.waitForSignal('go') })
const checking = workflow('checking', { run: async (file: string, task) => task.run(check, file) })
const working = workflow('working', { run: async (file: string, task) => task.run(slow, file) })
const asking = workflow('asking', { run: async (file: string, task) => task.run(ask, file) })
const holding = workflow('holding', {
  async run(_: string, task) {
    const lock = await task.lock('one')
    await task.waitForSignal('go')
    lock.release()
    return 'held'
  },
})
const parting = workflow('parting', { run: async (_: string, task) => task.call(small, 'wait') })
const failing = workflow('failing', {
  async run(file: string, task) {
    await task.run(book, file)
    throw new PermanentError('over')
  },
})
const planned = workflow('planned', {
  plan(file: string, plan) {
    const a = plan.step(buy, 'a')
    const b = plan.step(slow, file)
    return { a: a.output, b: b.output }
  },
})
const crowd = workflow('crowd', {
  run: async (_: string, task) =>
    (await task.batch('all', { workflow: small, items: ['wait', 'b', 'c'], concurrency: 3 })).success,
})
const round = workflow('round', {
  async run(name: string, task) {
    if (name.length < 3) return task.continueAsNew(`${name}x`)
    await task.waitForSignal('go')
    return task.run(buy, name)
  },
})
const workflows = {
  ...{ small, journey, listening, checking, working, asking, holding, parting, failing, planned, crowd, round },
}

/** The store, as today's code opens it, or as later code does. */
async function storeAt(url: string): Promise<StoreFactory> {
  const more = version === 'later' ? await import('./later.ts') : null
  if (url.startsWith('/')) {
    if (!more) return sqlite(url)
    const { SqliteStore } = await import('../../src/store/sqlite/store.ts')
    const { migrations } = await import('../../src/store/sqlite/migrations/index.ts')
    const settings = { path: url, writer: 'auto', busyTimeout: 10_000, migrate: 'auto' } as const
    return (environment) => new SqliteStore(environment, { ...settings, migrations: [...migrations, more.ofSqlite] })
  }
  const [address, schema] = url.split('#')
  const options = { ...(address && { url: address }), ...(schema && { schema }) }
  if (!more) return (await import('@triarch/postgres')).postgres(options)
  const { PostgresStore } = await import('../../../postgres/src/store.ts')
  const settings = (await import('../../../postgres/src/options.ts')).settingsOf(options)
  const migrations = [...settings.migrations, more.ofPostgres]
  return (environment) => new PostgresStore(environment, { ...settings, migrations })
}

const triarch = new Triarch({
  store: await storeAt(place),
  agents: [shop],
  workflows: Object.values(workflows),
  lease: 1_500,
  sweep: 100,
  poll: 10,
  onError: (error: unknown) => console.error(error instanceof Error ? error.stack : error),
})

/** What the test may ask for. */
const operations = {
  async submit(name: keyof typeof workflows, input: string, options: SubmitOptions) {
    await triarch.submit(workflows[name], input, options)
  },
  async schedule(name: string) {
    await triarch.schedules.get(name).register({ workflow: small, input: 'due', every: '1h' })
  },
  schedules: async () => (await triarch.schedules.list()).schedules.map(({ name }) => name),
  signal: (id: string, name: string) => triarch.tasks.get(id).signal(name),
  thaw: (id: string) => triarch.tasks.get(id).thaw(),
  retry: (id: string) => triarch.tasks.get(id).retry(),
  cancel: (id: string) => triarch.tasks.get(id).cancel(),
  resume: (token: string, value: string) => triarch.tasks.resume(token, value),
  status: async (id: string) => {
    const { status, outcome, output } = await triarch.tasks.get(id).status()
    return { status, result: outcome, output }
  },
  children: async (id: string) => (await triarch.tasks.get(id).children()).tasks.map((child) => child.id),
  /** The signals that the task waits for. */
  awaited: async (id: string) =>
    (await triarch.tasks.get(id).explain()).reasons.flatMap((reason) =>
      reason.code === 'signal' ? [reason.name] : [],
    ),
  stop: () => triarch.stop({ grace: 2_000 }),
}

// Whoever started it is gone: so is this.
process.once('disconnect', () => process.exit())
process.on('message', async ({ id, name, args }: { id: number; name: keyof typeof operations; args: never[] }) => {
  try {
    const value = await (operations[name] as (...args: never[]) => Promise<unknown>)(...args)
    process.send?.({ id, value }, () => name === 'stop' && process.exit())
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? error.stack : String(error) })
  }
})
await triarch.start()
process.send?.({ id: 0 })
