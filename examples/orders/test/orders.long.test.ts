// The whole shop as a user runs it: real processes, real deaths.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { Report } from '../report.ts'

interface Ended {
  code: number
  stdout: string
  stderr: string
}

function main(...args: string[]): Promise<Ended> {
  return program('../main.ts', args)
}

function program(name: string, args: string[]): Promise<Ended> {
  const file = fileURLToPath(new URL(name, import.meta.url))
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...args], (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr })
    })
  })
}

const run = { timeout: 600_000 }

test.each([
  ['sqlite', 'node'],
  ['postgres', 'python'],
])(
  'on %s every order is fulfilled once or undone, whatever dies, with the mail agent in %s',
  run,
  async (store, agent) => {
    const dir = mkdtempSync(join(tmpdir(), 'orders-run-'))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    const options = ['--store', store, '--agent', agent, '--orders', '60', '--seed', '11', '--data', dir, '--json']
    const { code, stdout, stderr } = await main(...options)
    expect(stdout, stderr).not.toBe('')
    const report = JSON.parse(stdout) as Report
    expect(report).toMatchObject({
      ok: true,
      store,
      violations: [],
      stuck: [],
      unruly: [],
      misled: [],
      counts: { orders: 60 },
    })
    expect(report.counts.fulfilled + report.counts.undone).toBe(60)
    expect(report.counts.undone).toBeGreaterThan(0)
    expect(report.kills).toMatchObject({ node: 4, web: 1, service: 1, agent: agent === 'python' ? 1 : 0 })
    expect(report.told).toEqual({ reply: expect.any(Number), poll: expect.any(Number), stream: expect.any(Number) })
    expect(report.faults).toBeGreaterThan(0)
    // How ill it was found is up to the machine; that it was left alone for that, and came back in waves, is not.
    const { met, opened, waves, fees } = report.recovery
    expect(met).toBeGreaterThan(0)
    expect(opened).toBeGreaterThan(0)
    expect(waves.length).toBeGreaterThan(0)
    expect(fees.cached).toBeGreaterThan(0)
    // Whether a process had an order in its hands when it died is up to the machine; if it had, its life is told to the end.
    const told = report.timeline?.moments.map(({ kind }) => kind) ?? ['death', 'end']
    expect(told).toEqual(expect.arrayContaining(['death', 'end']))
    expect(code).toBe(0)
    // What is left can be looked into.
    const all = await program('../look.ts', [dir])
    expect(all.stdout, all.stderr).toContain('60 orders: ')
    const one = await program('../look.ts', [dir, report.timeline?.order ?? 'order-1'])
    expect(one.stdout, one.stderr).toContain('order taken: a ')
  },
)

test.each([
  [['--order', '5'], "Unknown option '--order'"],
  [['--orders', '0'], '--orders 0: must be a whole number from 1 to 100000'],
  [['--seed', 'x'], '--seed x: must be a whole number'],
  [['--agent', 'cobol'], '--agent cobol: must be node or python'],
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
