import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type TaskHandle, Triarch, workflow } from '../../src/index.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { memory, testEngine } from '../../src/testing/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'triarch-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const inFile = (writer: 'auto' | 'inline') => () => sqlite(join(folder, `${++files}.db`), { writer })
const stores: [string, () => StoreFactory][] = [
  ['in memory', () => memory()],
  ['in a file', inFile('auto')],
  ['in a file, inline', inFile('inline')],
]

const waits = workflow('waits', { run: (_: null, task) => task.waitForSignal('go') })

/** Calls that a program may await in a loop until something else has happened. */
const calls: [string, (task: TaskHandle, triarch: Triarch) => Promise<unknown>][] = [
  ['status()', (task) => task.status()],
  ['steps()', (task) => task.steps()],
  ['history()', (task) => task.history()],
  ['plan()', (task) => task.plan()],
  ['children()', (task) => task.children()],
  ['signal()', (task) => task.signal('other').catch(() => undefined)],
  ['a control that is refused', (task) => task.resume().catch(() => undefined)],
  ['list()', (_, triarch) => triarch.tasks.list()],
  ['statistics()', (_, triarch) => triarch.statistics.get()],
  ['submit()', (_, triarch) => triarch.submit(waits, null, { id: 'one' })],
]

describe.each(stores)('a process with a store %s', (_, store) => {
  it.each(calls)('goes on while somebody awaits %s again and again', async (_, call) => {
    const triarch = new Triarch({ store: store(), workflows: [waits], notices: false, grace: 0 })
    await triarch.start()
    const task = await triarch.submit(waits, null, { id: 'one' })
    let rang = false
    setTimeout(() => {
      rang = true
    }, 1)
    // Without a turn of the loop no timer would ever end this, nor the test's own bound.
    for (let n = 0; !rang && n < 200_000; n++) await call(task, triarch)
    expect(rang).toBe(true)
    await triarch.stop()
  })
})

describe('where time stands still', () => {
  it('the loop turns all the same while somebody asks again and again', async () => {
    await using engine = await testEngine({ workflows: [waits] })
    const task = await engine.submit(waits, null)
    let rang = false
    setTimeout(() => {
      rang = true
    }, 1)
    for (let n = 0; !rang && n < 200_000; n++) await task.status()
    expect(rang).toBe(true)
  })
})
