// How each page looks on a fixed store, for tests to compare.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { Eye } from '../test/likeness.ts'
import { paths, photograph, referenceOf, Still, type View, views } from '../test/still.ts'

/** Remembers those that look other than they did, and no others. */
export async function remember(browser: Browser): Promise<void> {
  const folder = new URL('./', referenceOf('/', 'wide'))
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await using still = await Still.open()
  const [page, eye] = [await still.window(browser), await Eye.open(browser)]
  for (const path of paths) {
    await still.show(page, path)
    for (const view of Object.keys(views) as View[])
      writeFileSync(referenceOf(path, view), await eye.remember(await photograph(page, view)))
  }
  console.log(`${paths.length * Object.keys(views).length} references`)
}
