import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wanted, wantedBusy, wantedParted } from '../../src/policy/demand.ts'

const idle = { waiting: 0, age: 0, running: 0, each: 10, most: null }
const count = fc.nat(10_000)
const load = fc.record({
  ...{ waiting: count, age: fc.nat(3_600_000), running: count },
  ...{ each: fc.integer({ min: 1, max: 100 }), most: fc.option(count) },
})
const within = fc.integer({ min: 100, max: 600_000 })

describe('what work asks for', () => {
  it('is nothing where there is none, and one process where anything waits', () => {
    expect(wanted(idle, 1_000)).toEqual({ slots: 0, processes: 0 })
    expect(wanted({ ...idle, waiting: 1 }, 1_000)).toEqual({ slots: 1, processes: 1 })
  })

  it('is one process, and no more, of work that no process runs: how many it asks for is seen by then', () => {
    expect(wanted({ ...idle, waiting: 500, age: 60_000, each: null }, 1_000)).toEqual({ slots: 1, processes: 1 })
    expect(wanted({ ...idle, each: null }, 1_000)).toEqual({ slots: 0, processes: 0 })
    expect(wanted({ ...idle, waiting: 500, each: null, most: 0 }, 1_000)).toEqual({ slots: 0, processes: 0 })
  })

  it('is what runs while nothing waits for long', () => {
    expect(wanted({ ...idle, running: 31 }, 1_000)).toEqual({ slots: 31, processes: 4 })
    expect(wanted({ ...idle, running: 30, waiting: 50, age: 100 }, 1_000)).toEqual({ slots: 30, processes: 3 })
  })

  it('has a queue that took `age` to go by gone in `within`', () => {
    expect(wanted({ ...idle, running: 10, waiting: 1_000, age: 3_000 }, 1_000)).toEqual({ slots: 40, processes: 4 })
    expect(wanted({ ...idle, running: 10, waiting: 1_000, age: 500 }, 1_000)).toEqual({ slots: 15, processes: 2 })
  })

  it('is never more than there is work for, nor than may run', () => {
    void fc.assert(
      fc.property(load, within, (given, within) => {
        const { slots, processes } = wanted(given, within)
        expect(slots).toBeLessThanOrEqual(given.running + given.waiting)
        if (given.most !== null) expect(slots).toBeLessThanOrEqual(given.most)
        expect(processes).toBe(Math.ceil(slots / given.each))
      }),
    )
  })

  it('is what the pool needs that needs most, where neither lends the other a slot', () => {
    const pools = [
      { running: 0, most: 80 },
      { running: 20, most: 20 },
    ]
    const parted = { pools, processes: 2 }
    const queue = { waiting: 1_000, age: 1_000, running: 20, most: null }
    expect(wantedParted(queue, parted, 1_000)).toEqual({ slots: 40, processes: 4 })
    expect(wantedParted({ ...queue, most: 30 }, parted, 1_000)).toEqual({ slots: 30, processes: 3 })
    // A process less would leave ten of them without a slot.
    expect(wantedParted({ ...queue, waiting: 0 }, parted, 1_000)).toEqual({ slots: 20, processes: 2 })
    // What runs is told later than what waits.
    const before = { pools: pools.map(({ most }) => ({ running: 0, most })), processes: 2 }
    expect(wantedParted({ ...queue, running: 0, age: 0 }, before, 1_000)).toMatchObject({ processes: 1 })
  })

  it('never falls when more waits, or when it waits for longer', () => {
    void fc.assert(
      fc.property(load, within, count, (given, within, more) => {
        const least = wanted(given, within).slots
        expect(wanted({ ...given, waiting: given.waiting + more }, within).slots).toBeGreaterThanOrEqual(least)
        expect(wanted({ ...given, age: given.age + more }, within).slots).toBeGreaterThanOrEqual(least)
      }),
    )
  })

  it('is more schedulers where tasks wait for them, however much room those have', () => {
    const busy = { waiting: 500, age: 3_000, running: 40, each: 10_000, most: null, processes: 2 }
    expect(wantedBusy(busy, 1_000).processes).toBe(8)
    expect(wantedBusy({ ...busy, waiting: 3, running: 0 }, 1_000).processes).toBe(3)
    expect(wantedBusy({ ...busy, waiting: 0 }, 1_000).processes).toBe(1)
    // A tenth of what is allowed is no wait.
    expect(wantedBusy({ ...busy, age: 100 }, 1_000).processes).toBe(1)
    expect(wantedBusy({ ...busy, age: 101 }, 1_000).processes).toBe(3)
  })
})
