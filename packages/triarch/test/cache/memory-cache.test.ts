import { describe, expect, it } from 'vitest'
import { type MemoryAnswer, MemoryCache } from '../../src/cache/memory-cache.ts'

const answer = (bytes = 100): MemoryAnswer => ({
  ...{ value: 'x'.repeat(bytes / 2), seen: 0, names: [], at: 0, fresh: 1, until: 2 },
})
const kept = (memory: MemoryCache, keys: readonly string[]) => keys.filter((key) => memory.get(key) !== undefined)

describe('what a process remembers of answers', () => {
  it('is no more than so many: those that were used last', () => {
    const memory = new MemoryCache({ entries: 3, bytes: 1_000_000 })
    for (const key of ['a', 'b', 'c']) memory.set(key, answer())
    memory.get('a')
    memory.set('d', answer())
    memory.set('e', answer())
    expect([memory.size, kept(memory, ['a', 'b', 'c', 'd', 'e'])]).toEqual([3, ['a', 'd', 'e']])
  })

  it('is no more than so many bytes, whatever is given up for them', () => {
    const memory = new MemoryCache({ entries: 1_000, bytes: 10_000 })
    for (let n = 0; n < 100; n++) memory.set(`${n}`, answer(600))
    expect(memory.size).toBe(10)
    memory.set('large', answer(9_000))
    expect(kept(memory, ['98', '99', 'large'])).toEqual(['large'])
    // One that it has no room for leaves what is there, and nothing of itself.
    memory.set('too large', answer(10_000))
    memory.set('large', answer(10_000))
    expect([memory.size, kept(memory, ['large', 'too large'])]).toEqual([0, []])
  })

  it('is nothing where nothing may be', () => {
    const memory = new MemoryCache({ entries: 0, bytes: 1_000 })
    memory.set('a', answer())
    expect(memory.size).toBe(0)
  })
})
