import type { Browser, Page } from 'playwright-core'
import { agent, PermanentError, workflow } from 'triarch'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { launch, Stage } from './stage.ts'
import { expectUsable } from './usable.ts'

const bank = agent('bank')
const charge = bank.action('charge', {
  retry: { attempts: 1 },
  rescue: 'fail',
  run: async (amount: number) => {
    if (amount > 10) throw new PermanentError('the card was declined')
  },
})
const order = workflow('order', {
  async run(amount: number, task) {
    await task.run('reserve', () => null)
    await task.run(charge, amount)
  },
})
const idle = workflow('idle', { run: async (_: null) => null })
const definitions = { workflows: [order, idle], agents: [bank] }

let browser: Browser
let stage: Stage
beforeAll(async () => {
  browser = await launch()
  stage = await Stage.open({ ...definitions, statistics: { tag: 'tenant' }, sweep: '100ms' })
  for (const amount of [1, 2, 3, 20]) {
    const tags = { tenant: amount < 3 ? 'ada' : 'grace' }
    const task = await stage.triarch.submit(order, amount, { id: `o-${amount}`, tags })
    await task.result().catch(() => undefined)
  }
  const ended = () => stage.triarch.statistics.figures({ by: ['outcome'], kind: 'task' })
  const all = ['error 1', 'submitted 4', 'success 3']
  const counted = async () =>
    expect((await ended()).rows.map(({ outcome, count }) => `${outcome} ${count}`)).toEqual(all)
  await vi.waitFor(counted, { timeout: 30_000 })
})
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]()
  await browser?.close()
})

const rowOf = (page: Page, region: string, name: string) =>
  page.getByRole('region', { name: region, exact: true }).getByRole('row', { name }).first()

describe('statistics in the console', () => {
  it('say how much, how long and what fails, as pictures and as tables, and how far behind they are', async () => {
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/statistics`)
    await page.getByText(/Counted up to/).waitFor()
    await rowOf(page, 'Workflows', 'order').waitFor()
    await expect
      .poll(() => rowOf(page, 'Workflows', 'order').getByRole('cell').allInnerTexts())
      .toEqual([...['order', '4', '3', '1', '25%'], ...Array(3).fill(expect.stringMatching(/ m?s$/))])
    await expect.poll(() => rowOf(page, 'Steps', 'bank.charge').innerText()).toMatch(/^bank\.charge\s+3\s+1\s+25%/)
    expect(await rowOf(page, 'Failures', 'PermanentError').innerText()).toMatch(/order/)
    await page.getByLabel('Group by').selectOption('agent')
    await rowOf(page, 'Failures', 'attempt bank 1').waitFor()
    // What the picture shows, in figures.
    await page.getByText('Ended tasks per hour: as a table').click()
    const table = page.getByRole('region', { name: 'Ended tasks per hour' })
    await expect.poll(() => table.getByRole('row').count()).toBe(25)
    await expectUsable(page)
    await rowOf(page, 'Tenants', 'grace').getByRole('button').click()
    await page.waitForURL(/tag=grace/)
    await expect.poll(() => rowOf(page, 'Workflows', 'order').innerText()).toMatch(/^order\s+2\s+1\s+1\s+50%/)
    await page.getByRole('button', { name: 'Tenant: grace' }).click()
    await expect.poll(() => rowOf(page, 'Workflows', 'order').innerText()).toMatch(/^order\s+4/)
  })

  it('stand where one looks: on the overview, and with each workflow, whose last runs are shown step by step', async () => {
    const page = await stage.window(browser)
    await page.goto(stage.url)
    await page.getByRole('region', { name: 'Last 24 hours' }).getByText('Submitted').waitFor()
    expect(await rowOf(page, 'Workflows with failures', 'order').innerText()).toMatch(/25%/)
    await expectUsable(page)
    await page.keyboard.press('g')
    await page.keyboard.press('w')
    await expect.poll(() => rowOf(page, 'Workflows', 'order').innerText()).toMatch(/25%/)
    await expect.poll(() => rowOf(page, 'Workflows', 'idle').innerText()).toMatch(/–/)
    await page.getByRole('region', { name: 'Workflows' }).getByRole('link', { name: 'order' }).click()
    const grid = page.getByRole('region', { name: 'Recent runs by step' })
    const charged = grid.getByRole('row', { name: /^bank\.charge|^charge/ })
    await expect
      .poll(() => charged.getByRole('cell').allInnerTexts())
      .toEqual([/error/, /success/, /success/, /success/].map((it) => expect.stringMatching(it)))
    await expectUsable(page)
    await grid.getByRole('link', { name: 'o-20' }).click()
    await page.getByRole('heading', { name: 'Result' }).waitFor()
  })

  it('say in German what they are, and where nobody counts how somebody would', async () => {
    await using quiet = await Stage.open(definitions)
    const page = await quiet.window(browser, { locale: 'de-DE' })
    await page.goto(`${quiet.url}/statistics`)
    await page.getByText('Noch hat niemand gezählt.').waitFor()
    await page.getByText("statistics: { tag: 'tenant' }").waitFor()
    await expectUsable(page)
    const counted = await stage.window(browser, { locale: 'de-DE' })
    await counted.goto(`${stage.url}/statistics`)
    await counted.getByText(/Gezählt ist alles/).waitFor()
    await counted.getByRole('heading', { name: 'Mandanten' }).waitFor()
  })
})
