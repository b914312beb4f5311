import { describe, expect, it } from 'vitest'
import { Triarch, TriarchError, workflow } from '../../src/index.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { counted } from './counted.ts'

const flow = workflow('flow', { run: async (n: number) => n })

/** A process that only submits. */
function client(poison?: string) {
  let calls: ReturnType<typeof counted> | undefined
  const engine = new Triarch({
    ...{ workflows: [flow], roles: [], notices: false },
    store: (environment) => {
      const store = sqlite(':memory:')(environment)
      const submit = store.submit.bind(store)
      store.submit = async (tasks) => {
        if (tasks.some(({ id }) => id === poison)) throw new TriarchError('STORE_FAILED', 'not this one')
        return submit(tasks)
      }
      calls = counted(store)
      return calls.store
    },
  })
  return { engine, submits: () => calls?.count('submit') ?? 0 }
}

describe('tasks that are submitted at the same time', () => {
  it('share transactions, and each is answered on its own', async () => {
    const { engine, submits } = client()
    await using _ = engine
    const ids = Array.from({ length: 300 }, (_, n) => `t-${n % 200}`)
    const tasks = await Promise.all(ids.map((id) => engine.submit(flow, 1, { id })))
    expect(tasks.map(({ id }) => id)).toEqual(ids)
    expect(tasks.filter(({ isNew }) => isNew)).toHaveLength(200)
    expect(submits()).toBeLessThanOrEqual(3)
    expect((await engine.count({ filter: 'workflow:flow' })).count).toBe(200)
  })

  it('are not refused with one that is another task of the same id', async () => {
    const { engine } = client()
    await using _ = engine
    await engine.submit(flow, 1, { id: 'taken' })
    const made = await Promise.allSettled(
      ['a', 'taken', 'b'].map((id) => engine.submit(flow, id === 'taken' ? 2 : 1, { id })),
    )
    expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((made[1] as PromiseRejectedResult).reason).toMatchObject({ code: 'TASK_EXISTS' })
  })

  it('do not share the fate of one that the store cannot take', async () => {
    const { engine } = client('poison')
    await using _ = engine
    const made = await Promise.allSettled(['a', 'poison', 'b'].map((id) => engine.submit(flow, 1, { id })))
    expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((made[1] as PromiseRejectedResult).reason).toMatchObject({ code: 'STORE_FAILED' })
    expect((await engine.count({ filter: 'workflow:flow' })).count).toBe(2)
  })
})
