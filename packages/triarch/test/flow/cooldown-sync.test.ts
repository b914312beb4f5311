import { expect, it } from 'vitest'
import { Cooldown, MAX_COOLDOWN_KEYS } from '../../src/flow/cooldown.ts'
import { CooldownSync, type CooldownSyncOptions } from '../../src/flow/cooldown-sync.ts'
import { TriarchError } from '../../src/index.ts'
import type { BreakerWrite } from '../../src/store/port.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { noTelemetry } from '../../src/telemetry/outlet.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'

/** Rests of a node whose store takes no writes at first. */
function resting() {
  const environment = new VirtualEnvironment()
  const written: BreakerWrite[] = []
  const state = { busy: true, tries: 0 }
  const store: CooldownSyncOptions['store'] = {
    breakers: async () => [],
    writeBreaker: async (write) => {
      state.tries++
      if (state.busy) throw new TriarchError('STORE_BUSY', 'another connection holds the store')
      written.push(write)
      return true
    },
  }
  const rests = new CooldownSync({ environment, store, hosts: () => [], poll: 100, failed: () => undefined })
  return { environment, written, state, rests }
}

it('a rest that a service asked for while the store was busy is told to the other nodes afterwards', async () => {
  const { environment, written, state, rests } = resting()
  rests.share('shop', environment.now() + 60_000)
  await environment.advance(5_000)
  expect(written).toEqual([])
  state.busy = false
  await environment.advance(2_000)
  expect(written).toHaveLength(1)
})

it('a rest that is over before others could know of it is told to nobody', async () => {
  const { environment, state, rests } = resting()
  rests.share('shop', environment.now() + 3_000)
  await environment.advance(60_000)
  const { tries } = state
  expect(tries).toBeLessThan(20)
  await environment.advance(60_000)
  expect(state.tries).toBe(tries)
  await rests.drain()
})

it('the rests of any number of keys are over in time, and no more than 10,000 of one agent are remembered', async () => {
  const environment = new VirtualEnvironment()
  let over = 0
  const options = { environment, node: 'n', telemetry: noTelemetry, over: () => void over++ }
  const resting = new Cooldown('shop', options)
  const until = environment.now() + 60_000
  resting.begin('shop', until)
  const keys = 150_000
  for (let n = 0; n < keys; n++) resting.begin(`shop#${n}`, until + (n % 7))
  expect(resting.covers('shop', until)).toBe(true)
  expect(resting.covers(`shop#${keys - 1}`, until)).toBe(true)
  let remembered = 0
  for (let n = 0; n < keys; n++) if (resting.covers(`shop#${n}`, until)) remembered++
  expect(remembered).toBe(MAX_COOLDOWN_KEYS - 1)
  await environment.advance(60_010)
  expect(resting.isOn(`shop#${keys - 1}`)).toBe(false)
  // Told when the first are over and when the last are, and not again.
  expect(over).toBe(7)
  await environment.advance(600_000)
  expect(over).toBe(7)
})

it('a node hears of the rests of all agents, and once they are over none is left in the store', async () => {
  const environment = new VirtualEnvironment()
  const store = sqlite(':memory:', { writer: 'inline' })(environment)
  await store.open()
  const heard = new Map<string, number>()
  const host = { coolDown: (queue: string, until: number) => void heard.set(queue, until) }
  const node = () =>
    new CooldownSync({ environment, store, hosts: () => [host], poll: 100, failed: (error) => errors.push(error) })
  const errors: unknown[] = []
  const stored = async () => (await store.breakers({ kind: 'rest', after: '', limit: 100_000, count: 0 })).length
  const [first, second] = [node(), node()]
  const until = environment.now() + 60_000
  for (const agent of ['books', 'shop', 'yard']) for (let n = 0; n < 900; n++) first.share(`${agent}#${n}`, until)
  first.share('zoo', until)
  await environment.advance(100)
  expect(await stored()).toBe(2_701)
  second.read()
  await environment.advance(100)
  expect(heard.size).toBe(2_701)
  // More keys of one agent than are shared.
  for (let n = 900; n < 1_000; n++) first.share(`shop#${n}`, until)
  await environment.advance(100)
  first.read()
  await environment.advance(100)
  for (let n = 1_000; n < 5_000; n++) first.share(`shop#${n}`, until)
  first.share('shop', until)
  first.share('yard#900', until)
  await environment.advance(100)
  expect(await stored()).toBe(2_803)
  await environment.advance(60_000)
  first.read()
  await environment.advance(1_000)
  expect(await stored()).toBe(0)
  first.share('shop#5000', environment.now() + 60_000)
  await environment.advance(100)
  expect(await stored()).toBe(1)
  expect(errors).toEqual([])
  await store.close()
})
