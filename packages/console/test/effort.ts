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
  /** Of the thread's own time (µs): what others do on the machine meanwhile does not count. */
  tdur?: number
  args: { name?: string }
}

/** The longest task (ms) that kept the page from answering its user while `work` went on. */
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
  return tasks.reduce((longest, { tdur = 0 }) => Math.max(longest, tdur / 1_000), 0)
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
