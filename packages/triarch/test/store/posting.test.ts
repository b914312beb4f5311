import { describe, expect, it } from 'vitest'
import { TriarchError } from '../../src/index.ts'
import type { Post, PostOutcome } from '../../src/store/port.ts'
import { Posting } from '../../src/store/sqlite/posting.ts'

const letter = (task: string): Post => ({ task, message: { type: 'tick' }, control: false })

describe('letters sent at once', () => {
  const written: string[][] = []
  const posting = (fail: (posts: readonly Post[]) => Error | null = () => null) => {
    written.length = 0
    return new Posting(async (posts) => {
      written.push(posts.map(({ task }) => task))
      const error = fail(posts)
      if (error) throw error
      return posts.map(({ task }): PostOutcome => (task === 'none' ? 'unknown' : 'posted'))
    })
  }

  it('are written in one transaction, in their order, and each sender is told of its own', async () => {
    const box = posting()
    const outcomes = await Promise.all([
      box.post([letter('a')]),
      box.post([letter('none'), letter('b')]),
      box.post([letter('c')]),
    ])
    expect(outcomes).toEqual([['posted'], ['unknown', 'posted'], ['posted']])
    expect(await box.post([letter('d')])).toEqual(['posted'])
    expect(written).toEqual([['a', 'none', 'b', 'c'], ['d']])
  })

  it('do not share the fate of one that the store cannot take in', async () => {
    const box = posting((posts) => (posts.some(({ task }) => task === 'bad') ? new TypeError('not bound') : null))
    const outcomes = await Promise.allSettled(['a', 'bad', 'b'].map((task) => box.post([letter(task)])))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    written.length = 0
    await expect(box.post([letter('bad')])).rejects.toThrow('not bound')
    expect(written).toEqual([['bad']])
  })

  it('are not written twice where the store may have written them', async () => {
    const box = posting(() => new TriarchError('STORE_FAILED', 'the thread ended'))
    const outcomes = await Promise.allSettled(['a', 'b'].map((task) => box.post([letter(task)])))
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(written).toEqual([['a', 'b']])
  })
})
