import { afterAll } from 'vitest'
import { storeConformance } from '../../triarch/test/store/conformance.ts'
import { dropSchema, freshSchema, subjectIn } from './database.ts'

const schema = freshSchema()
afterAll(() => dropSchema(schema))

storeConformance('the PostgreSQL store', subjectIn(schema), { shared: true })
