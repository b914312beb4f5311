import { describe, expect, it } from 'vitest'
import type { Pulse } from '../../src/store/port.ts'
import { Silence } from '../../src/supervisor/silence.ts'

/** Looks every `every` ms of monotonic time at one node with a lease of 10 s. */
function watcher(every = 1_000) {
  const silence = new Silence({ lease: 10_000 })
  let monotonic = 0
  let wall = 1_800_000_000_000
  return {
    silence,
    pass(ms: number, { leap = 0 } = {}) {
      monotonic += ms
      wall += ms + leap
    },
    look(beats: number, { lease = 10_000 as number | null } = {}) {
      const node: Pulse = { id: 'a', mark: `beat ${beats}`, lease, roles: [] }
      return silence.look({ now: wall, nodes: [node] }, monotonic, monotonic, 2 * every)
    },
    get dead() {
      return silence.dead.map(({ id }) => id)
    },
  }
}

describe('a node is dead', () => {
  it('when its beats were the same for as long as its lease, not a moment before', () => {
    const w = watcher()
    w.look(1)
    for (let second = 1; second <= 10; second++) {
      expect(w.dead).toEqual([])
      w.pass(1_000)
      w.look(1)
    }
    expect(w.silence.dead).toEqual([{ id: 'a', mark: 'beat 1' }])
  })

  it('never while it beats, however slow the sweeps are', () => {
    const w = watcher(60_000)
    for (let beats = 1; beats < 10; beats++) {
      w.look(beats)
      w.pass(60_000)
      expect(w.dead).toEqual([])
    }
  })

  it('not before two looks found it silent, however far apart they are', () => {
    const w = watcher(60_000)
    w.look(1)
    w.pass(60_000)
    w.look(1)
    expect(w.dead).toEqual([])
    w.pass(60_000)
    w.look(1)
    expect(w.dead).toEqual(['a'])
  })

  it('not because the one who looks stood still', () => {
    const w = watcher()
    w.look(1)
    w.pass(3_600_000)
    w.look(1)
    w.pass(1_000)
    w.look(1)
    expect(w.dead).toEqual([])
    w.pass(1_000)
    w.look(2)
    for (let second = 0; second < 9; second++) {
      w.pass(1_000)
      w.look(2)
    }
    expect(w.dead).toEqual([])
  })

  it.each([3_600_000, -3_600_000, 86_400_000])('not because the clock of the store was set %i ms', (leap) => {
    const w = watcher()
    for (let second = 0; second < 30; second++) {
      w.look(Math.floor(second / 3))
      w.pass(1_000, { leap: second === 15 ? leap : 0 })
      expect(w.dead).toEqual([])
    }
  })
})

describe("a leap of the store's clock", () => {
  it('ahead is told once, by its size', () => {
    const w = watcher()
    w.look(1)
    w.pass(1_000, { leap: 3_600_000 })
    expect(w.look(1)).toBe(3_600_000)
    w.pass(1_000)
    expect(w.look(1)).toBe(0)
  })

  it('back, or by less than a second, is none', () => {
    const w = watcher()
    w.look(1)
    w.pass(1_000, { leap: -3_600_000 })
    expect(w.look(1)).toBe(0)
    w.pass(1_000, { leap: 900 })
    expect(w.look(1)).toBe(0)
  })
})
