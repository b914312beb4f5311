import { afterAll } from 'vitest'
import { storeModel } from '../../triarch/test/model/store.model.ts'
import type { Subject } from '../../triarch/test/store/conformance.ts'
import { dropSchema, freshSchema, subjectIn } from './database.ts'

const schema = freshSchema()
afterAll(() => dropSchema(schema))

/** The model asks for a sign of others' writes at the same instant; notifications take a moment. */
async function make(): Promise<Subject> {
  const subject = await subjectIn(schema)()
  return { ...subject, store: (clock) => Object.assign(subject.store(clock), { changes: async () => null }) }
}

storeModel('two PostgreSQL stores on one schema', make, { shared: true, runs: 3 })
