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
    const first = it.enter({}, 0)
    expect(first).toBeGreaterThan(1_999)
    pass(first ?? 0)
    expect(it.enter({}, 0)).toBeNull()
  })

  it('is for a few at a time that no process died of as it tried them', () => {
    const { dock: it, pass } = dock()
    pass(5_000)
    const eight = Array.from({ length: 8 }, () => ({}))
    expect(eight.map((one) => it.enter(one, 0))).toEqual(eight.map(() => null))
    expect([it.enter({}, 0), it.enter({}, 0)]).toEqual([13, 25])
    expect(it.leave(eight[3] as object)).toBe(true)
    expect(it.enter({}, 0)).toBeNull()
  })

  it('is kept free for one that must be by itself, and then is for the others again', () => {
    const { dock: it, pass } = dock()
    pass(5_000)
    const [one, two, grave] = [{}, {}, {}]
    expect(it.enter(one, 0)).toBeNull()
    expect(it.enter(grave, 1)).toBe(100)
    expect(it.enter(two, 0)).toBeGreaterThan(0)
    pass(100)
    expect(it.leave(one)).toBe(true)
    expect(it.enter(two, 0)).toBeGreaterThan(0)
    expect(it.enter(grave, 1)).toBeNull()
    expect(it.enter(two, 0)).toBeGreaterThan(0)
    expect(it.leave(grave)).toBe(true)
    pass(1_000)
    expect(it.enter(two, 0)).toBeNull()
  })

  it('is for one at a time that a process died of as it tried it: others are told when to come, one after the other', () => {
    const { dock: it, pass } = dock()
    pass(5_000.5)
    const [one, two] = [{}, {}]
    expect(it.enter(one, 1)).toBeNull()
    expect([it.enter(two, 1), it.enter({}, 2), it.enter({}, 1)]).toEqual([100, 200, 300])
    expect(it.leave(two)).toBe(false)
    pass(SURVIVED)
    expect(it.leave(one)).toBe(true)
    expect(it.leave(one)).toBe(false)
    expect(it.enter(two, 1)).toBeNull()
    // Those before it took longer than was thought.
    expect([it.enter(one, 1), it.enter({}, 1)]).toEqual([550, 1_100])
  })

  it('tells whole milliseconds, and never a wait of more than half a minute', () => {
    const { dock: it } = dock()
    const waits = Array.from({ length: 100 }, () => it.enter({}, 1) ?? 0)
    expect(waits.filter((wait) => !Number.isInteger(wait) || wait > 30_000)).toEqual([])
  })
})
