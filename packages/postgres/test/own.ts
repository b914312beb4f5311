import { afterAll } from 'vitest'
import type { StateStore } from '../../triarch/src/store/port.ts'
import { handClock } from '../../triarch/test/store/clock.ts'
import { dropSchema, freshSchema, subjectIn } from './database.ts'

/** An open store in a schema of its own, until the tests of the file are over. */
export async function ownStore(): Promise<{ schema: string; store: StateStore }> {
  const schema = freshSchema()
  const store = (await subjectIn(schema)()).store(handClock())
  await store.open()
  afterAll(async () => {
    await store.close()
    await dropSchema(schema)
  })
  return { schema, store }
}
