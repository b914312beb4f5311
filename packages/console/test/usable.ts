import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

interface Shown {
  document: { documentElement: { dataset: Record<string, string> } }
  axe: typeof axe
}

/** Nothing that keeps somebody from using it, in light and in dark. */
export async function expectUsable(page: Page, themes: readonly string[] = ['light', 'dark']): Promise<void> {
  await page.evaluate(axe.source)
  for (const theme of themes) {
    await page.evaluate((it) => {
      ;(globalThis as unknown as Shown).document.documentElement.dataset.theme = it
    }, theme)
    const found = await page.evaluate(async () => {
      const { violations } = await (globalThis as unknown as Shown).axe.run({
        rules: { 'target-size': { enabled: true } },
      })
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
    })
    expect(found, theme).toEqual([])
  }
}
