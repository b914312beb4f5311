import { expect } from 'vitest'
import type { StateStore } from '../../src/store/port.ts'
import { letter, owned } from './samples.ts'

/** What is at hand is not told again, though it counts: five letters of one task, read by bounds and by what is held. */
export async function lettersBeside(store: StateStore): Promise<void> {
  const message = letter('x'.repeat(1_000))
  await owned(store, 't')
  await store.post(Array.from({ length: 5 }, () => ({ task: 't', message, control: false })))
  const all = (await store.inbox('a', 10)).map(({ id }) => id)
  const size = Buffer.byteLength(JSON.stringify(message))
  /** Which of them are told when these are at hand, and whether there are more. */
  const told = async (limit: number, bytes: number, at: number[]) => {
    const held = at.map((place) => all[place] ?? 1e9)
    const read = await store.inbox('a', limit, { bytes, held })
    return [...read.map(({ id }) => all.indexOf(id)), read.at(-1)?.more ?? false]
  }
  expect(await told(10, 1e6, [])).toEqual([0, 1, 2, 3, 4, false])
  expect(await told(10, 1e6, [9])).toEqual([0, 1, 2, 3, 4, false])
  expect(await told(10, 1e6, [0, 2, 4])).toEqual([1, 3, false])
  expect(await told(10, 1e6, [0, 1, 2, 3, 4])).toEqual([false])
  expect(await told(3, 1e6, [0, 1])).toEqual([2, true])
  expect(await told(3, 1e6, [0, 2])).toEqual([1, 2, true])
  expect(await told(5, 1e6, [0, 1, 2, 3, 4])).toEqual([4, true])
  expect(await told(10, 2_500, [1])).toEqual([0, 2, true])
  expect(await told(10, 2_500, [0, 1, 2])).toEqual([2, true])
  expect(await told(10, 2 * size, [0, 1])).toEqual([1, true])
}
