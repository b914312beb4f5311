import { describe, expect, it } from 'vitest'
import { agent, PermanentError, type TaskChange, type TaskHook, workflow } from '../../src/index.ts'
import { childOf, codeOf, stage } from '../engine/harness.ts'
import { scratch } from '../engine/scratch.ts'

function office() {
  const told: string[] = []
  const broken = new Set<string>()
  const own = agent('office')
  const write = own.action('write', {
    run({ task, from, to, outcome }: TaskChange) {
      if (broken.has('pen')) throw new Error('the pen is broken')
      told.push(`${task} ${from} ${to} ${outcome}`)
    },
  })
  const act = own.action('act', {
    rescue: 'pause',
    run(name: string) {
      if (broken.has(name)) throw new PermanentError('broken')
    },
  })
  const tell = workflow('tell', { run: (change: TaskChange, task) => task.run(write, change) })
  const flow = (hooks: readonly TaskHook[]) =>
    workflow('flow', { hooks, plan: (name: string, plan) => void plan.step(act, name) })
  return { told, broken, tell, flow, agents: [own] }
}

describe('a hook', () => {
  it('runs its workflow for each move into its states, and for the results it names', async () => {
    const { told, broken, tell, flow, agents } = office()
    const watched = flow([{ on: ['running', 'paused', 'success'], workflow: tell }])
    broken.add('b')
    await using s = await stage({ workflows: [watched, tell], agents })
    await s.submit(watched, 'a', { id: 'a' })
    const b = await s.submit(watched, 'b', { id: 'b' })
    await s.settle()
    expect(told.sort()).toEqual(['a planned running pending', 'a running stopped success', 'b planned running pending', 'b running paused pending']) // biome-ignore format: one line
    told.length = 0
    broken.clear()
    await b.resume()
    await s.settle()
    expect(told.sort()).toEqual(['b paused running pending', 'b running stopped success'])
  })

  it('comes from the node that submits for all its tasks, and not for those of hooks', async () => {
    const { told, tell, flow, agents } = office()
    const plain = flow([])
    await using s = await stage({ workflows: [plain, tell], agents, hooks: [{ on: 'stopped', workflow: tell }] })
    await s.submit(plain, 'a', { id: 'a' })
    await s.settle()
    expect(told).toEqual(['a running stopped success'])
    expect((await s.engine.triarch.tasks.list({ workflow: 'tell' })).tasks).toHaveLength(1)
  })

  it('is a task of its own: tried again, told apart from its cause, found by it', async () => {
    const { told, broken, tell, flow, agents } = office()
    const watched = flow([{ on: 'success', workflow: tell }])
    broken.add('pen')
    await using s = await stage({ workflows: [watched, tell], agents })
    const task = await s.submit(watched, 'a', { id: 'a' })
    await task.result()
    broken.clear()
    await s.advance('5s')
    expect(told).toEqual(['a running stopped success'])
    expect((await task.children()).tasks).toMatchObject([{ workflow: 'tell', outcome: 'success' }])
  })

  it('happens once for each move, though the nodes that make it die or know nothing of it', async () => {
    const { told, tell, flow, agents } = office()
    const watched = flow([{ on: ['cancelled'], workflow: tell }])
    using file = scratch()
    const options = { poll: '1s', store: file.store } as const
    const first = await stage({ ...options, workflows: [watched, tell], agents })
    await first.submit(watched, 'a', { id: 'a', startAt: '1h' })
    await first.kill()
    // This one has none of the code, and can cancel all the same.
    const second = await stage({ ...options, seed: 2 })
    await second.engine.tasks.get('a').cancel()
    await second.advance('1m')
    await second.kill()
    for (let life = 3; life < 5; life++) {
      await using s = await stage({ ...options, workflows: [watched, tell], agents, seed: life })
      await s.advance('1m')
    }
    expect(told).toEqual(['a scheduled stopped cancelled'])
  })

  it('is recorded with children too', async () => {
    const { told, tell, flow, agents } = office()
    const watched = flow([{ on: 'success', workflow: tell }])
    const parent = workflow('parent', {
      async run(_: null, task) {
        await task.call(watched, 'a', { id: 'child' })
        await task.batch('each', { workflow: watched, items: ['b'] })
      },
    })
    await using s = await stage({ workflows: [parent, watched, tell], agents })
    await s.submit(parent, null, { id: 'p' })
    await s.settle()
    expect(told.sort()).toEqual([
      'child running stopped success',
      `${await childOf(s, 'p', '2.0')} running stopped success`,
    ])
  })

  it('names states that there are', async () => {
    const { tell, flow } = office()
    const bad = (hook: unknown) => codeOf(Promise.resolve().then(() => flow([hook as TaskHook])))
    expect(await bad({ on: 'pending', workflow: tell })).toBe('INVALID_OPTION')
    expect(await bad({ on: 'stopped', workflow: {} })).toBe('UNKNOWN_WORKFLOW')
    expect(await bad({ on: 'stopped', workflow: tell, when: 1 })).toBe('UNKNOWN_OPTION')
  })
})

describe('an action that subscribes to another', () => {
  it('is planned whenever that is, beside it, or after it if it refers to what it gives', async () => {
    const log: string[] = []
    const hosts = agent('hosts')
    const create = hosts.action('create', { run: async (name: string) => ({ address: `${name}.lan` }) })
    const other = agent('other')
    const note = other.action('note', { run: (text: string) => void log.push(text) })
    other.action('beside', { subscribe: [create], run: (name: string) => void log.push(`create ${name}`) })
    other.action('behind', {
      subscribe: [create],
      plan(_: string, plan) {
        const created = plan.subscribed?.output as { address: string } | undefined
        plan.step(note, created?.address ?? '')
      },
    })
    const flow = workflow('flow', {
      plan(_: null, plan) {
        plan.sequence(() => {
          plan.step(create, 'a')
          plan.step(create, 'b')
        })
      },
    })
    await using s = await stage({ workflows: [flow], agents: [hosts, other] })
    const task = await s.submit(flow, null)
    await task.result()
    expect(log.sort()).toEqual(['a.lan', 'b.lan', 'create a', 'create b'])
    const steps = (await task.plan())?.steps ?? []
    expect(steps.map(({ name }) => name)).toEqual(['create', 'beside', 'note', 'create', 'beside', 'note'])
    // In a sequence nothing waits for what subscribes.
    expect(steps[3]?.after).toEqual([1])
    expect(steps[2]?.after).toEqual([1])
    expect(steps[4]?.after).toEqual([1])
    await using without = await stage({ workflows: [flow], agents: [hosts] })
    expect((await (await without.submit(flow, null)).plan())?.steps).toHaveLength(2)
  })

  it('may not plan what it subscribes to', async () => {
    const own = agent('own')
    const a = own.action('a', { run: (_: string) => 1 })
    own.action('b', { subscribe: [a], plan: (name: string, plan) => void plan.step(a, name) })
    const flow = workflow('flow', { plan: (_: null, plan) => void plan.step(a, 'x') })
    await using s = await stage({ workflows: [flow], agents: [own] })
    expect(await codeOf(s.submit(flow, null))).toBe('PLAN_MISUSE')
  })
})
