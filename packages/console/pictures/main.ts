// Makes the pictures of the console that the README shows, from the orders example as it runs: npm run pictures
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launch } from '../test/chromium.ts'
import { takePictures } from './orders.ts'

const folder = join(import.meta.dirname, '../../../docs/pictures')

const browser = await launch()
try {
  const context = await browser.newContext({ locale: 'en-GB', colorScheme: 'light', timezoneId: 'UTC' })
  await takePictures(await context.newPage(), ({ name }, image) => {
    writeFileSync(join(folder, `${name}.png`), image)
    console.log(`docs/pictures/${name}.png: ${Math.ceil(image.byteLength / 1024)} kB`)
  })
} finally {
  await browser.close()
}
