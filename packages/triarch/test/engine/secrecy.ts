import {
  agent,
  type Json,
  PermanentError,
  type TaskChange,
  type TaskHandle,
  TransientError,
  type Triarch,
  workflow,
} from '../../src/index.ts'

/** How the ways differ: each has a mark of its own in its secret, by which it is found wherever it leaks, in whatever escaping. */
export const ways = [
  ...['input', 'output', 'stepInput', 'stepOutput', 'signal', 'checkpoint', 'heartbeat', 'suspension', 'selfSignal'],
  ...['resumed', 'local', 'retried', 'skipped', 'childOwn', 'schedule', 'operation', 'plan', 'planStep', 'nested'],
  'substitute',
] as const
export type Way = (typeof ways)[number]

export const markOf = (way: Way): string => `Mk${ways.indexOf(way).toString().padStart(2, '0')}xQ7zK9`

/** The ways whose secrets are in the text, be it in Base64. */
export function leaksIn(text: string): Way[] {
  return ways.filter((way) => {
    const mark = markOf(way)
    const forms = ['', 'a', 'aa'].map((before) => {
      const encoded = Buffer.from(before + mark).toString('base64')
      return encoded.slice(Math.ceil((before.length * 8) / 6), Math.floor(((before.length + mark.length) * 8) / 6))
    })
    return [mark, ...forms].some((form) => text.includes(form))
  })
}

/** A text with a mark, written so that no two ways of quoting it are the same. */
export type Form = (mark: string) => string

/** Workflows that pass secrets through every way there is; each is marked as secret once, where it comes from, and nowhere else. */
export function secrecy(form: Form) {
  const secret = (way: Way) => form(markOf(way))
  const said = (value: unknown) => `it was ${JSON.stringify(JSON.stringify({ said: value }))}`
  const url = (value: string) => `https://bank.example/x?key=${encodeURIComponent(value.toWellFormed())}`
  const own = agent('vault')
  const tokens: string[] = []
  const login = own.action('login', {
    secrets: ['password', 'token', 'deep.*.key'],
    present: ({ input, output }) => said([input, output]),
    hints: ({ input }) => said(input),
    run({ password }: { password: string }, step) {
      step.log.info(`in with ${said(password)}`, { password, [password]: url(password) })
      step.heartbeat({ progress: { token: secret('heartbeat') }, checkpoint: { token: secret('checkpoint') } })
      return { token: secret('stepOutput'), deep: [{ key: secret('nested') }] }
    },
  })
  /** Knows nothing of secrets. */
  const use = own.action('use', {
    run(given: Json, step) {
      step.log.warn(said(given), { given })
      return {
        used: given,
        quoted: said(given),
        basic: Buffer.from(`user:${JSON.stringify(given)}`).toString('base64'),
      }
    },
    undo: ({ input }) => Promise.reject(new PermanentError(`not undone: ${said(input)}`)),
  })
  const fails = own.action('fails', {
    retry: { attempts: 2, backoff: { initial: 10 } },
    rescue: 'fail',
    run: (given: Json) =>
      Promise.reject(
        Object.assign(new TransientError(said(given), { cause: new Error(url(JSON.stringify(given))) }), {
          details: { given },
        }),
      ),
  })
  const waits = own.action('waits', {
    secrets: ['pin'],
    run(_: null, step, event) {
      step.log.info('has', { event: event?.payload })
      tokens.push(step.token)
      if (event?.name === 'resume') return { ...(event.payload as object), text: said(event.payload) }
      return step.suspend({
        checkpoint: { pin: secret('suspension') },
        signals: [{ name: 'alarm', in: '100d', payload: { pin: secret('selfSignal') } }],
      })
    },
  })
  const held = own.action('held', {
    secrets: ['pin'],
    rescue: 'pause',
    run: ({ pin }: { pin: string }) => Promise.reject(new PermanentError(said(pin))),
  })
  const substituted = own.action('substituted', {
    secrets: ['pin'],
    retry: { attempts: 1 },
    rescue: { skip: { pin: secret('substitute') } },
    run: (_: null): Promise<{ pin: string }> => Promise.reject(new Error('no')),
  })
  /** What it is given is secret in its parent, and nothing of it says so. */
  const child = workflow('child', {
    async run(given: Json, task) {
      task.log.info(said(given), { given })
      task.progress({ given })
      await task.run(use, given).catch(() => null)
      return { given, text: said(given) }
    },
  })
  const failing = workflow('failing', {
    run: async (given: Json): Promise<never> => Promise.reject(new Error(said(given))),
  })
  const maker = workflow('maker', {
    secrets: ['pin'],
    run: async (_: null) => ({ pin: secret('childOwn'), text: secret('childOwn') }),
  })
  const hook = workflow('hook', { run: async (given: TaskChange, task) => void (await task.run(use, given as never)) })
  const flow = workflow('flow', {
    secrets: ['pin'],
    hooks: [{ on: 'stopped', workflow: hook }],
    async run(given: { pin: string; again: string[]; run?: number }, task): Promise<Json> {
      const handed: Json[] = [given.pin]
      if (given.run === 2) {
        await task.run(use, given)
        throw new PermanentError(said(given), { cause: new Error(url(given.pin)) })
      }
      task.log.info(said(given.pin), { pin: given.pin, at: url(given.pin) })
      task.progress({ text: said(given.pin), [given.pin]: 1 })
      const { token, deep } = await task.run(login, { password: secret('stepInput') })
      task.log.info(`the token is ${token}`, { token })
      handed.push(token, secret('stepInput'), deep[0]?.key as string)
      const local = await task.run('local', () => ({ pin: secret('local') }), { secrets: ['pin'] })
      const { pin: instead } = await task.run(substituted, null)
      handed.push(local.pin, instead)
      await task.run(use, { header: `Bearer ${token}`, list: handed, url: url(token) })
      await task.run(fails, { list: handed }).catch(() => null)
      await task.call(child, { list: handed, quoted: said(handed) })
      await task.call(failing, { list: handed }).catch((error) => task.log.error(String(error), { error }))
      const { pin, text } = await task.call(maker, null)
      await task.run(use, { pin, text })
      await task.batch('items', { workflow: child, items: [{ list: handed }, said(handed)] })
      const heard = (await task.waitForSignal('go')) as { pin: string }
      task.progress({ heard: said(heard.pin), heards: heard.pin })
      await task.run(use, { heard: said(heard) })
      const resumed = await task.run(waits, null)
      await task.run(use, { resumed } as never)
      await task.run(held, { pin: given.pin })
      await task.sleep('1h')
      if (given.again.length === 0) return { pin: secret('output'), all: handed, text: said([...handed, pin, heard]) }
      return task.continueAsNew({
        pin: secret('output'),
        again: [said(handed), heard.pin, ...given.again],
        run: 2,
      } as never)
    },
  })
  const planned = workflow('planned', {
    secrets: ['pin'],
    plan({ pin }: { pin: string }, it) {
      const { output } = it.step(login, { password: secret('planStep') })
      it.step(use, { pin, token: output.token, known: secret('planStep') } as never)
      return { pin, token: output.token } as never
    },
  })
  const workflows = [flow, child, failing, maker, hook, planned]

  /** Passes all of them through, and leaves tasks in every state behind. `until`: waits until it is so, moving time where that stands still. */
  async function play(triarch: Triarch, until: (what: () => Promise<boolean>) => Promise<void>): Promise<void> {
    const is = (task: TaskHandle<unknown>, status: string) => until(async () => (await task.status()).status === status)
    const suspended = (count: number) => until(async () => tokens.length >= count)
    const start = async (id: string, again: string[]) => {
      const options = { id, metadata: { note: `for ${secret('input')}` } }
      const task = await triarch.submit(flow, { pin: secret('input'), again }, options)
      await triarch.tasks.get(id).signal('go', { pin: secret('signal') })
      const before = tokens.length
      await suspended(before + 1)
      await triarch.tasks.resume(tokens.at(-1) as string, { pin: secret('resumed'), by: secret('resumed') })
      await is(task, 'paused')
      return task
    }
    const one = await start('one', [])
    const step = (await one.status()).pause && (await one.steps()).find(({ name }) => name === 'held')?.id
    await one.retry({ step: step as number, input: { pin: secret('retried') }, reason: 'again' })
    await until(
      async () =>
        (await one.status()).pause !== undefined &&
        (await one.steps()).some(({ id, attempts }) => id === step && attempts >= 2),
    )
    await one.skip({ step: step as number, output: { pin: secret('skipped') } })
    await until(async () => (await one.status()).status === 'stopped')
    const two = await start('two', ['x'])
    const other = (await two.steps()).find(({ name }) => name === 'held')?.id
    await two.skip({ step: other as number, output: { pin: secret('skipped') } })
    await until(async () => (await two.status()).pause?.cause === 'undo')
    await start('three', ['x'])
    await is(await triarch.submit(planned, { pin: secret('plan') }, { id: 'planned' }), 'stopped')
    const order = { filter: 'id:three', action: 'signal', confirm: 1, reason: 'all of them' } as const
    const options = { name: 'go', payload: { pin: secret('operation'), other: [secret('operation')] } }
    const operation = await triarch.tasks.operate({ ...order, options }, { id: 'operation' })
    await is(operation as TaskHandle<unknown>, 'stopped')
    const input = { pin: secret('schedule'), again: [secret('schedule')] }
    await triarch.schedules.get('daily').register({ workflow: flow, input, every: '100d' })
    await triarch.submit(
      flow,
      { pin: secret('input'), again: [] },
      { id: 'later', startAt: new Date(Date.UTC(2100, 0)) },
    )
  }
  return { workflows, agents: [own], play, secret }
}

/** Moves the time of a test engine until it is so. */
export const advancing =
  (engine: { advance(span: '10m'): Promise<void> }) =>
  async (what: () => Promise<boolean>): Promise<void> => {
    for (let tries = 0; tries < 200; tries++) {
      if (await what()) return
      await engine.advance('10m')
    }
    throw new Error('it never comes to be')
  }

/** Everything that the library shows of what is in the store, a text for each view. */
export async function* viewsOf(triarch: Triarch): AsyncGenerator<[view: string, text: string]> {
  const { tasks } = await triarch.tasks.list({ limit: 1_000 })
  const text = (value: unknown) => JSON.stringify(value) ?? ''
  yield ['list', text(tasks)]
  yield ['schedules', text(await triarch.schedules.list())]
  yield ['audit', text(await triarch.audit.list())]
  yield ['alerts', text(await triarch.alerts.list())]
  for (const { id } of tasks) {
    const task = triarch.tasks.get(id)
    yield [`status of ${id}`, text(await task.status())]
    yield [`steps of ${id}`, text(await task.steps())]
    yield [`plan of ${id}`, text(await task.plan())]
    yield [`children of ${id}`, text(await task.children())]
    yield [`explanation of ${id}`, text(await task.explain())]
    yield [`logs of ${id}`, text(await task.logs({ limit: 1_000 }))]
    yield [`export of ${id}`, text(await task.export())]
    const history = await task.history()
    yield [`history of ${id}`, text(history)]
    for (const { seq } of history.slice(-3)) yield [`moment ${seq} of ${id}`, text(await task.moment(seq))]
    for await (const info of task.watch()) {
      yield [`watch of ${id}`, text(info)]
      break
    }
  }
}
