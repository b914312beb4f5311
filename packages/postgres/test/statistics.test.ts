import pg from 'pg'
import { Triarch, workflow } from 'triarch'
import { expect, it } from 'vitest'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

const fine = workflow('fine', { run: async (_: null) => null })

it('statistics count a task whose transaction committed after later ones were counted', async () => {
  const schema = freshSchema()
  const store = postgres({ url: serverUrl(), schema })
  const node = new Triarch({ store, workflows: [fine], statistics: true, sweep: 20 })
  const client = new pg.Client(serverUrl())
  await client.connect()
  const ended = async () =>
    (await node.statistics.figures({ kind: 'task', outcome: 'success', by: [] })).rows.map(({ count }) => count)
  try {
    await node.start()
    await client.query('BEGIN')
    await node.submit(fine, null, { transaction: client })
    for (let n = 0; n < 3; n++) await (await node.submit(fine, null)).result()
    await expect.poll(ended, { timeout: 30_000 }).toEqual([3])
    await client.query('COMMIT')
    await expect.poll(ended, { timeout: 30_000 }).toEqual([4])
  } finally {
    await client.end()
    await node.stop({ grace: 0 })
    await dropSchema(schema)
  }
}, 90_000)
