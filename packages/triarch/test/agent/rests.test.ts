import { expect, it } from 'vitest'
import { Rests, type RestsOptions } from '../../src/agent/rests.ts'
import { TriarchError } from '../../src/index.ts'
import type { BreakerWrite } from '../../src/store/port.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'

/** Rests of a node whose store takes no writes at first. */
function resting() {
  const environment = new VirtualEnvironment()
  const written: BreakerWrite[] = []
  const state = { busy: true, tries: 0 }
  const store: RestsOptions['store'] = {
    breakers: async () => [],
    writeBreaker: async (write) => {
      state.tries++
      if (state.busy) throw new TriarchError('STORE_BUSY', 'another connection holds the store')
      written.push(write)
      return true
    },
  }
  const rests = new Rests({ environment, store, hosts: () => [], poll: 100, failed: () => undefined })
  return { environment, written, state, rests }
}

it('a rest that a service asked for while the store was busy is told to the other nodes afterwards', async () => {
  const { environment, written, state, rests } = resting()
  rests.heard('shop', environment.now() + 60_000)
  await environment.advance(5_000)
  expect(written).toEqual([])
  state.busy = false
  await environment.advance(2_000)
  expect(written).toHaveLength(1)
})

it('a rest that is over before others could know of it is told to nobody', async () => {
  const { environment, state, rests } = resting()
  rests.heard('shop', environment.now() + 3_000)
  await environment.advance(60_000)
  const { tries } = state
  expect(tries).toBeLessThan(20)
  await environment.advance(60_000)
  expect(state.tries).toBe(tries)
  await rests.drain()
})
