import { describe, expect, it } from 'vitest'
import { terminationOf } from '../../src/client/termination.ts'
import { type Json, workflow } from '../../src/index.ts'
import { withOutputs } from '../../src/store/output.ts'
import type { TaskRow } from '../../src/store/port.ts'
import { ear } from '../telemetry/scene.ts'
import { type Stage, stage } from './harness.ts'
import { type Form, leaksIn, secrecy, viewsOf, ways } from './secrecy.ts'

const forms: [string, Form][] = [
  ['with quotes, backslashes, line breaks and more than ASCII', (mark) => `"q\\${mark}'é\n😀 %41+&<x>"`],
  ['that is a plain word', (mark) => mark],
]

/** Moves the clock until it is so. */
const moving = (s: Stage) => async (what: () => Promise<boolean>) => {
  for (let tries = 0; tries < 200; tries++) {
    if (await what()) return
    await s.advance('10m')
  }
  const { tasks } = await s.engine.triarch.tasks.list()
  throw new Error(
    `it never comes to be: ${tasks.map(({ id, status, error, pause }) => JSON.stringify([id, status, error?.message, pause]))}`,
  )
}

describe.each(forms)('a secret %s', (_, form) => {
  it('is in no view, log, alert or telemetry, whatever way it went, and its task has it', async () => {
    const { workflows, agents, play, secret } = secrecy(form)
    const { heard, listeners } = ear()
    const lines: string[] = []
    const log = (...said: unknown[]) => void lines.push(JSON.stringify(said))
    await using s = await stage({
      ...{ workflows, agents, operations: true, telemetry: listeners },
      logger: { debug: log, info: log, warn: log, error: log },
      logLevel: 'debug',
    })
    await play(s.engine.triarch, moving(s))
    const leaks: Record<string, string[]> = {}
    const look = (view: string, text: string) => {
      const found = leaksIn(text)
      if (found.length > 0) leaks[view] = found
    }
    for await (const [view, text] of viewsOf(s.engine.triarch)) look(view, text)
    look('alerts raised', JSON.stringify(s.alerts))
    look('logger', lines.join('\n'))
    for (const [name, events] of Object.entries(heard)) look(`telemetry ${name}`, JSON.stringify(events))
    for (const [name, events] of Object.entries(heard))
      for (const event of events as { error?: Error }[]) look(`error of ${name}`, String(event.error?.stack))
    expect(leaks).toEqual({})
    expect(heard['task:stopped'].length).toBeGreaterThan(5)
    // Whoever may have it, has it.
    expect(await s.engine.triarch.tasks.get('one').result()).toMatchObject({ pin: secret('output') })
    const ids = (await s.engine.triarch.tasks.list({ limit: 1_000 })).tasks.map(({ id }) => id)
    const exports = ids.map((id) => s.engine.triarch.tasks.get(id).export({ secrets: true }))
    const there = leaksIn(JSON.stringify(await Promise.all(exports)))
    expect(ways.filter((way) => way !== 'schedule' && !there.includes(way))).toEqual([])
  })
})

describe('what a task returns', () => {
  it('is what it is, though it looks like a value of which the row hides something', async () => {
    const odd = workflow('odd', { run: async (given: Json) => given })
    const parent = workflow('parent', { run: (given: Json, task) => task.call(odd, given) })
    await using s = await stage({ workflows: [odd, parent] })
    for (const given of [{ '~veiled': 1, value: 2, texts: ['nobody'] }, { '~veiled': null }]) {
      const task = await s.submit(parent, given)
      await s.settle()
      expect(await task.result()).toEqual(given)
      expect((await task.status()).output).toEqual(given)
      expect((await s.engine.triarch.tasks.list()).tasks.map(({ output }) => output)).toContainEqual(given)
    }
  })

  it('stays veiled in its row when an operator gives up what was asked of it since', async () => {
    const flow = workflow('flow', { secrets: ['pin'], run: async (given: { pin: string }) => ({ of: given.pin }) })
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, { pin: 'swordfish' })
    await s.settle()
    const row = await withOutputs(s.store).task(task.id)
    const { snapshot } = await terminationOf(
      withOutputs(s.store),
      { ...(row as TaskRow), quarantined: true },
      Date.now(),
      {},
    )
    expect(snapshot.output).toBe((await s.store.task(task.id))?.output)
    expect(snapshot.output).toContain('~veiled')
  })
})
