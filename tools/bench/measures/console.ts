import { files } from '@triarch/console'
import { createServer } from '@triarch/server'
import type { Browser } from 'playwright-core'
import { workflow } from 'triarch'
import { launch } from '../../../packages/console/test/chromium.ts'
import { type FirstView, firstView, held, longestTask } from '../../../packages/console/test/effort.ts'
import { type Bench, type Figure, type Measure, median, timed } from '../measure.ts'
import { fill } from '../sqlite/fill.ts'
import { type Subject, start } from '../subject.ts'

/** Until the first view is there (ms), the longest task meanwhile (ms), what an hour adds to the heap (MB). */
const targets = { shown: 1_000, longest: 100, grown: 2 }
const shelf = workflow('shelf', { run: (_: null, task) => task.waitForSignal('sold') })

export const console: Measure = {
  name: 'console',
  about:
    'the console in Chromium: its first view, 1,000 events a second, 100,000 rows by the cursor, an hour of live updates',
  async run(bench) {
    const path = await bench.place('shelves')
    await fill(path, bench.quick ? 2_000 : 100_000)
    await using subject = await start(path, { workflows: [shelf], roles: [], notices: false })
    await using server = createServer(subject.engine, { workflows: [shelf], console: files })
    const { url } = await server.listen({ port: 0, signals: [] })
    const browser = await launch()
    try {
      return [
        ...(await first(browser, url, bench)),
        ...(await busy(browser, url, subject, bench)),
        ...(await rows(browser, url, bench)),
        ...(await hour(browser, url, subject, bench)),
      ]
    } finally {
      await browser.close()
    }
  },
}

const opened = async (browser: Browser) => (await browser.newContext()).newPage()

async function first(browser: Browser, url: string, { quick }: Bench): Promise<Figure[]> {
  const views: FirstView[] = []
  for (let n = 0; n < (quick ? 1 : 9); n++) views.push(await firstView(await opened(browser), url, '.figures strong'))
  const lower = { better: 'lower' } as const
  const of = (name: keyof FirstView) => median(views.map((it) => it[name]))
  return [
    { what: 'first view painted', value: of('painted'), unit: 'ms', ...lower, target: targets.shown },
    { what: 'first view with figures', value: of('shown'), unit: 'ms', ...lower, target: targets.shown },
    { what: 'requests', value: of('requests'), unit: '', ...lower },
    { what: 'over the network', value: of('bytes') / 1_024, unit: 'KiB', ...lower },
  ]
}

async function busy(browser: Browser, url: string, { engine }: Subject, { quick }: Bench): Promise<Figure[]> {
  const page = await opened(browser)
  await page.goto(`${url}/tasks`)
  await page.locator('tr[data-row]').first().waitFor()
  const value = await longestTask(browser, page, async () => {
    for (let n = 0; n < (quick ? 5 : 100); n++) {
      const lot = engine.submitMany(shelf, Array(100).fill({ input: null }))
      await Promise.all([lot, new Promise((resolve) => setTimeout(resolve, 100))])
    }
  })
  const note = '1,000 events/s'
  return [{ what: 'longest task', value, unit: 'ms', better: 'lower', target: targets.longest, note }]
}

async function rows(browser: Browser, url: string, { quick }: Bench): Promise<Figure[]> {
  const wanted = quick ? 1_000 : 100_000
  const page = await opened(browser)
  await page.goto(`${url}/tasks`)
  const table = page.locator('table')
  let ms = 0
  const value = await longestTask(browser, page, async () => {
    await page.getByRole('button', { name: 'More' }).click()
    ms = await timed(async () => {
      while (Number(await table.getAttribute('aria-rowcount')) < wanted)
        await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    })
  })
  return [
    {
      what: 'longest task, scrolling',
      value,
      unit: 'ms',
      better: 'lower',
      target: targets.longest,
      note: `${wanted} rows`,
    },
    { what: 'rows read', value: (wanted / ms) * 1_000, unit: '/s', better: 'higher' },
  ]
}

async function hour(browser: Browser, url: string, { engine }: Subject, { quick }: Bench): Promise<Figure[]> {
  const page = await opened(browser)
  await page.clock.install()
  await page.goto(`${url}/tasks`)
  await page.locator('tr[data-row]').first().waitFor()
  const session = await page.context().newCDPSession(page)
  const minutes = async (count: number) => {
    for (let second = 0; second < count * 60; second++) {
      if (second % 2 === 0) await engine.submit(shelf, null)
      await page.clock.runFor(1_000)
    }
    return held(session)
  }
  const before = await minutes(quick ? 1 : 5)
  const after = await minutes(quick ? 1 : 60)
  const value = Math.max(0, after.heap - before.heap) / 1_000_000
  const note = `${(before.heap / 1_000_000).toFixed(1)} MB before; of the page's own time`
  return [{ what: 'heap, an hour later', value, unit: 'MB', better: 'lower', target: targets.grown, note }]
}
