import { describe, expect, it } from 'vitest'
import { FairOrder } from '../../src/flow/fair-order.ts'
import type { QueueHead } from '../../src/store/port.ts'

/** Queues that are taken of one by one: of each a text, a letter for each that waits, which is whose it is; capital letters have a weight of 3. */
class Desk {
  readonly turns = new FairOrder()
  readonly queues: Map<string, string>
  round = 0

  constructor(queues: Record<string, string>) {
    this.queues = new Map(Object.entries(queues))
  }

  take(count: number, room: (queue: string) => number = () => 100): string {
    let taken = ''
    for (let n = 0; n < count; n++) {
      const [turn] = this.turns.of(this.#heads(), { most: 1, room, round: this.round++ })
      if (!turn) break
      const waiting = this.queues.get(turn.queue) ?? ''
      this.turns.took(headOf(turn.queue, waiting[0] as string))
      this.queues.set(turn.queue, waiting.slice(1))
      taken += waiting[0]
    }
    return taken
  }

  #heads(): QueueHead[] {
    return [...this.queues].flatMap(([queue, waiting]) => [...waiting.slice(0, 8)].map((it) => headOf(queue, it)))
  }
}

function headOf(agent: string, letter: string): QueueHead {
  const weight = letter === letter.toUpperCase() ? 3 : 1
  return { agent, rank: 0, share: { key: letter, weight } }
}

describe('turns between the queues of an agent', () => {
  it('let a newcomer wait for one of each that waits, in however many queues theirs are', () => {
    const loud = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`q${n}`, 'aaab']))
    const desk = new Desk(loud)
    desk.take(50)
    desk.queues.set('new', 'c')
    expect(desk.take(3)).toContain('c')
  })

  it('come to a queue in which somebody waits behind another, as if that were first there', () => {
    const desk = new Desk({ one: 'aaaa', two: 'aaaa', three: 'aaaa', four: 'aac' })
    expect(desk.take(4)).toContain('c')
    expect(desk.take(3)).toBe('aaa')
  })

  it('are shared by weight', () => {
    const desk = new Desk({ one: 'a'.repeat(80), two: 'a'.repeat(80), three: 'A'.repeat(80) })
    const taken = desk.take(40)
    expect(taken.replaceAll('a', '')).toHaveLength(30)
  })

  it('hold nothing against those who had more while nobody else waited', () => {
    const desk = new Desk({ one: 'a'.repeat(60), two: 'a'.repeat(60) })
    desk.take(50)
    desk.queues.set('new', 'b'.repeat(30))
    expect(desk.take(20).replaceAll('a', '')).toHaveLength(10)
  })

  it('pass over a queue that has no room, and find it where it was', () => {
    const desk = new Desk({ one: 'aaaaaaaa', two: 'bbbbbbbb' })
    expect(desk.take(4, (queue) => (queue === 'two' ? 0 : 1))).toBe('aaaa')
    expect(desk.take(4).replaceAll('a', '').length).toBeGreaterThanOrEqual(2)
  })

  it('go by rank first, and are told for several at once', () => {
    const turns = new FairOrder()
    const urgent = { ...headOf('far', 'z'), rank: 9 }
    const heads = [headOf('one', 'a'), headOf('one', 'a'), headOf('two', 'b'), urgent]
    expect(turns.of(heads, { most: 3, room: () => 2, round: 0 })).toEqual(
      expect.arrayContaining([
        { queue: 'far', count: 1 },
        { queue: 'one', count: 1 },
        { queue: 'two', count: 1 },
      ]),
    )
  })
})
