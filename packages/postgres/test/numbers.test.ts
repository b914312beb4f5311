import { afterAll, expect, it } from 'vitest'
import { Triarch, workflow } from '../../triarch/src/index.ts'
import { codeOf } from '../../triarch/test/engine/harness.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

const schema = freshSchema()
afterAll(() => dropSchema(schema))

it('a number or text that no column has room for is refused by its code, or finds nothing: the store does not fail of it', async () => {
  const fine = workflow('fine', { run: async (_: unknown) => null })
  await using triarch = new Triarch({ store: postgres({ url: serverUrl(), schema }), workflows: [fine] })
  await triarch.start()
  const task = await triarch.submit(fine, null)
  await task.result()
  const [highest, large] = [2_147_483_647, Number.MAX_SAFE_INTEGER]
  const asked: Record<string, (number: number) => Promise<unknown>> = {
    'a moment': (seq) => task.moment(seq),
    'children of a step': (step) => task.children({ step }),
    'logs of a step': (step) => task.logs({ step }),
    'logs of an attempt': (attempt) => task.logs({ step: 1, attempt }),
    'a step to retry': (step) => task.retry({ step }),
    'a step to skip': (step) => task.skip({ step }),
    'a record to resume after': (after) => task.resume({ after }),
  }
  for (const [name, ask] of Object.entries(asked)) {
    expect([name, await codeOf(ask(large))]).toEqual([name, 'INVALID_OPTION'])
    expect([name, await codeOf(ask(highest))]).toEqual([
      name,
      expect.stringMatching(/^(?:nothing|UNKNOWN_RECORD|ILLEGAL_MOVE|TASK_NOT_PAUSED)$/),
    ])
  }
  expect(await codeOf(triarch.health.probes({ names: ['a\0b'] }))).toBe('INVALID_OPTION')
  expect(await codeOf(triarch.statistics.figures({ error: 'a\0b' }))).toBe('INVALID_OPTION')
  expect(await codeOf(triarch.tasks.list({ filter: `error:"a\0b"` }))).toMatch(/^INVALID_/)
})
