// The whole shop as a user runs it: real processes, real deaths.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Report } from '../report.ts'

interface Ended {
  code: number
  stdout: string
  stderr: string
}

function main(...args: string[]): Promise<Ended> {
  const file = fileURLToPath(new URL('../main.ts', import.meta.url))
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...args], (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr })
    })
  })
}

const run = { timeout: 600_000 }

test.each(['sqlite', 'postgres'])(
  'on %s every order is fulfilled once or undone, whatever dies',
  run,
  async (store) => {
    const { code, stdout, stderr } = await main('--store', store, '--orders', '60', '--seed', '11', '--json')
    expect(stdout, stderr).not.toBe('')
    const report = JSON.parse(stdout) as Report
    expect(report).toMatchObject({ ok: true, store, violations: [], stuck: [], unruly: [], counts: { orders: 60 } })
    expect(report.counts.fulfilled + report.counts.undone).toBe(60)
    expect(report.counts.undone).toBeGreaterThan(0)
    expect(report.kills).toMatchObject({ node: 4, web: 1, service: 1 })
    expect(report.faults).toBeGreaterThan(0)
    expect(code).toBe(0)
  },
)

test.each([
  [['--order', '5'], "Unknown option '--order'"],
  [['--orders', '0'], '--orders 0: must be a whole number from 1 to 100000'],
  [['--seed', 'x'], '--seed x: must be a whole number'],
  [['--store', 'csv'], '--store csv: must be sqlite or postgres'],
  [['extra'], 'Unexpected argument'],
])('%j is wrong usage', async (args, message) => {
  const { code, stdout, stderr } = await main(...args)
  expect(code).toBe(2)
  expect(stdout).toBe('')
  expect(stderr).toContain(message)
})

test('--help tells the options', async () => {
  const { code, stdout } = await main('--help')
  expect(code).toBe(0)
  expect(stdout).toContain('--orders N')
})
