import { expect, it } from 'vitest'
import { SynchronisedEnvironment } from '../../src/environment/synchronised.ts'
import { World } from '../../src/testing/world.ts'

/** A machine whose clock is an hour ahead, and a store it reaches in so many ms each way. */
function remote(world: World, there: number, back: number) {
  const machine = world.machine('node', { skew: 3_600_000 })
  const environment = new SynchronisedEnvironment(machine)
  const ask = () =>
    new Promise<number>((resolve) => {
      world.after(there, 'asked', () => {
        const told = world.now
        world.after(back, 'told', () => resolve(told))
      })
    })
  return { machine, environment, ask }
}

it('follows the clock it asks, is never ahead of it, and behind by no more than an answer takes', async () => {
  const world = new World()
  const { environment, ask } = remote(world, 7, 5)
  expect(environment.now() - world.now).toBe(3_600_000)
  void environment.synchronise(ask)
  await world.run(1_000)
  expect(world.now - environment.now()).toBe(5)
})

it('comes nearer with a better answer, and not further away with a worse', async () => {
  const world = new World()
  const { environment, ask } = remote(world, 0, 50)
  void environment.synchronise(ask)
  await world.run(100)
  void environment.synchronise(async () => world.now - 2)
  await world.run(100)
  expect(world.now - environment.now()).toBe(2)
  void environment.synchronise(ask)
  await world.run(100)
  expect(world.now - environment.now()).toBe(2)
})

it('is not moved when the clock of its machine jumps, but when the other does', async () => {
  const world = new World()
  const { machine, environment, ask } = remote(world, 1, 1)
  void environment.synchronise(ask)
  await world.run(100)
  machine.skew -= 600_000
  expect(world.now - environment.now()).toBe(1)
  void environment.synchronise(async () => world.now - 60_000)
  await world.run(1)
  expect(world.now - environment.now()).toBe(60_000)
})
