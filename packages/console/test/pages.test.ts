import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { played, scene } from './scene.ts'
import { launch, Stage } from './stage.ts'
import { expectUsable } from './usable.ts'

const paths = [
  ...['/', '/tasks', '/tasks/o-3', '/tasks/l-lost', '/workflows', '/workflows/order', '/statistics', '/agents'],
  ...['/agents/bank', '/agents/mail', '/nodes', '/locks', '/schedules', '/schedules/nightly', '/operations', '/alerts'],
  ...['/settings', '/audit', '/nowhere'],
]

const teaching = ['/tasks', '/workflows', '/agents', '/locks', '/schedules', '/operations']

const problem = {
  status: 500,
  contentType: 'application/problem+json',
  body: JSON.stringify({ type: 'https://example.com/STORE_UNAVAILABLE', code: 'STORE_UNAVAILABLE', detail: 'not now' }),
}

let browser: Browser
let full: Stage
let empty: Stage
/** One window for each: where all is there, where nothing is, and where every answer is an error. */
let page: Page
let nothing: Page
let broken: Page
let isBroken = true
const shop = scene()
beforeAll(async () => {
  browser = await launch()
  const { workflows, agents } = shop
  const health = { checks: { cellar: () => false } }
  const alerts = { every: '100ms', rules: { check: { for: 0 } } } as const
  full = await Stage.open({ workflows, agents, operations: true, statistics: {}, sweep: '100ms', alerts, health })
  await played(full.triarch, shop)
  empty = await Stage.open({ workflows: [], agents: [], roles: [] })
  page = await full.window(browser)
  nothing = await empty.window(browser, { permissions: ['clipboard-read', 'clipboard-write'] })
  broken = await full.window(browser)
  full.expected = /status of 500/
  await broken.route('**/api/v1/**', (route) => (isBroken ? route.fulfill(problem) : route.continue()))
})
afterAll(async () => {
  shop.release()
  await full?.[Symbol.asyncDispose]()
  await empty?.[Symbol.asyncDispose]()
  await browser?.close()
})

/** All that was asked for is there. */
async function settled(page: Page): Promise<void> {
  await page.locator('main table, main .empty, main .why').first().waitFor()
}

interface Seen {
  document: { documentElement: { scrollWidth: number } }
  innerWidth: number
}
const isTooWide = (page: Page) =>
  page.evaluate(() => {
    const { document, innerWidth } = globalThis as unknown as Seen
    return document.documentElement.scrollWidth > innerWidth
  })

/** How many lines the names of the pages take. */
const linesOfNames = (page: Page) =>
  page.evaluate("new Set([...document.querySelectorAll('header.top nav a')].map((it) => it.offsetTop)).size")
/** Tables of which a part is out of sight. */
const cutOff = (page: Page) =>
  page.evaluate(
    "[...document.querySelectorAll('section.table:not(.grid)')].filter((it) => it.scrollWidth > it.clientWidth).map((it) => it.getAttribute('aria-label'))",
  )

describe('each page, where there is something of everything', () => {
  it.each(paths)('can be used by everybody, in both themes, on a narrow screen as well: %s', async (path) => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(full.url + path)
    await settled(page)
    await expectUsable(page)
    for (const width of [1500, 1280, 768, 380, 320]) {
      await page.setViewportSize({ width, height: 700 })
      expect([width, await isTooWide(page), await linesOfNames(page)]).toEqual([width, false, 1])
    }
    // The page hears of its width, and has fewer columns then.
    await expect.poll(() => cutOff(page)).toEqual([])
  })
})

describe('each page, where there is nothing', () => {
  it.each(paths.filter((path) => path.lastIndexOf('/') === 0))(
    'says so, and can be used by everybody: %s',
    async (path) => {
      await nothing.goto(empty.url + path)
      await nothing.locator('main .empty, main table').first().waitFor()
      await expectUsable(nothing, ['light'])
      const snippet = nothing.locator('main .empty pre').first()
      if (!teaching.includes(path)) return
      // How there comes to be something, to be taken along.
      await nothing.locator('main .empty').getByRole('button', { name: 'Copy' }).first().click()
      await nothing.getByRole('button', { name: 'Copied' }).waitFor()
      expect(await nothing.evaluate('navigator.clipboard.readText()')).toBe(await snippet.textContent())
    },
  )
})

describe('each page, where every answer is an error', () => {
  it.each(paths.slice(0, -1))('names the code, and asks again when told: %s', async (path) => {
    isBroken = true
    await broken.goto(full.url + path)
    const failure = broken.getByRole('alert').filter({ hasText: 'STORE_UNAVAILABLE' }).first()
    await failure.getByRole('link', { name: 'Error reference' }).waitFor()
    if (path === '/tasks') await expectUsable(broken)
    // It is well only afterwards: pages ask by themselves, too, and the button would be gone.
    await failure.getByRole('button', { name: 'Retry' }).click()
    isBroken = false
    await settled(broken)
  })
})
