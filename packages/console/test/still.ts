import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createServer } from '@triarch/server'
import type { Browser, Page, Route } from 'playwright-core'
import { type TestEngine, testEngine } from 'triarch/testing'
import { files } from '../src/index.ts'
import { begun, lined, scene } from './scene.ts'

/** Fonts differ between machines: all is written in one that comes from npm, and signs that it lacks are left out. */
const FONT = readFileSync(
  join(
    dirname(createRequire(import.meta.url).resolve('vitepress/package.json')),
    'dist/client/theme-default/fonts/inter-roman-latin.woff2',
  ),
).toString('base64')
const STYLE = `
  @font-face { font-family: still; font-weight: 100 900; src: url(data:font/woff2;base64,${FONT}) }
  * { font-family: still !important; text-rendering: geometricPrecision; transition: none !important; animation: none !important }
  .state > [aria-hidden] { display: inline-flex; width: 1em; height: 1em; overflow: hidden; color: transparent; vertical-align: middle }
`

/** Twice, for what the first frame makes known. */
const DRAWN =
  'document.fonts.ready.then(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(null)))))'

/** The shop of the scene in virtual time: whoever looks at it, and when, sees the same. */
export class Still implements AsyncDisposable {
  readonly #engine: TestEngine
  readonly #server: ReturnType<typeof createServer>
  /** Answers that are under way. */
  #underWay = 0

  private constructor(engine: TestEngine, server: ReturnType<typeof createServer>) {
    this.#engine = engine
    this.#server = server
  }

  static async open(): Promise<Still> {
    const { workflows, agents, order, letter, move } = scene()
    const health = { checks: { cellar: () => false } }
    const alerts = { every: '1s', rules: { check: { for: 0 } } } as const
    const engine = await testEngine({
      ...{ workflows, agents, operations: true, statistics: {}, alerts, health },
      ...{ lease: '15s', sweep: '1s', poll: '1s' },
    })
    const { triarch } = engine
    const moves = await begun(triarch, { order, letter, move }, lined, async (task) => {
      await engine.advance('20s')
      await task.signal('shipped', null)
      await engine.advance('2s')
    })
    await engine.advance('5s')
    for (const { id, hosts } of moves) if (hosts.length > 0) await triarch.tasks.get(id).signal('go', null)
    for (let n = 0; n < 8; n++) await triarch.submit(order, { amount: 20 }, { id: `b-${n}` })
    await engine.advance('90s')
    const server = createServer(triarch, { workflows, console: files, keys: true, authenticate: () => ({ id: 'ada' }) })
    return new Still(engine, server)
  }

  /** A window in which the clock stands as well. */
  async window(browser: Browser): Promise<Page> {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', bypassCSP: true })
    await context.clock.setFixedTime(this.#engine.now())
    await context.route('**/*', async (route) => {
      this.#underWay++
      await this.#answer(route)
      this.#underWay--
    })
    return context.newPage()
  }

  async #answer(route: Route): Promise<void> {
    const request = route.request()
    const { accept = '' } = request.headers()
    // Nothing moves: streams have nothing to tell.
    if (accept.includes('event-stream')) return route.fulfill({ status: 204 })
    let answer: Response | null = null
    const asked = this.#server.fetch(new Request(request.url(), { headers: { accept } })).then((it) => {
      answer = it
      return it
    })
    while (!answer) await this.#engine.settle()
    const given = await asked
    const { status, headers } = given
    await route.fulfill({ status, headers: Object.fromEntries(headers), body: Buffer.from(await given.arrayBuffer()) })
  }

  /** Resolves once the page has all that it asks for. */
  async show(page: Page, path: string): Promise<void> {
    await page.goto(`http://still${path}`)
    await page.addStyleTag({ content: STYLE })
    await page.locator('main h1').waitFor()
    if (path.endsWith('tab=graph')) await page.locator('svg[data-nodes]:not([data-nodes="0"])').waitFor()
    for (let quiet = 0; quiet < 4; ) {
      await page.evaluate(DRAWN)
      quiet = this.#underWay === 0 ? quiet + 1 : 0
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close()
    await this.#engine.stop()
  }
}

/** What is remembered: each of these as each of those. */
export const paths = [
  ...['/', '/tasks', '/tasks/o-3', '/tasks/o-3?tab=graph', '/tasks/o-3?tab=history', '/tasks/l-lost', '/tasks/m-2'],
  ...['/workflows', '/workflows/order', '/statistics', '/agents', '/agents/bank', '/agents/mail', '/nodes', '/locks'],
  ...['/schedules', '/schedules/nightly', '/operations', '/alerts', '/settings', '/audit', '/keys'],
  ...['/start?workflow=order', '/nowhere'],
]
export const views = {
  wide: { width: 1280, theme: 'light' },
  dark: { width: 1280, theme: 'dark' },
  narrow: { width: 390, theme: 'light' },
} as const
export type View = keyof typeof views

/** Where it is remembered how that looked. */
export function referenceOf(path: string, view: View): URL {
  const name = path.replace(/^\//, '').replace(/\W+/g, '-') || 'overview'
  return new URL(`references/${name}.${view}.png`, import.meta.url)
}

/** All of the page. */
export async function photograph(page: Page, view: View): Promise<Buffer> {
  const { width, theme } = views[view]
  await page.setViewportSize({ width, height: 800 })
  await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`)
  await page.evaluate(DRAWN)
  return page.screenshot({ fullPage: true })
}
