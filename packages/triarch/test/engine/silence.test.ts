import { describe, expect, it, vi } from 'vitest'
import { agent, workflow } from '../../src/index.ts'
import { type TestOptions, testEngine } from '../../src/testing/index.ts'
import { stage } from './harness.ts'

const own = agent('own')
const act = own.action('act', { run: async () => null })
const ask = workflow('ask', { run: (_: null, task) => task.run(act, undefined as never) })
const stuck = workflow('stuck', { run: () => new Promise<null>(() => undefined) })
const held = workflow('held', {
  rescue: 'pause',
  run: async () => {
    throw new Error('no')
  },
})
const waiting = workflow('waiting', { run: (_: null, task) => task.waitForSignal('go') })
const unknown = workflow('unknown', { run: async () => null })

/** What stderr is told while these are submitted, three times each, and two minutes pass. */
async function said(options: TestOptions = {}): Promise<string[]> {
  const lines: string[] = []
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((line) => lines.push(String(line)) > 0)
  try {
    const engine = await testEngine({ workflows: [ask, stuck, held, waiting], notices: true, ...options })
    for (const flow of [ask, stuck, held, waiting, unknown]) for (let n = 0; n < 3; n++) await engine.submit(flow, null)
    await engine.advance('2m')
    await engine.stop()
    return lines
  } finally {
    stderr.mockRestore()
  }
}

describe('what stands still is told of without being asked for', () => {
  it('in one line for each cause, by its code, where nobody listens', async () => {
    const lines = await said()
    expect(lines.map((line) => /^triarch: (\w+): .*\n$/.exec(line)?.[1]).sort()).toEqual([
      'STEP_UNATTENDED',
      'TASK_PAUSED',
      'TASK_UNATTENDED',
      'WORKFLOW_STALLED',
    ])
  })

  it('never, when notices are off', async () => {
    expect(await said({ notices: false })).toEqual([])
  })

  it('and by explain', async () => {
    await using s = await stage({ workflows: [stuck, waiting] })
    const [one, other] = [await s.submit(stuck, null), await s.submit(waiting, null)]
    await s.advance('1m')
    expect((await s.engine.triarch.tasks.get(one.id).explain()).reasons).toMatchObject([{ code: 'stalled' }])
    expect((await s.engine.triarch.tasks.get(other.id).explain()).reasons).toMatchObject([{ code: 'signal' }])
    expect(s.alerts).toMatchObject([{ code: 'WORKFLOW_STALLED', task: one.id, workflow: 'stuck' }])
  })
})

describe('a node that was taken for dead', () => {
  it('tells its listeners so, and goes on under another name', async () => {
    await using s = await stage({ lease: '10s', sweep: '1s', poll: '1s' })
    const [node] = await s.engine.triarch.nodes.list()
    expect(await s.store.declareDead([node?.id ?? ''])).toBe(1)
    await s.advance('10s')
    expect(s.alerts).toMatchObject([{ code: 'NODE_FENCED', node: node?.id, cause: 'fenced' }])
    const living = await s.engine.triarch.nodes.list()
    expect(living).toEqual([expect.objectContaining({ id: expect.not.stringMatching(node?.id ?? '') })])
  })

  it('begins nothing in the slots of code that it still runs', async () => {
    const own = agent('own', { concurrency: 2 })
    const code: PromiseWithResolvers<void>[] = []
    let most = 0
    let now = 0
    const act = own.action('act', {
      attemptWithin: '1m',
      run: async () => {
        most = Math.max(most, ++now)
        if (code.length < 2) await code[code.push(Promise.withResolvers<void>()) - 1]?.promise
        now--
      },
    })
    const acts = workflow('acts', { run: (_: null, task) => task.run(act, null) })
    await using s = await stage({ workflows: [acts], agents: [own], lease: '10s', sweep: '1s', poll: '1s' })
    const tasks = await Promise.all(Array.from({ length: 4 }, () => s.submit(acts, null)))
    await s.settle()
    for (let life = 0; life < 2; life++) {
      const [node] = await s.engine.triarch.nodes.list()
      await s.store.declareDead([node?.id ?? ''])
      await s.advance('5s')
    }
    expect([code.length, now, most]).toEqual([2, 2, 2])
    for (const { resolve } of code) resolve()
    await s.advance('5s')
    expect(most).toBe(2)
    for (const task of tasks) expect(await task.status()).toMatchObject({ outcome: 'success' })
  })
})
