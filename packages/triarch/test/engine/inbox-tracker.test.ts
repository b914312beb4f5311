import { expect, it } from 'vitest'
import { workflow } from '../../src/index.ts'
import { InboxTracker } from '../../src/scheduler/inbox-tracker.ts'
import type { InboxMessage } from '../../src/store/port.ts'
import { memory } from '../../src/testing/index.ts'
import { seen, stage } from './harness.ts'

const letter: InboxMessage = { id: 7, key: 1, message: { type: 'event', name: 'news', payload: 0 } }

it.each(Array.from({ length: 20 }, (_, turns) => turns))(
  'a letter whose end becomes known %i turns of promises after a reading began is given to its task once',
  async (turns) => {
    const letters = new InboxTracker()
    letters.take(letter.id, letter.key)
    const given: number[] = []
    const reading = letters.deliver({ inbox: async () => [letter] }, 'node', ({ id, key }) => {
      const free = letters.take(id, key)
      if (free) given.push(id)
      return free
    })
    for (let turn = 0; turn < turns; turn++) await null
    letters.drop(letter.id)
    await reading
    expect(given).toEqual([])
  },
)

it('letters at hand count for who keeps others out of a reading, as far as it went', async () => {
  const letters = new InboxTracker()
  const held = { 1: 10, 2: 10, 3: 20, 7: 30, 8: 30, 9: 30 }
  for (const [id, key] of Object.entries(held)) letters.take(Number(id), key)
  const asked: unknown[] = []
  const read = (found: InboxMessage[]) =>
    letters.deliver(
      {
        inbox: async (_, limit, bounds) => {
          asked.push([limit, bounds?.held ?? bounds?.each?.skip])
          return found
        },
      },
      'node',
      ({ id, key }) => letters.take(id, key),
    )
  await read([{ ...letter, id: 3, key: 20, more: true }])
  expect(letters.crowded).toBe(true)
  // Nothing is left of it, though the others still have theirs.
  for (const id of [1, 2]) letters.drop(id)
  await read([])
  expect(letters.crowded).toBe(false)
  expect(asked).toEqual([
    [506, [1, 2, 3, 7, 8, 9]],
    [500, [20, 30]],
  ])
})

it('a letter that comes with a claim and is read again before its task is opened is heard once', async () => {
  const listener = workflow('listener', {
    run: async (_: null, task) => [await task.waitForSignal('news'), await task.waitForSignal('news')],
  })
  const read = Promise.withResolvers<void>()
  const opening = Promise.withResolvers<void>()
  const slow = seen(memory(), (store) => ({
    // All histories are too long to come with their claims whole.
    claim: async (request) => (await store.claim(request)).map((claim) => ({ ...claim, rest: 1_000 })),
    replay: async (...args) => {
      opening.resolve()
      await read.promise
      return store.replay(...args)
    },
    inbox: async (...args) => {
      const letters = await store.inbox(...args)
      if (letters.length > 1) read.resolve()
      return letters
    },
  }))
  await using s = await stage({ workflows: [listener], store: slow })
  const task = await s.submit(listener, null, { startAt: new Date(s.engine.environment.now() + 60_000) })
  await s.settle()
  await task.signal('news', 'first')
  await opening.promise
  await task.signal('news', 'second')
  await read.promise
  await s.advance('2m')
  expect(await task.result()).toEqual(['first', 'second'])
})
