import { afterAll } from 'vitest'
import { rollingSuite } from '../../triarch/test/update/rolling.suite.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

const schemas: string[] = []
afterAll(async () => {
  for (const schema of schemas) await dropSchema(schema)
})

rollingSuite('PostgreSQL', async () => {
  const schema = freshSchema()
  schemas.push(schema)
  return `${serverUrl()}#${schema}`
})
