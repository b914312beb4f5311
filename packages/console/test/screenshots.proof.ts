import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch } from './chromium.ts'
import { Eye } from './likeness.ts'
import { paths, photograph, referenceOf, Still, type View, views } from './still.ts'

let browser: Browser
let still: Still
let page: Page
let eye: Eye
beforeAll(async () => {
  browser = await launch()
  still = await Still.open()
  page = await still.window(browser)
  eye = await Eye.open(browser)
})
afterAll(async () => {
  await still?.[Symbol.asyncDispose]()
  await browser?.close()
})

const noticed = async (path: string, view: View) =>
  eye.notice(await photograph(page, view), readFileSync(referenceOf(path, view)))

describe('each page looks as it is remembered (npm run pictures -- --references remembers anew)', () => {
  it.each(paths)('wide, in the dark, and narrow: %s', async (path) => {
    await still.show(page, path)
    expect(await page.locator('.failure').allInnerTexts()).toEqual([])
    const found: [string, string | null][] = []
    for (const view of Object.keys(views) as View[]) found.push([view, await noticed(path, view)])
    expect(found.filter(([, it]) => it !== null)).toEqual([])
  })
})

describe('a page that is broken is noticed', () => {
  const path = '/tasks/l-lost'
  beforeAll(() => still.show(page, path))
  it.each([
    ['its navigation is gone', 'header.top nav { display: none }'],
    ['a column is gone', '.steps .state { display: none !important }'],
    ['text that is hard to read', 'main * { color: #999 !important }'],
    ['buttons that do not look it', 'button { border-color: transparent !important; background: none !important }'],
    ['states without their colours', '.state { background: none !important; color: inherit !important }'],
    ['parts that lie on each other', '.why { margin-bottom: -60px !important }'],
    ['its button is gone', '.why button { visibility: hidden }'],
    ['letters of another size', 'main { font-size: 106% !important }'],
    ['what stands below is cut off', 'main { max-height: 300px; overflow: hidden }'],
    ['it is shifted a little', 'main { transform: translateX(6px) }'],
    ['rows without a distance', '.steps > li > button { padding-block: 0 !important }'],
  ])('%s', async (_, content) => {
    expect(await noticed(path, 'wide')).toBe(null)
    const style = await page.addStyleTag({ content })
    expect(await noticed(path, 'wide')).not.toBe(null)
    await style.evaluate((it) => (it as unknown as { remove: () => void }).remove())
  })

  it('in the dark it stays light', async () => {
    expect(await eye.notice(await photograph(page, 'wide'), readFileSync(referenceOf(path, 'dark')))).not.toBe(null)
  })

  it('it has no style at all', async () => {
    await page.evaluate("document.querySelector('link[rel=stylesheet]').remove()")
    expect(await noticed(path, 'wide')).not.toBe(null)
  })
})

it('how a machine draws letters is not noticed', async () => {
  const other = await launch([
    '--font-render-hinting=full',
    '--disable-lcd-text',
    '--disable-font-subpixel-positioning',
  ])
  try {
    const shown = await still.window(other)
    for (const path of ['/tasks/l-lost', '/statistics']) {
      await still.show(shown, path)
      await shown.addStyleTag({ content: '* { -webkit-text-stroke: 0.1px }' })
      const picture = await photograph(shown, 'wide')
      expect(await eye.notice(picture, readFileSync(referenceOf(path, 'wide'))), path).toBe(null)
    }
  } finally {
    await other.close()
  }
})
