import { Triarch } from 'triarch'
import { expect, it } from 'vitest'
import { own, pace } from '../../triarch/test/wire/direct.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

it('nodes on one PostgreSQL find each other, and a step goes from one to the other without a row in a queue', async () => {
  const schema = freshSchema()
  const { agent, flow } = own(async () => undefined)
  let queued = 0
  const store = postgres({ url: serverUrl(), schema })
  const counting: typeof store = (environment) => {
    const made = store(environment)
    const commit = made.commit.bind(made)
    made.commit = (batch) => {
      for (const { work } of batch) queued += work.length
      return commit(batch)
    }
    return made
  }
  const owner = new Triarch({ store: counting, ...pace, roles: ['scheduler', 'supervisor'], workflows: [flow] })
  const worker = new Triarch({ store, ...pace, roles: ['agent'], agents: [agent] })
  try {
    await owner.start()
    await worker.start()
    for (let before = -1; before !== queued; ) {
      before = queued
      expect(await (await owner.submit(flow, 1)).result()).toBe(2)
    }
    const tasks = await Promise.all([1, 2, 3].map((n) => owner.submit(flow, n)))
    expect(await Promise.all(tasks.map((task) => task.result()))).toEqual([2, 3, 4])
  } finally {
    await owner.stop({ grace: 0 })
    await worker.stop({ grace: 0 })
    await dropSchema(schema)
  }
})
