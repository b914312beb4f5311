import { describe, expect, it } from 'vitest'
import { agent, type TaskChange, type TaskContext, type Triarch, workflow } from '../../src/index.ts'
import { codeOf, stage } from './harness.ts'

const fine = workflow('fine', { run: async (_: unknown) => null })

/** Everything a user may give as a text that a store keeps as such. `from`: what a workflow does. */
const places: Record<
  string,
  { ask: (triarch: Triarch, text: string) => unknown } | { from: (task: TaskContext, text: string) => unknown }
> = {
  'the id of a task': { ask: (triarch, id) => triarch.submit(fine, null, { id }) },
  'the id of a task that is looked for': { ask: async (triarch, id) => triarch.tasks.get(id) },
  'the id of a task to come after': { ask: (triarch, after) => triarch.submit(fine, null, { after }) },
  'a lock': { ask: (triarch, key) => triarch.submit(fine, null, { exclusive: { key } }) },
  'the name of a tag': { ask: (triarch, name) => triarch.submit(fine, null, { tags: { [name]: 'x' } }) },
  'the value of a tag': { ask: (triarch, tag) => triarch.submit(fine, null, { tags: { tag } }) },
  'the tag of a schedule': {
    ask: (triarch, tag) =>
      triarch.schedules.get('s').register({ workflow: fine, input: null, every: '1h', tags: { tag } }),
  },
  'the reason of a pause': {
    ask: async (triarch, reason) => {
      await triarch.schedules.get('s').register({ workflow: fine, input: null, every: '1h' })
      await triarch.schedules.get('s').pause({ reason })
    },
  },
  'the name of a schedule': { ask: async (triarch, name) => triarch.schedules.get(name) },
  'a tag to list by': { ask: (triarch, tag) => triarch.tasks.list({ tags: { tag } }) },
  'a workflow to list by': { ask: (triarch, workflow) => triarch.tasks.list({ workflow }) },
  'a version to list by': { ask: (triarch, version) => triarch.tasks.list({ version }) },
  'a parent to list by': { ask: (triarch, parent) => triarch.tasks.list({ parent }) },
  'a cursor': { ask: (triarch, cursor) => triarch.tasks.list({ cursor }) },
  'the name of a signal': {
    ask: async (triarch, name) => (await triarch.submit(fine, null, { startAt: '1h' })).signal(name),
  },
  'the name of a probe': { ask: (triarch, name) => triarch.health.probes({ names: [name] }) },
  'an error to count by': { ask: (triarch, error) => triarch.statistics.figures({ error }) },
  'a workflow to count by': { ask: (triarch, workflow) => triarch.statistics.figures({ workflow }) },
  'a token': { ask: (triarch, text) => triarch.tasks.resume(text) },
  'the task in a token': {
    ask: (triarch, text) => triarch.tasks.resume(Buffer.from(JSON.stringify([text, 1, 'k'])).toString('base64url')),
  },
  'the signal of a token': {
    ask: (triarch, event) =>
      triarch.tasks.resume(Buffer.from('["t",1,"k"]').toString('base64url'), null, { name: event }),
  },
  'the tag of a child': { from: (task, tag) => task.start(fine, null, { tags: { tag } }) },
  'the id of a child': { from: (task, id) => task.start(fine, null, { id }) },
  'the tag of the children of a batch': {
    from: (task, tag) => task.batch('b', { workflow: fine, items: [1], child: { tags: { tag } } }),
  },
  'the lock of a task': { from: (task, name) => task.lock(name) },
  'the name of a local step': { from: (task, name) => task.run(name, () => null) },
  'the name of a signal waited for': { from: (task, name) => task.waitForSignal(name) },
}

describe.each([
  ['NUL', 'a\0b'],
  ['half a character', 'a\ud800b'],
])('%s is refused at the sender, by code, and nobody else hears of it', (_, text) => {
  it.each(Object.entries(places))('in %s', async (_, place) => {
    const flow = workflow('flow', {
      run: async (_: null, task) => codeOf((async () => ('from' in place ? place.from(task, text) : null))()),
    })
    await using s = await stage({ workflows: [flow, fine] })
    if ('ask' in place)
      return expect(await codeOf((async () => place.ask(s.engine.triarch, text))())).toMatch(/^INVALID_/)
    const task = await s.submit(flow, null)
    await s.settle()
    expect(await task.result()).toMatch(/^INVALID_/)
  })

  it('in payloads it comes back as it was', async () => {
    const own = agent('own')
    const echo = own.action('echo', { run: async (said: { text: string }) => said })
    const flow = workflow('flow', {
      run: async (said: { text: string }, task) => [said, await task.run(echo, said), await task.waitForSignal('said')],
    })
    await using s = await stage({ workflows: [flow], agents: [own] })
    const task = await s.submit(flow, { text })
    await task.signal('said', { text })
    await s.settle()
    expect(await task.result()).toEqual([{ text }, { text }, { text }])
  })
})

describe("a task's origin", () => {
  it('of a schedule keeps the secrets and hooks of its workflow, and no view shows them', async () => {
    const told: unknown[] = []
    const hook = workflow('hook', { run: async (change: TaskChange) => void told.push(change.task) })
    const secret = workflow('secret', {
      secrets: ['pin'],
      hooks: [{ on: 'success', workflow: hook }],
      run: async (input: { pin: string }) => input,
    })
    await using s = await stage({ workflows: [secret, hook], sweep: '1s' })
    const schedule = s.engine.triarch.schedules.get('often')
    await schedule.register({ workflow: secret, input: { pin: '1234' }, every: '1m' })
    await s.advance('2m')
    expect(told.length).toBeGreaterThan(0)
    const seen = [await schedule.info(), await s.engine.triarch.schedules.list(), await s.engine.triarch.tasks.list()]
    expect(JSON.stringify(seen)).not.toContain('1234')
  })

  it('says which step asked for it, whatever its id', async () => {
    const flow = workflow('flow', {
      async run(_: null, task) {
        await task.call(fine, null, { id: 'of the first' })
        await task.call(fine, null)
        await task.call(fine, null, { id: 'of the third' })
      },
    })
    await using s = await stage({ workflows: [flow, fine] })
    const task = await s.submit(flow, null)
    await s.settle()
    await s.advance('1s')
    const of = async (step: number) => (await task.children({ step })).tasks.map(({ id }) => id)
    expect([await of(1), await of(2), await of(3)]).toEqual([
      ['of the first'],
      [expect.stringContaining(task.id)],
      ['of the third'],
    ])
  })
})
