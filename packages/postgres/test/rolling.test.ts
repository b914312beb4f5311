import { afterAll } from 'vitest'
import { rollingSuite } from '../../triarch/test/update/rolling.suite.ts'
import { dropSchema, freshSchema, schemaOfBefore, serverUrl } from './database.ts'

const schemas: string[] = []
afterAll(async () => {
  for (const schema of schemas) await dropSchema(schema)
})

rollingSuite('PostgreSQL', async () => {
  const schema = freshSchema()
  schemas.push(schema)
  await schemaOfBefore(schema)
  return `${serverUrl()}#${schema}`
})
