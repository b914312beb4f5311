import type { Browser, CDPSession, Page } from 'playwright-core'

/** What a page costs before it can be used. */
export interface FirstView {
  /** Until something is painted, and until what was waited for is there (ms). */
  painted: number
  shown: number
  requests: number
  /** As they came over the network. */
  bytes: number
}

/** Of a page that this browser has never seen. */
export async function firstView(page: Page, url: string, shows: string): Promise<FirstView> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  const came = { requests: 0, bytes: 0 }
  session.on('Network.requestWillBeSent', () => came.requests++)
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    came.bytes += encodedDataLength
  })
  await page.goto(url)
  await page.locator(shows).first().waitFor()
  const { painted, shown } = await page.evaluate(() => ({
    painted: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
    shown: performance.now(),
  }))
  await session.detach()
  return { painted, shown, ...came }
}

interface Traced {
  name: string
  pid: number
  tid: number
  ts: number
  dur?: number
  /** Of the thread's own time (µs): what others do on the machine meanwhile does not count. */
  tdur?: number
  args: { name?: string }
}

/** The longest task (ms of the thread's own time, without garbage collection) that kept the page from answering its user while `work` went on. */
export async function longestTask(browser: Browser, page: Page, work: () => Promise<unknown>): Promise<number> {
  const categories = ['disabled-by-default-devtools.timeline', 'devtools.timeline', '__metadata', 'toplevel']
  await browser.startTracing(page, { categories })
  let trace: Buffer
  try {
    await work()
  } finally {
    trace = await browser.stopTracing()
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: Traced[] }
  const of = ({ pid, tid }: Traced) => `${pid}.${tid}`
  const main = new Set(traceEvents.filter(({ args }) => args?.name === 'CrRendererMain').map(of))
  const tasks = traceEvents.filter((it) => it.name === 'RunTask' && main.has(of(it)))
  if (tasks.length === 0) throw new Error('no task of the page was traced')
  // The tracer's own buffers are collected too, so that what a collection costs says little of the page.
  const collections = traceEvents.filter((it) => it.name.startsWith('V8.GC') && main.has(of(it)))
  const isIn = (task: Traced) => (it: Traced) =>
    of(it) === of(task) && it.ts >= task.ts && it.ts < task.ts + (task.dur ?? 0)
  const own = (task: Traced) => {
    // Collections nest: the longest one is the whole.
    const collected = collections.filter(isIn(task)).reduce((longest, { tdur = 0 }) => Math.max(longest, tdur), 0)
    return ((task.tdur ?? 0) - collected) / 1_000
  }
  return tasks.reduce((longest, task) => Math.max(longest, own(task)), 0)
}

/**
 * What this browser on this machine needs (ms, as `longestTask` measures) to build a plain table of 1,000 rows and eight columns and to lay it out.
 * Limits of a page's tasks are multiples of it, so that a slow or busy machine fails no page.
 */
export async function plainTable(browser: Browser): Promise<number> {
  const page = await browser.newPage()
  try {
    return await longestTask(browser, page, () =>
      page.evaluate(`{
        const table = document.createElement('table')
        for (let row = 0; row < 1_000; row++) {
          const cells = table.insertRow()
          for (let cell = 0; cell < 8; cell++) cells.insertCell().textContent = 'row ' + row + ', cell ' + cell
        }
        document.body.append(table)
        table.offsetHeight
      }`),
    )
  } finally {
    await page.close()
  }
}

/** What a page holds once all garbage is gone. */
export interface Held {
  heap: number
  nodes: number
  listeners: number
}

export async function held(session: CDPSession): Promise<Held> {
  await session.send('Performance.enable')
  for (let round = 0; round < 2; round++) await session.send('HeapProfiler.collectGarbage')
  const { metrics } = await session.send('Performance.getMetrics')
  const of = (name: string) => metrics.find((it) => it.name === name)?.value ?? Number.NaN
  return { heap: of('JSHeapUsedSize'), nodes: of('Nodes'), listeners: of('JSEventListeners') }
}
