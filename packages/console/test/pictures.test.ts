import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { pictures } from '../pictures/orders.ts'

const root = join(import.meta.dirname, '../../..')
const folder = join(root, 'docs/pictures')
const made = pictures.map(({ name }) => `${name}.png`).sort()

it('the pictures of the README are those that npm run pictures makes, and small', () => {
  expect(readdirSync(folder).sort()).toEqual(made)
  for (const name of made) expect(statSync(join(folder, name)).size, name).toBeLessThan(150 * 1024)
  const shown = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/docs\/pictures\/([^)]+)\)/g)]
  expect(shown.length).toBeGreaterThan(1)
  expect(made).toEqual(expect.arrayContaining(shown.map(([, name]) => name)))
})
