import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { systemEnvironment } from '../../triarch/src/environment/system.ts'
import { ask, connect, disconnect } from '../src/connect.ts'
import { settingsOf } from '../src/options.ts'
import { serverUrl } from './database.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void

const CALLS = 1_000
const SIZE = 8_000

it('keeps neither question nor answer of a call that is over, not even until all is collected', async () => {
  const environment = systemEnvironment()
  const settings = settingsOf({ url: serverUrl() })
  const client = await connect(settings, 'calls')
  const called = async (calls: number) => {
    for (let call = 0; call < calls; call++) {
      const values = [String(call).padStart(SIZE, '0')]
      const rows = await ask(environment, settings, client, {
        name: 'echo',
        text: 'SELECT $1::text',
        values,
      })
      expect(rows[0]?.[0]).toBe(values[0])
      if (call % 100 === 0) collect({ type: 'minor' })
    }
  }
  await called(200)
  collect()
  const before = used()
  await called(CALLS)
  collect({ type: 'minor' })
  collect({ type: 'minor' })
  expect(used() - before).toBeLessThan((CALLS * SIZE) / 4)
  await disconnect(environment, client)
})

function used(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => /^(new|old)/.test(space_name))
  return spaces.reduce((sum, { space_used_size }) => sum + space_used_size, 0)
}
