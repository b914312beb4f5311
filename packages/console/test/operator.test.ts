import type { Browser, Page } from 'playwright-core'
import { agent, workflow } from 'triarch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch, Stage } from './stage.ts'
import { expectUsable } from './usable.ts'

const state = { isIll: true }
const bank = agent('bank', {
  circuitBreaker: { minimum: 4, window: '1m', open: '3s', openMax: '3s', probes: 1 },
})
const charge = bank.action('charge', {
  retry: { attempts: 50, backoff: { initial: '1ms', max: '1ms' } },
  async run(_: null) {
    if (state.isIll) throw new Error('the bank does not answer')
    return 'charged'
  },
})
const order = workflow('order', { run: (_: null, task) => task.run(charge, null) })
const sync = workflow('sync', {
  exclusive: { key: () => 'host:db1' },
  run: (_: null, task) => task.waitForSignal('done'),
})
const report = workflow('report', { run: async (given: { of: string }) => `report of ${given.of}` })
const doctor = agent('doctor')
const look = doctor.action('look', {
  ...{ rescue: 'pause', retry: { attempts: 1 } },
  run: async (_: null) => {
    throw new Error('nobody is at home')
  },
})
const visit = workflow('visit', { run: (_: null, task) => task.run(look, null) })

let browser: Browser
let stage: Stage
beforeAll(async () => {
  browser = await launch()
  stage = await Stage.open({
    ...{ workflows: [order, sync, report, visit], agents: [bank, doctor], operations: true },
    ...{ statistics: {}, sweep: '100ms' },
  })
})
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]()
  await browser?.close()
})

/** Fills in what is asked for, does it, and closes what says that it is done. */
async function done(page: Page, act: string, given: Readonly<Record<string, string>> = {}): Promise<void> {
  const dialog = page.getByRole('dialog')
  for (const [label, value] of Object.entries(given)) await dialog.getByLabel(label).fill(value)
  await dialog.getByRole('button', { name: act, exact: true }).click()
  await page.getByText('Recorded.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
}

describe('an operator', () => {
  it('sees a circuit breaker open by itself, probe, let go in waves and close; and forces it, for a while and for good', async () => {
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/agents/bank`)
    await page.getByRole('region', { name: 'Circuit breaker bank' }).getByRole('heading').getByText('closed').waitFor()
    const tasks = await Promise.all(Array.from({ length: 12 }, () => stage.triarch.submit(order, null)))
    const breaker = page.getByRole('region', { name: 'Circuit breaker bank' })
    await breaker.getByRole('heading').getByText('open').waitFor()
    await breaker.getByText('Opens when 50% of at least 4 calls within 1 min fail.').waitFor()
    await expectUsable(page)
    await page.getByText('Queued').waitFor()
    state.isIll = false
    await Promise.all(tasks.map((task) => task.result()))
    const changes = breaker.getByRole('region', { name: 'Changes' })
    await breaker.getByRole('heading').getByText('closed').waitFor()
    const became = () => changes.locator('tbody td:nth-child(2)').allInnerTexts()
    const ways = ['closed', 'releasing', 'half open', 'open'].map((it) => expect.stringContaining(it))
    await expect.poll(async () => (await became()).slice(0, 4)).toEqual(ways)
    // By hand: for some minutes, then closed again, then as if nothing had been.
    await breaker.getByRole('button', { name: 'Open breaker' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Duration in minutes').fill('soon')
    await dialog.getByLabel('Reason').fill('the bank moves house')
    await dialog.getByRole('button', { name: 'Open breaker' }).click()
    await dialog.getByText('Enter a number').waitFor()
    await done(page, 'Open breaker', { 'Duration in minutes': '30' })
    await breaker.getByText('Next probe').waitFor()
    expect((await stage.triarch.breakers.get('bank').info()).nextProbe?.getTime()).toBeGreaterThan(0)
    const waits = await stage.triarch.submit(order, null)
    await breaker.getByRole('button', { name: 'Close breaker' }).click()
    await done(page, 'Close breaker', { Reason: 'it has moved' })
    await waits.result()
    await breaker.getByRole('heading').getByText('closed').waitFor()
    await breaker.getByRole('button', { name: 'Reset breaker' }).click()
    await done(page, 'Reset breaker', { Reason: 'as good as new' })
    await changes.getByText('as good as new').waitFor()
  })

  it('finds on the first page what needs somebody, with one button each', async () => {
    await stage.triarch.submit(visit, null, { id: 'v-1' })
    await stage.triarch.breakers.get('bank').open({ reason: 'no money on Sundays' })
    // The node hears of it within a moment.
    let kept = ''
    const isKept = async () => {
      kept = (await stage.triarch.submit(order, null)).id
      return (await stage.triarch.tasks.get(kept).status()).waits?.map(({ code }) => code)
    }
    await expect.poll(isKept).toEqual(['breaker'])
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/tasks/${kept}`)
    await page.locator('.why').getByText('It was opened by an operator').waitFor()
    await page.locator('.why').getByRole('link', { name: 'Agent bank' }).click()
    await page.getByRole('region', { name: 'Circuit breaker bank' }).waitFor()
    await page.goto(stage.url)
    const needs = page.getByRole('region', { name: 'Needs attention' })
    await needs.getByRole('row', { name: 'nobody is at home' }).getByRole('button', { name: 'Resume' }).waitFor()
    await needs.getByRole('row', { name: 'no money on Sundays' }).getByRole('button', { name: 'Close breaker' }).click()
    await done(page, 'Close breaker', { Reason: 'it is Monday' })
    await needs.getByText('no money on Sundays').waitFor({ state: 'detached' })
    await stage.triarch.submit(visit, null, { id: 'v-2', frozen: true })
    await page.reload()
    const asked = needs.getByRole('row', { name: 'Awaiting approval (visit)' })
    await asked.getByRole('link', { name: 'v-2' }).waitFor()
    await asked.getByRole('button', { name: 'Approve' }).click()
    await done(page, 'Approve', { Reason: 'they may come' })
    await asked.waitFor({ state: 'detached' })
    await needs.getByRole('row', { name: 'v-1' }).getByRole('button', { name: 'Resume' }).click()
    await done(page, 'Resume', { Reason: 'somebody came home' })
    const said = (await stage.triarch.tasks.get('v-1').history()).flatMap(({ events }) => events)
    expect(said).toContainEqual(expect.objectContaining({ reason: 'somebody came home' }))
  })

  it('reads in plain words when a schedule runs, runs it now, makes up for what is past, and pauses it', async () => {
    const nightly = stage.triarch.schedules.get('nightly')
    await nightly.register({
      workflow: report,
      input: { of: 'today' },
      cron: '30 4 * * 1-5',
      timeZone: 'Europe/Vienna',
    })
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/schedules`)
    await page.getByText('At 04:30, Monday through Friday').waitFor()
    await page.getByRole('link', { name: 'nightly' }).click()
    await expect.poll(() => page.getByRole('listitem').count()).toBe(10)
    await expectUsable(page)
    await page.getByRole('button', { name: 'Run now' }).click()
    await done(page, 'Run now', { Reason: 'the files came late' })
    const runs = page.getByRole('region', { name: 'Runs of this schedule' })
    await runs.getByRole('row', { name: 'nightly@' }).getByText('success').waitFor()
    await page.getByRole('button', { name: 'Backfill' }).click()
    await page.getByRole('dialog').getByLabel('From').fill('last week')
    await page.getByRole('dialog').getByLabel('To').fill('2026-01-09T12:00:00Z')
    await page.getByRole('dialog').getByRole('button', { name: 'Backfill' }).click()
    await page.getByRole('dialog').getByText('Enter date and time').waitFor()
    await done(page, 'Backfill', { From: '2026-01-05T12:00:00Z' })
    await page.getByText('4 tasks started.').waitFor()
    await runs.getByRole('link', { name: 'nightly@2026-01-09T03:30:00.000Z' }).waitFor()
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await done(page, 'Pause', { Reason: 'stock-taking' })
    await page.getByText('stock-taking').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await done(page, 'Resume')
    await page.getByText('stock-taking').waitFor({ state: 'detached' })
    expect((await stage.triarch.audit.list({ action: 'schedule.run' })).entries).toEqual([
      expect.objectContaining({ reason: 'the files came late', subject: 'schedule:nightly' }),
    ])
  })

  it('sees who holds a lock and who waits for it, and goes there', async () => {
    for (const id of ['s-1', 's-2', 's-3']) await stage.triarch.submit(sync, null, { id })
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/locks`)
    const picture = page.getByRole('region', { name: 'Wait graph' })
    await expect.poll(() => picture.getByRole('link').count()).toBe(3)
    await expectUsable(page)
    await stage.triarch.tasks.get('s-1').signal('done', null)
    await picture.getByRole('link', { name: 's-1' }).waitFor({ state: 'detached' })
    await picture.getByRole('link', { name: 's-3' }).click()
    await page.waitForURL(/tasks\/s-3$/)
    await page.locator('.why').getByRole('link', { name: 's-2' }).waitFor()
  })

  it('has all counted anew, and sees how far behind the figures are', async () => {
    await (await stage.triarch.submit(report, { of: 'now' })).result()
    const page = await stage.window(browser)
    await page.goto(`${stage.url}/statistics`)
    await page.getByText(/Counted up to .* behind/).waitFor()
    await page.getByRole('button', { name: 'Rebuild statistics' }).click()
    await done(page, 'Rebuild statistics', { Reason: 'a version that counts more' })
    expect((await stage.triarch.audit.list({ action: 'statistics.recount' })).entries).toEqual([
      expect.objectContaining({ reason: 'a version that counts more' }),
    ])
    await page.getByRole('region', { name: 'Workflows' }).getByRole('row', { name: 'report' }).waitFor()
  })

  it('is told which right is missing, and cannot press what needs it', async () => {
    await using strict = await Stage.open(
      { workflows: [report], agents: [bank], operations: true },
      { authenticate: () => ({ id: 'ada', rights: ['read'] }) },
    )
    await strict.triarch.breakers
      .get('bank')
      .open({ reason: 'no money on Sundays' })
      .catch(() => undefined)
    await strict.triarch.schedules.get('nightly').register({ workflow: report, input: { of: 'x' }, cron: '0 3 * * *' })
    const page = await strict.window(browser)
    await page.goto(`${strict.url}/schedules`)
    await page.getByText('This needs the right schedules').waitFor()
    for (const act of ['Run now', 'Backfill', 'Pause'])
      await expect.poll(() => page.getByRole('table').getByRole('button', { name: act }).isDisabled()).toBe(true)
    await page.goto(`${strict.url}/tasks?filter=status:running`)
    await page.getByText('This needs the right control').waitFor()
    const cancel = page.getByRole('button', { name: 'Cancel', exact: true })
    await expect.poll(() => cancel.isDisabled()).toBe(true)
  })
})
