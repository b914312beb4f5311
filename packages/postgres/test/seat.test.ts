import { afterAll, describe, expect, it } from 'vitest'
import { seatSuite } from '../../triarch/test/engine/seat.suite.ts'
import { handClock } from '../../triarch/test/store/clock.ts'
import { replyTo } from '../../triarch/test/store/samples.ts'
import { queued } from '../../triarch/test/store/seat.suite.ts'
import { postgres } from '../src/index.ts'
import { inSchema } from '../src/schema.ts'
import { dropSchema, freshSchema, serverUrl, withClient } from './database.ts'

seatSuite('a concurrency that is shared on PostgreSQL', async () => {
  const schema = freshSchema()
  return { store: postgres({ url: serverUrl(), schema }), dispose: () => dropSchema(schema) }
})

describe('seats', () => {
  const schema = freshSchema()
  afterAll(() => dropSchema(schema))

  it('whose requests are gone are swept, those of requests that run are not', async () => {
    const store = postgres({ url: serverUrl(), schema })(handClock())
    await store.open()
    await queued(
      store,
      Array.from({ length: 6 }, () => 'pay.charge'),
    )
    const agents = (seat: string) => [
      { agent: 'pay', actions: ['pay.charge'], limit: 1, seats: [{ name: seat, most: 1 }] },
    ]
    for (let key = 0; key < 5; key++) {
      const [item] = await store.takeWork({ node: 'b', agents: agents(`pay#${key}`) })
      const message = replyTo(key + 1)
      if (key > 0) await store.reply([{ work: item?.id as number, node: 'b', message }])
    }
    const token = (await store.lead({ name: 's', node: 'b', ttl: 1_000 })) as number
    await store.sweep({ name: 's', token, limit: 100 })
    const left = await withClient((client) =>
      client.query<{ name: string }>(inSchema('SELECT name FROM triarch.seats', schema)),
    )
    expect(left.rows).toEqual([{ name: 'pay#0' }])
    await store.close()
  })
})
