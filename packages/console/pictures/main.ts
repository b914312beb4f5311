// Makes the pictures of the console that the README shows, from the orders example as it runs: npm run pictures
// With -- --references: how each page looks, for tests to compare.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { launch } from '../test/chromium.ts'
import { takePictures } from './orders.ts'
import { remember } from './references.ts'

const folder = join(import.meta.dirname, '../../../docs/pictures')

async function forReadme(browser: Browser): Promise<void> {
  const context = await browser.newContext({ locale: 'en-GB', colorScheme: 'light', timezoneId: 'UTC' })
  await takePictures(await context.newPage(), ({ name }, image) => {
    writeFileSync(join(folder, `${name}.png`), image)
    console.log(`docs/pictures/${name}.png: ${Math.ceil(image.byteLength / 1024)} kB`)
  })
}

const browser = await launch()
try {
  await (process.argv.includes('--references') ? remember : forReadme)(browser)
} finally {
  await browser.close()
}
