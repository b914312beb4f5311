import { describe, expect, it } from 'vitest'
import { Dock, SURVIVED } from '../../src/agent/trial.ts'

/** One at an instant that is no whole number, as clocks give them. */
function dock() {
  let now = 1_000.25
  return { dock: new Dock({ monotonic: () => now }), pass: (ms: number) => (now += ms) }
}

describe('the place where a process tries suspects', () => {
  it('is closed until the process has lived for a while', () => {
    const { dock: it, pass } = dock()
    const first = it.enter({})
    expect(first).toBeGreaterThan(1_999)
    pass(first ?? 0)
    expect(it.enter({})).toBeNull()
  })

  it('is for one at a time: others are told when to come, one after the other', () => {
    const { dock: it, pass } = dock()
    pass(5_000.5)
    const [one, two] = [{}, {}]
    expect(it.enter(one)).toBeNull()
    expect([it.enter(two), it.enter({}), it.enter({})]).toEqual([100, 200, 300])
    expect(it.leave(two)).toBe(false)
    pass(SURVIVED)
    expect(it.leave(one)).toBe(true)
    expect(it.leave(one)).toBe(false)
    expect(it.enter(two)).toBeNull()
    // Those before it took longer than was thought.
    expect([it.enter(one), it.enter({})]).toEqual([550, 1_100])
  })

  it('tells whole milliseconds, and never a wait of more than half a minute', () => {
    const { dock: it } = dock()
    const waits = Array.from({ length: 100 }, () => it.enter({}) ?? 0)
    expect(waits.filter((wait) => !Number.isInteger(wait) || wait > 30_000)).toEqual([])
  })
})
