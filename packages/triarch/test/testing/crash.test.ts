import { describe, expect, it } from 'vitest'
import { agent, PermanentError, type StepContext, workflow } from '../../src/index.ts'
import { type CrashReport, CrashTestError, crashEverywhere } from '../../src/testing/index.ts'

/** A bank that does what it is asked once for each idempotency key. */
function fakeBank({ forgetful = false } = {}) {
  const booked = new Map<string, number>()
  const book = (step: StepContext, amount: number) => {
    const key = forgetful ? `${step.idempotencyKey} ${booked.size}` : step.idempotencyKey
    booked.set(key, amount)
  }
  const bank = agent('bank')
  const retry = { attempts: 4, backoff: { initial: '1s' } } as const
  const debit = bank.action('debit', {
    retry,
    run: async (amount: number, step) => {
      book(step, -amount)
      return { debited: amount }
    },
    undo: ({ input }, step) => book(step, input),
  })
  const credit = bank.action('credit', { retry, run: async (amount: number, step) => book(step, amount) })
  const notify = bank.action('notify', { semantics: 'at-most-once', rescue: 'skip', run: async (_: string) => null })
  return { bank, debit, credit, notify, booked, total: () => [...booked.values()].reduce((sum, one) => sum + one, 0) }
}

async function failed(test: Promise<unknown>): Promise<CrashReport> {
  const error = await test.catch((error: unknown) => error)
  expect(error).toBeInstanceOf(CrashTestError)
  return (error as CrashTestError).report
}

describe('crashEverywhere', () => {
  it('runs a workflow with each fault at each place, and it ends well or is undone', async () => {
    const { bank, debit, credit, notify, booked, total } = fakeBank()
    const transfer = workflow('transfer', {
      async run(amount: number, task) {
        const { debited } = await task.run(debit, amount)
        await task.sleep('10m')
        await task.run(credit, debited)
        await task.run(notify, 'done')
        return { moved: debited }
      },
    })
    const report = await crashEverywhere(transfer, 10, {
      agents: [bank],
      before: () => booked.clear(),
      check: () => expect(total()).toBe(0),
    })
    expect(report.calm).toMatchObject({ fault: null, outcome: 'success', output: { moved: 10 } })
    expect(report.failures).toEqual([])
    expect(report.runs).toBeGreaterThan(20)
    expect(report.outcomes.success).toBeGreaterThan(10)
    expect(report.outcomes.compensated).toBeGreaterThan(0)
    for (const fault of ['crash-before', 'crash-after', 'unheard', 'fails', 'unanswered', 'refuses'] as const)
      expect(report.faults[fault], fault).toBeGreaterThan(1)
  })

  it('minds no refusal that leaves a workflow which is undone anyway with nothing to undo', async () => {
    const { bank, debit, booked, total } = fakeBank()
    const broke = bank.action('broke', {
      run(_: null): never {
        throw new PermanentError('no')
      },
    })
    const transfer = workflow('transfer', {
      async run(amount: number, task) {
        await task.run(debit, amount)
        return task.run(broke, null)
      },
    })
    const check = () => expect(total()).toBe(0)
    const report = await crashEverywhere(transfer, 10, { agents: [bank], before: () => booked.clear(), check })
    expect(report.calm.outcome).toBe('compensated')
    expect(report.failures).toEqual([])
    expect(report.outcomes.error).toBe(1)
  })

  it('finds an action that does its work twice', async () => {
    const { bank, debit, booked, total } = fakeBank({ forgetful: true })
    const pay = workflow('pay', { run: (amount: number, task) => task.run(debit, amount) })
    const report = await failed(
      crashEverywhere(pay, 10, {
        agents: [bank],
        before: () => booked.clear(),
        check: ({ outcome }) => expect(total()).toBe(outcome === 'success' ? -10 : 0),
      }),
    )
    expect(report.failures.map(({ problem }) => problem)).toContain('check failed')
    expect(report.failures.map(({ fault }) => fault)).toContain('unanswered')
    expect(report.failures[0]?.history.map(({ type }) => type)).toContain('stepRequested')
  })

  it('finds code that is not the same each time', async () => {
    const { bank, debit, credit } = fakeBank()
    let runs = 0
    const fickle = workflow('fickle', {
      async run(_: null, task) {
        if (runs++ % 2 === 0) await task.run(debit, 1)
        else await task.run(credit, 1)
        await task.run(credit, 2)
      },
    })
    const before = () => {
      runs = 0
    }
    const options = { agents: [bank], before, faults: ['crash-after'] as const }
    const { failures } = await failed(crashEverywhere(fickle, null, options))
    expect(failures[0]).toMatchObject({ problem: 'ended otherwise', message: expect.stringContaining('mismatch') })
  })

  it('finds a workflow that waits for what nobody sends', async () => {
    const waits = workflow('waits', { run: (_: null, task) => task.waitForSignal('never') })
    const report = await failed(crashEverywhere(waits, null, { within: '2h' }))
    expect(report.failures).toMatchObject([{ fault: null, at: 'undisturbed', problem: 'stuck' }])
  })

  it('finds a result that a repeated attempt changes', async () => {
    const shop = agent('shop')
    let orders = 0
    const order = shop.action('order', { run: async (_: null) => ++orders })
    const buy = workflow('buy', { run: (_: null, task) => task.run(order, null) })
    const before = () => {
      orders = 0
    }
    const report = await failed(crashEverywhere(buy, null, { agents: [shop], before }))
    expect(report.failures[0]).toMatchObject({ problem: 'ended otherwise', message: 'its output is 2; undisturbed, 1' })
  })

  it('runs plans, with references, finalizers and undo', async () => {
    const cloud = agent('cloud')
    const up = new Set<string>()
    const create = cloud.action('create', {
      retry: { attempts: 3, backoff: { initial: '1s' } },
      run: async ({ name }: { name: string }) => {
        up.add(name)
        return { address: `${name}.example` }
      },
      undo: ({ input }) => void up.delete(input.name),
      finalize: async () => undefined,
    })
    const infrastructure = workflow('infrastructure', {
      plan(_: null, plan) {
        const [db] = plan.concurrence(() => [plan.step(create, { name: 'db' }), plan.step(create, { name: 'storage' })])
        plan.step(create, { name: db.output.address })
        return { db: db.output.address }
      },
    })
    const report = await crashEverywhere(infrastructure, null, {
      agents: [cloud],
      before: () => up.clear(),
      check: ({ outcome }) => expect(up.size).toBe(outcome === 'success' ? 3 : 0),
    })
    expect(report.calm.output).toEqual({ db: 'db.example' })
    expect(report.outcomes.compensated).toBeGreaterThan(0)
    expect(report.calm.attempts.map(({ operation }) => operation)).toContain('finalize')
  })

  it('sends events, resumes steps, and runs children and local steps', async () => {
    const yard = agent('yard')
    const tokens: string[] = []
    const build = yard.action('build', {
      run: async (_: null, step, event) => {
        if (event) return event.payload as string
        tokens.push(step.token)
        return step.suspend()
      },
    })
    const child = workflow('child', {
      async run(_: null, task) {
        task.undo(() => undefined)
        return task.run('note', () => 'noted', { undo: () => undefined })
      },
    })
    const ship = workflow('ship', {
      async run(_: null, task) {
        const built = await task.run(build, null)
        const noted = await task.call(child, null)
        return [built, noted, await task.waitForSignal<string>('go')]
      },
    })
    const report = await crashEverywhere(ship, null, {
      agents: [yard],
      workflows: [child],
      before: () => void tokens.splice(0),
      async drive({ task, triarch, sleep }) {
        await task.signal('go', 'gone')
        while (tokens.length === 0) await sleep('1s')
        await triarch.tasks.resume(tokens[0] as string, 'built')
      },
    })
    expect(report.calm.output).toEqual(['built', 'noted', 'gone'])
    expect(report.calm.attempts.map(({ action }) => action)).toContain('note')
  })

  it('shows an at-most-once step that an operator must decide about', async () => {
    const mail = agent('mail')
    const send = mail.action('send', { semantics: 'at-most-once', run: async (_: null) => null })
    const tell = workflow('tell', { run: (_: null, task) => task.run(send, null) })
    const report = await crashEverywhere(tell, null, { agents: [mail] })
    expect(report.outcomes.paused).toBeGreaterThan(0)
    expect(report.outcomes.success).toBeGreaterThan(0)
  })

  it('tries no more runs than allowed, and says how many were left', async () => {
    const { bank, debit } = fakeBank()
    const pay = workflow('pay', { run: (amount: number, task) => task.run(debit, amount) })
    const report = await crashEverywhere(pay, 1, { agents: [bank], runs: 5, nodes: 1 })
    expect(report.runs).toBe(6)
    expect(report.left).toBeGreaterThan(5)
  })

  it('gives the same report each time', async () => {
    const { bank, debit } = fakeBank()
    const pay = workflow('pay', {
      run: (amount: number, task) => task.run(debit, amount).catch(() => Promise.reject(new PermanentError('no'))),
    })
    const once = () => crashEverywhere(pay, 1, { agents: [bank] })
    expect(await once()).toEqual(await once())
  })

  it.each([
    [{ faults: ['flood'] }, 'INVALID_OPTION'],
    [{ nodes: 0 }, 'INVALID_OPTION'],
    [{ lease: 'long' }, 'INVALID_DURATION'],
    [{ agent: [] }, 'UNKNOWN_OPTION'],
    [{ check: 1 }, 'INVALID_OPTION'],
  ])('refuses %j', async (options, code) => {
    const nothing = workflow('nothing', { run: async () => null })
    await expect(crashEverywhere(nothing, null, options as never)).rejects.toMatchObject({ code })
  })
})
