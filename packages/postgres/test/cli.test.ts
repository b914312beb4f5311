import { Triarch, workflow } from 'triarch'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { run } from '../../cli/src/run.ts'
import { processTerminal } from '../../cli/src/terminal.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

let schema: string
beforeEach(() => {
  schema = freshSchema()
})
afterEach(() => dropSchema(schema))

async function triarch(...args: string[]): Promise<{ exit: number; out: string; err: string }> {
  const said = { out: '', err: '' }
  const exit = await run(args, {
    ...processTerminal(),
    width: null,
    colour: false,
    env: { TRIARCH_STORE: serverUrl(), TRIARCH_SCHEMA: schema },
    out(text) {
      said.out += text
    },
    err(text) {
      said.err += text
    },
  })
  return { exit, ...said }
}

it('the command works on PostgreSQL, and leaves its schema alone unless it is asked for that', async () => {
  expect(await triarch('task', 'list')).toMatchObject({ exit: 6, err: expect.stringContaining('STORE_SCHEMA_OLD') })
  expect(await triarch('migrate', 'check')).toMatchObject({ exit: 1 })
  expect(await triarch('migrate', 'up')).toMatchObject({ exit: 0, err: '' })
  const greet = workflow('greet', { run: async (name: string) => `hello ${name}` })
  await using engine = new Triarch({ store: postgres({ url: serverUrl(), schema }), workflows: [greet] })
  await engine.start()
  await (await engine.submit(greet, 'ada', { id: 'g-1' })).result()
  const { out } = await triarch('task', 'get', 'g-1', '--json')
  expect(JSON.parse(out)).toMatchObject({ id: 'g-1', output: 'hello ada' })
  const doctor = await triarch('doctor', '--json')
  const findings = JSON.parse(doctor.out) as { check: string; verdict: string }[]
  expect(findings.map(({ check }) => check)).toEqual(
    expect.arrayContaining(['PostgreSQL', 'schema', 'clocks', 'nodes', 'rights']),
  )
  // This server is for tests: its fsync may be off.
  const wrong = findings.filter(({ verdict }) => verdict === 'fail').map(({ check }) => check)
  expect(wrong.filter((check) => !['fsync', 'full_page_writes', 'synchronous_commit'].includes(check))).toEqual([])
})
