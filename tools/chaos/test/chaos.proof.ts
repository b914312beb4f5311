// The whole of it as a user runs it, in its shortest form. `npm run chaos -- --seconds N --seed S` runs longer ones.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { SHORTEST, usual } from '../plan.ts'
import type { Report } from '../report.ts'

const seconds = Math.ceil(SHORTEST / 1000)

it('every guarantee holds on PostgreSQL, whatever dies, stands still or breaks', async () => {
  const seed = process.env.TRIARCH_CHAOS_SEED ?? '1'
  const { stdout, stderr } = await main('--seconds', `${seconds}`, '--seed', seed, '--json')
  expect(stdout, stderr).not.toBe('')
  const report = JSON.parse(stdout) as Report
  expect(report.stuck).toBe('')
  expect(report.violations).toEqual([])
  expect(report.ok).toBe(true)
  expect(Object.keys(report.faults).sort()).toEqual([...usual].sort())
  expect(report.orders).toBeGreaterThan(seconds)
  expect(report.takeovers.length).toBeGreaterThan(0)
})

function main(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const file = fileURLToPath(new URL('../main.ts', import.meta.url))
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...args], { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr })
    })
  })
}
