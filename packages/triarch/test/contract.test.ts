import { runInNewContext } from 'node:vm'
import { rolldown } from 'rolldown'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { type TaskHandle, type TriarchClient, workflow, workflowRef } from '../src/index.ts'
import { testEngine } from '../src/testing/index.ts'

const double = workflow('double', { run: async ({ n }: { n: number }) => n * 2 })
const newer = workflow('double', { version: '2', run: async ({ n }: { n: number }) => n * 200 })

describe('a workflow that is named', () => {
  it('has the types of its definition, and runs the last version that is registered, or the one that is named', async () => {
    await using engine = await testEngine({ workflows: [double, newer] })
    const client: TriarchClient = engine.triarch
    const task = await client.submit(workflowRef<typeof double>('double'), { n: 21 })
    expectTypeOf(task).toEqualTypeOf<TaskHandle<number>>()
    expect(await task.result()).toBe(4_200)
    const first = await client.submit(workflowRef<typeof double>('double', '1'), { n: 21 })
    expect(await first.result()).toBe(42)
    // @ts-expect-error: it takes a number
    const wrong = () => client.submit(workflowRef<typeof double>('double'), { n: '1' })
    expectTypeOf(wrong).toBeFunction()
    const schedule = client.schedules.get('daily')
    await schedule.register({
      workflow: workflowRef<typeof double>('double'),
      input: { n: 1 },
      every: '1d',
    })
    expect(await schedule.info()).toMatchObject({ workflow: 'double', version: '2' })
  })

  it('and is not registered here is told so', async () => {
    await using engine = await testEngine({ workflows: [double] })
    await expect(engine.triarch.submit(workflowRef('nothing'), null)).rejects.toMatchObject({
      code: 'UNKNOWN_WORKFLOW',
    })
    const other = workflowRef<typeof double>('double', '9')
    await expect(engine.triarch.submit(other, { n: 1 })).rejects.toMatchObject({ code: 'UNKNOWN_WORKFLOW' })
  })
})

it('what clients are made of runs where nothing of Node is, and without the engine', async () => {
  const bundle = await rolldown({ input: 'packages/triarch/src/contract.ts', platform: 'browser' })
  const { output } = await bundle.generate({ format: 'iife', name: 'contract' })
  await bundle.close()
  const [{ imports, moduleIds, code }] = output
  expect(imports).toEqual([])
  const rooms = new Set(moduleIds.map((id) => /src\/(\w+)/.exec(id)?.[1]))
  expect([...rooms].sort()).toEqual(['contract', 'definition', 'error', 'value'])
  // A context of its own has the language and nothing else.
  const program = `${code}; const error = contract.taskError('t', 'cancelled'); [error.code, contract.isTriarchError(error), contract.milliseconds('2s', '')].join()`
  expect(runInNewContext(program)).toBe('TASK_CANCELLED,true,2000')
})
