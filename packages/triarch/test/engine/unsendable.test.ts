import { describe, expect, it } from 'vitest'
import { agent, workflow } from '../../src/index.ts'
import type { QueuedReply, StateStore } from '../../src/store/port.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { codeOf, eventsOf, seen, stage } from './harness.ts'
import { scratch } from './scratch.ts'

/** `depth` arrays, each in the one before. */
function nested(depth: number): unknown {
  let value: unknown = 'core'
  for (let level = 0; level < depth; level++) value = [value]
  return value
}

const bank = agent('bank')
const charge = bank.action('charge', {
  retry: { attempts: 1 },
  rescue: 'fail',
  run(depth: number) {
    if (depth > 0) throw Object.assign(new Error('refused'), { details: nested(depth) })
    return 'charged'
  },
})
const flow = workflow('flow', { run: (depth: number, task) => task.run(charge, depth) })

/** A scheduler, and an agent apart from it whose store is changed. */
async function apart(file: ReturnType<typeof scratch>, change: (store: StateStore) => Partial<StateStore>) {
  const common = { environment: new VirtualEnvironment(), sweep: '1s', poll: '100ms' } as const
  const owner = await stage({ ...common, store: file.store, roles: ['scheduler', 'supervisor'], workflows: [flow] })
  const worker = await stage({ ...common, store: seen(file.store, change), roles: ['agent'], agents: [bank] })
  return { owner, worker }
}

describe('an agent apart from its scheduler', () => {
  it.each([17, 3_900, 100_000])('tells an error whose details are nested %i levels, and goes on', async (depth) => {
    using file = scratch()
    const { owner, worker } = await apart(file, () => ({}))
    await using _worker = worker
    await using _owner = owner
    const deep = await owner.submit(flow, depth)
    const fine = await owner.submit(flow, 0)
    await owner.advance('10s')
    expect(await fine.result()).toBe('charged')
    const [failed] = await eventsOf(deep, 'attemptFailed')
    expect(failed?.error).toMatchObject({ message: 'refused' })
    expect(JSON.stringify(failed?.error.details)).toBe(`${'['.repeat(16)}"…"${']'.repeat(16)}`)
    expect(await codeOf(deep.result())).toBe('TASK_FAILED')
  })

  it('answers for an attempt whose reply cannot be written that it failed, by code; the replies beside it are written', async () => {
    using file = scratch()
    const bad = { reply: 0 }
    const { owner, worker } = await apart(file, (store) => ({
      async reply(replies: readonly QueuedReply[]) {
        // What nothing that enters can be, put in on its way out.
        for (const { message } of replies)
          if (message.type === 'reply' && message.outcome.kind === 'done' && bad.reply++ === 0)
            Object.assign(message.outcome, { output: 1n })
        JSON.stringify(replies)
        return store.reply(replies)
      },
    }))
    await using _owner = owner
    const first = await owner.submit(flow, 0)
    const second = await owner.submit(flow, 0)
    await owner.advance('10s')
    expect(await second.result()).toBe('charged')
    // It did its work: an operator is asked, as for any output that cannot be recorded.
    expect(await first.status()).toMatchObject({ status: 'paused', pause: { error: { code: 'STEP_UNRECORDABLE' } } })
    await first.skip({ step: 1, output: 'charged' })
    await owner.advance('1s')
    expect(await first.result()).toBe('charged')
    await worker.kill()
    worker.errors.length = 0
  })
})
