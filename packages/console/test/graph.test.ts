import type { Browser, Page } from 'playwright-core'
import { agent, workflow } from 'triarch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { draw } from '../src/task/graph/draw.ts'
import { type FlowRecord, flowOfHistory, flowOfPlan } from '../src/task/graph/flow.ts'
import { closing, groupsOf } from '../src/task/graph/group.ts'
import { DOWN, layout } from '../src/task/graph/layout.ts'
import { launch, Stage } from './stage.ts'
import { expectUsable } from './usable.ts'

describe('what came after what', () => {
  const told = (...turns: FlowRecord['events'][]) => flowOfHistory(turns.map((events, at) => ({ seq: at + 1, events })))
  const ask = (id: number, name = `s${id}`) => ({ type: 'stepRequested', id, name })
  const done = (id: number) => ({ type: 'stepCompleted', id })

  it('is seen in what a function was told when it asked', () => {
    const { nodes, bundles } = told([ask(1), ask(2)], [done(1)], [done(2), ask(3)], [done(3)])
    expect(nodes.map(({ id, state }) => [id, state])).toEqual([
      [1, 'success'],
      [2, 'success'],
      [3, 'success'],
    ])
    // It waited for both, and heard of the first one before: nothing in the history says that it was waited for.
    expect(bundles).toEqual([
      { from: [2], to: [3], isLoose: false },
      { from: [1], to: [3], isLoose: true },
    ])
  })

  it('knows signals that come before anybody waits, children, timers, and what was called off', () => {
    const { nodes, bundles } = told(
      [{ type: 'signalReceived', name: 'go' }],
      [{ type: 'waitStarted', id: 1, name: 'go' }, { type: 'timerStarted', id: 2, name: '1 h' }, ask(3)],
      [done(3), { type: 'waitCancelled', id: 2 }, { type: 'childStarted', id: 4, name: 'kid', task: 'o-1.4' }],
      [{ type: 'childStopped', id: 4, outcome: 'error' }],
    )
    expect(nodes.map(({ id, kind, state, task }) => [id, kind, state, task])).toEqual([
      [1, 'signal', 'success', undefined],
      [2, 'timer', 'cancelled', undefined],
      [3, 'step', 'success', undefined],
      [4, 'child', 'error', 'o-1.4'],
    ])
    expect(bundles.find(({ to }) => to.includes(4))).toEqual({ from: [3, 2], to: [4], isLoose: false })
  })

  it('forgets what a task that was tried again, or began anew, has left behind', () => {
    const again = told(
      [ask(1)],
      [done(1), ask(2)],
      [{ type: 'stepFailed', id: 2 }, ask(3)],
      [{ type: 'reset', step: 2 }],
    )
    expect(again.nodes.map(({ id, state }) => [id, state])).toEqual([
      [1, 'success'],
      [2, 'running'],
    ])
    expect(told([ask(1)], [{ type: 'continuedAsNew' }, ask(2)]).nodes.map(({ id }) => id)).toEqual([2])
  })
})

describe('a picture of steps', () => {
  const plan = (id: number, after: number[], within: string[] = [], name = `s${id}`) => {
    return { id, action: `a.${name}`, name, after, within, standing: 'waiting' }
  }

  it('has all that comes after something to its right, and nothing upon something else', () => {
    const edges = Array.from({ length: 1_900 }, (_, at) => ({ from: (at * 7) % 100, to: 100 + at })).concat(
      Array.from({ length: 900 }, (_, at) => ({ from: 100 + at, to: 1_050 + ((at * 13) % 950) })),
    )
    const { x, y } = layout(2_000, edges)
    for (const { from, to } of edges) expect((x[to] ?? 0) - (x[from] ?? 0)).toBeGreaterThan(0)
    const columns = Map.groupBy([...x.keys()], (node) => x[node])
    for (const nodes of columns.values()) {
      const levels = nodes.map((node) => y[node] ?? 0).sort((a, b) => a - b)
      for (const [at, level] of levels.entries())
        if (at > 0) expect(level - (levels[at - 1] ?? 0)).toBeGreaterThan(DOWN - 0.01)
    }
  })

  it('goes on in a line below where it would be much longer than high, and bears a circle', () => {
    const chain = layout(
      2_000,
      Array.from({ length: 1_999 }, (_, at) => ({ from: at, to: at + 1 })),
    )
    expect(chain.width / chain.height).toBeLessThan(4)
    const circle = layout(3, [
      { from: 0, to: 1 },
      { from: 1, to: 2 },
      { from: 2, to: 0 },
    ])
    expect([...circle.x]).toEqual([0, 232, 464])
    expect(layout(0, []).width).toBe(0)
  })

  it('draws many that come after many with as many lines as there are ends', () => {
    const [some, others] = [1, 1_001].map((first) => Array.from({ length: 1_000 }, (_, at) => first + at))
    const steps = [...(some ?? []).map((id) => plan(id, [])), ...(others ?? []).map((id) => plan(id, some ?? []))]
    const picture = draw({ number: 1, plan: steps, records: [], closed: [] })
    expect(picture.nodes).toHaveLength(2_000)
    expect(picture.lines).toHaveLength(2_000)
    expect(picture.knots).toHaveLength(2)
  })

  it('draws a sub-plan, or many that are alike, as one until somebody wants to see them', () => {
    const alike = Array.from({ length: 20 }, (_, at) => plan(2 + at, [1], [], 'index'))
    const inner = [plan(30, [2], ['deploy']), plan(31, [30], ['deploy', 'check']), plan(32, [31], ['deploy', 'check'])]
    const flow = flowOfPlan([plan(1, []), ...alike, ...inner, plan(40, [32])])
    const groups = groupsOf(flow)
    const found = groups.map(({ name, members }) => [name, members.length])
    expect(found).toEqual(expect.arrayContaining([['deploy', 3], ['check', 2], ['index', 19]])) // biome-ignore format: one line
    const shut = closing(flow, groups, new Set(groups.map(({ key }) => key)))
    expect(shut.nodes.map(({ name }) => name).sort()).toEqual(['deploy', 'index', 'index', 's1', 's40'])
    expect(shut.bundles.every(({ from, to }) => from.length > 0 && to.length > 0)).toBe(true)
    // At first, only big crowds.
    const picture = draw({ number: 1, plan: [plan(1, []), ...alike], records: [], closed: null })
    expect(picture.nodes.map(({ name, group }) => [name, group?.members.length])).toEqual([
      ['s1', undefined],
      ['index', 20],
    ])
  })
})

describe('the graph of a task', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  const depot = agent('depot')
  const once = { retry: { attempts: 1 }, undoRetry: { attempts: 1 } }
  const down = new Set<string>()
  const act = (name: string) =>
    depot.action(name, {
      ...once,
      rescue: 'pause',
      run: async () => {
        if (down.has(name)) throw new Error(`nobody answers at ${name}`)
        return name
      },
      undo: async () => undefined,
    })
  const [charge, pack, ship] = [act('charge'), act('pack'), act('ship')]
  const kid = workflow('kid', { run: async () => 'grown' })
  const parcel = workflow('parcel', {
    async run(_: null, task) {
      await Promise.all([task.run(charge, null), ...Array.from({ length: 14 }, () => task.run(pack, null))])
      await task.call(kid, null)
      await task.waitForSignal('ready')
      await task.run(ship, null)
      return 'sent'
    },
  })
  const SIDE = 40
  const large = workflow('large', {
    plan(_: null, plan) {
      let before = Array.from({ length: SIDE }, () => plan.step(ship, null))
      for (let layer = 1; layer < 2_000 / SIDE; layer++)
        before = before.map((_, at) =>
          plan.step(pack, [before[at]?.output, before[(at * 7 + 3) % SIDE]?.output] as never),
        )
      return null
    },
  })
  const options = { workflows: [parcel, kid, large], agents: [depot] }

  it('shows what a function asked for, leads to each step, and is walked by the keyboard', async () => {
    down.clear()
    await using stage = await Stage.open(options)
    const task = await stage.triarch.submit(parcel, null, { id: 'p-1' })
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/tasks/p-1`)
    await page.getByRole('tab', { name: 'Graph' }).click()
    const list = page.getByRole('region', { name: 'List view' })
    await list.getByRole('button', { name: 'ready' }).waitFor()
    await list.getByRole('button', { name: 'pack ×14' }).waitFor()
    await list.getByRole('row', { name: /kid.*child.*success/ }).waitFor()
    await list.getByRole('row', { name: /ready.*signal.*waiting.*kid/ }).waitFor()
    await expectUsable(page)
    const surface = page.getByRole('application')
    await surface.focus()
    await page.keyboard.press('ArrowRight')
    await page.waitForURL(/step=1$/)
    const chosen = page.getByRole('region', { name: 'Selection' })
    await chosen.getByText('charge').first().waitFor()
    // Its input, its attempts: what the page of steps shows of it.
    await chosen.getByRole('region', { name: 'Attempts' }).getByText('success').waitFor()
    await page.keyboard.press('ArrowDown')
    await chosen.getByText('pack').first().waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('17 drawn, 15 steps').waitFor()
    await page.getByRole('button', { name: 'Collapse all' }).click()
    await page.getByText('4 drawn, 15 steps').waitFor()
    for (const key of ['0', '+', '-']) await surface.press(key)
    await expectUsable(page)
    // It moves while one looks.
    await task.signal('ready', null)
    await list.getByRole('row', { name: /ship.*step.*success.*ready/ }).waitFor()
    await task.compensate({ reason: 'sent back' })
    await list.getByRole('row', { name: /ship.*compensated/ }).waitFor()
    await page.locator('.edge.back').first().waitFor({ state: 'attached' })
  })

  it('draws 2,000 steps without keeping the window from anything for 100 ms', async () => {
    down.add('ship')
    await using stage = await Stage.open(options)
    const task = await stage.triarch.submit(large, null, { id: 'l-1' })
    await expect.poll(async () => (await task.status()).status, { timeout: 30_000 }).toBe('paused')
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/tasks/l-1?tab=data`)
    await page.getByRole('tab', { name: 'Graph' }).waitFor()
    const worker = page.waitForEvent('worker')
    await browser.startTracing(page, { categories: ['toplevel', '__metadata'] })
    await page.getByRole('tab', { name: 'Graph' }).click()
    await worker
    await page.locator('svg[data-nodes="2000"]').waitFor()
    const surface = page.getByRole('application')
    await surface.focus()
    for (let press = 0; press < 12; press++) await page.keyboard.press('+')
    await page.keyboard.press('ArrowRight')
    await page.getByRole('region', { name: 'Selection' }).waitFor()
    const tasks = tasksOf(await browser.stopTracing())
    // Of the processor, not of the clock: how busy the machine is else does not count.
    expect(tasks.filter((ms) => ms > 100)).toEqual([])
    expect(tasks.length).toBeGreaterThan(10)
    // However many there are, only what is seen is in the page.
    expect(await elementsIn(page)).toBeLessThan(1_500)
    await page.keyboard.press('0')
    await page.locator('.mark.waiting').waitFor({ state: 'attached' })
    expect(await elementsIn(page)).toBeLessThan(50)
  })
})

function elementsIn(page: Page): Promise<number> {
  return page.locator('.surface svg *').count()
}

/** How much of the processor each task of the main threads of windows took (ms). */
function tasksOf(trace: Buffer): number[] {
  interface Traced {
    name: string
    pid: number
    tid: number
    tdur?: number
    args?: { name?: string }
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: Traced[] }
  const main = traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
  const ids = new Set(main.map(({ pid, tid }) => `${pid} ${tid}`))
  return traceEvents
    .filter(({ name, pid, tid, tdur }) => name.endsWith('RunTask') && tdur !== undefined && ids.has(`${pid} ${tid}`))
    .map(({ tdur = 0 }) => tdur / 1_000)
}
