import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { Outcome } from '../measure.ts'
import { measures } from '../measures/index.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))

it.each(['sqlite', 'postgres'] as const)('takes every measure on %s and finds finite figures', async (store) => {
  const { stdout } = await promisify(execFile)(process.execPath, [main, '--store', store, '--quick', '--json'])
  const { measures: outcomes, machine } = JSON.parse(stdout) as { measures: Outcome[]; machine: { cores: number } }
  expect(machine.cores).toBeGreaterThan(0)
  expect(outcomes.map(({ name }) => name)).toEqual(measures[store])
  for (const { name, figures } of outcomes) {
    expect(figures.length, name).toBeGreaterThan(0)
    for (const { what, value, ceiling = 0 } of figures) {
      expect(Number.isFinite(value), `${name}: ${what}`).toBe(true)
      expect(Number.isFinite(ceiling), `${name}: ceiling of ${what}`).toBe(true)
    }
  }
})
