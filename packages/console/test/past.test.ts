import type { Browser } from 'playwright-core'
import { agent, workflow } from 'triarch'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launch, Stage } from './stage.ts'
import { expectUsable } from './usable.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())

const depot = agent('depot')
const once = { retry: { attempts: 1 }, undoRetry: { attempts: 1 } }
const charge = depot.action('charge', { ...once, run: async () => 'charged', undo: async () => undefined })
const pack = depot.action('pack', { ...once, run: async () => 'packed' })
const ship = depot.action('ship', {
  ...once,
  run: async () => 'shipped',
  async undo() {
    throw new Error('nobody answers')
  },
})
const parcel = workflow('parcel', {
  async run(_: null, task) {
    await task.run(charge, null)
    await task.run(pack, null)
    await task.waitForSignal('ready')
    await task.run(ship, null)
    return 'sent'
  },
})

it('shows a task as it was at each record, by slider, keyboard and address, and what the record changed', async () => {
  await using stage = await Stage.open({ workflows: [parcel], agents: [depot] })
  const task = await stage.triarch.submit(parcel, null, { id: 'p-1' })
  await task.signal('ready', null)
  await task.result()
  const page = await stage.window(browser)
  await page.goto(`${stage.url}/tasks/p-1`)
  await page.getByRole('tab', { name: 'Earlier state' }).click()
  const slider = page.getByRole('slider', { name: 'Record of the history' })
  const { last } = await task.moment()
  await page.getByText(`Record ${last} of ${last}`).waitFor()
  const steps = page.getByRole('region', { name: 'Steps at that time' })
  await slider.focus()
  await page.keyboard.press('Home')
  await page.waitForURL(/at=1$/)
  for (let seq = 1; seq < last; seq++) {
    await page.getByText(`Record ${seq} of ${last}`).waitFor()
    const then = (await task.moment(seq)).steps.map(({ name, status }) => `${name} ${status}`)
    await expect
      .poll(async () => {
        const rows = await steps.locator('tbody tr').allInnerTexts()
        return rows.map((row) => `${row.split('\t')[1]?.trim()} ${row.split('\t')[2]?.replace(/[^a-z]/g, '')}`)
      })
      .toEqual(then)
    await page.keyboard.press('ArrowRight')
  }
  // What is in the address can be sent to somebody else, who sees the same.
  const shipped = (await task.history()).find(({ events }) =>
    events.some((event) => event.type === 'stepCompleted' && event.id > 2),
  )?.seq as number
  await page.goto(`${stage.url}/tasks/p-1?at=${shipped}`)
  const changed = page.getByRole('region', { name: 'Changes by this record' })
  await changed.getByText('shipped').waitFor()
  await expectUsable(page)
  await page.getByRole('button', { name: 'Previous record' }).click()
  await page.waitForURL(new RegExp(`at=${shipped - 1}$`))
  await page.getByRole('tab', { name: 'Steps' }).click()
  await page.waitForURL(/p-1$/)
  stage.expected = /status of 404/
  await page.goto(`${stage.url}/tasks/p-1?at=${last + 7}`)
  await page.getByText('UNKNOWN_RECORD').waitFor()
})

it('tells on the way back what is to be undone from what has no undo', async () => {
  await using stage = await Stage.open({ workflows: [parcel], agents: [depot] })
  const task = await stage.triarch.submit(parcel, null, { id: 'p-1' })
  await task.signal('ready', null)
  await task.result()
  await task.compensate({ reason: 'sent back' })
  const page = await stage.window(browser, { locale: 'de-DE' })
  await page.goto(`${stage.url}/tasks/p-1`)
  const way = page.getByRole('region', { name: 'Der Weg zurück' })
  await way.getByText('nobody answers').waitFor()
  await expect
    .poll(() => way.getByRole('listitem').allInnerTexts())
    .toEqual([
      expect.stringContaining('ship'),
      expect.stringMatching(/pack.*bleibt bestehen/s),
      expect.stringMatching(/charge.*wird noch rückgängig gemacht/s),
    ])
})
