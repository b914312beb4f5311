// Turns of those who read, in virtual time: what one caller, or all of them, may take of the engine's thread.
import { beforeEach, expect, it, vi } from 'vitest'
import { type EndRead, Reads } from '../src/request/reads.ts'

/** Virtual time, and how long the thread has worked. */
const clock = vi.hoisted(() => ({ now: 0, busy: 0, timers: new Map<() => void, number>() }))
vi.mock('../src/environment.ts', async (original) => ({
  ...(await original<object>()),
  monotonic: () => clock.now,
  busy: () => clock.busy,
  timer: (ms: number, callback: () => void) => {
    clock.timers.set(callback, clock.now + ms)
    return () => clock.timers.delete(callback)
  },
}))

async function advance(ms: number): Promise<void> {
  const end = clock.now + ms
  for (;;) {
    const [next] = [...clock.timers].filter(([, at]) => at <= end).sort(([, a], [, b]) => a - b)
    if (!next) break
    clock.timers.delete(next[0])
    clock.now = Math.max(clock.now, next[1])
    next[0]()
    await settled()
  }
  clock.now = end
  await settled()
}
const settled = async () => {
  for (let n = 0; n < 10; n++) await null
}

let moved = 0
beforeEach(() => {
  Object.assign(clock, { now: 1_000, busy: 0 })
  clock.timers.clear()
  moved = 0
})

/** Reads that were asked for: which have begun, in their order, and how to end them. */
function reading(most: number) {
  const reads = new Reads(most, () => moved)
  const begun: string[] = []
  const refused: string[] = []
  const ends = new Map<string, EndRead>()
  const ask = (name: string, signal = new AbortController().signal) => {
    const [caller = ''] = name.split('-')
    void Promise.resolve()
      .then(() => reads.turn(caller, () => signal))
      .then(
        (end) => {
          begun.push(name)
          ends.set(name, end)
        },
        (error) => refused.push(`${name}: ${error.code ?? error}`),
      )
    return settled()
  }
  const end = (name: string, cost = 0) => {
    clock.busy += cost
    ends.get(name)?.()
    return settled()
  }
  return { reads, begun, refused, ask, end }
}

/** Tasks move from now on: the next look finds that there is other work. */
async function work(reads: ReturnType<typeof reading>): Promise<void> {
  moved += 10
  await advance(250)
  await reads.ask('first-0')
  await reads.end('first-0')
  reads.begun.length = 0
}

it('as many reads as may are answered at once where nothing else is to be done, of one caller four', async () => {
  const { begun, ask, end } = reading(6)
  for (const name of ['a-1', 'a-2', 'a-3', 'a-4', 'a-5', 'b-1', 'b-2', 'b-3']) await ask(name)
  expect(begun).toEqual(['a-1', 'a-2', 'a-3', 'a-4', 'b-1', 'b-2'])
  // What ends makes room for whoever has waited the longest and has fewer than four.
  await end('b-1')
  expect(begun.slice(6)).toEqual(['b-3'])
  await end('a-1')
  expect(begun.slice(7)).toEqual(['a-5'])
})

it('while tasks move there is one read at a time, and each caller has a turn before one has another', async () => {
  const all = reading(16)
  const { begun, ask, end } = all
  await work(all)
  for (const name of ['a-1', 'a-2', 'a-3', 'b-1', 'c-1']) await ask(name)
  expect(begun).toEqual(['a-1'])
  for (let n = 0; n < 4; n++) await end(begun.at(-1) as string)
  expect(begun).toEqual(['a-1', 'a-2', 'b-1', 'c-1', 'a-3'])
})

it('while tasks move reads take a tenth of the time of the thread', async () => {
  const all = reading(16)
  const { begun, ask, end } = all
  await work(all)
  await ask('a-1')
  // 300 ms of the thread: 100 ms may be taken at once, the rest is paid back by 2 s in which nothing is read.
  await end('a-1', 300)
  await ask('b-1')
  expect(begun).toEqual(['a-1'])
  for (let n = 0; n < 7; n++) {
    moved += 10
    await advance(250)
  }
  expect(begun).toEqual(['a-1'])
  moved += 10
  await advance(260)
  expect(begun).toEqual(['a-1', 'b-1'])
})

it('a process whose tasks hardly move has other work all the same: reads that slow it down do not make it idle', async () => {
  const { begun, ask, end } = reading(16)
  // One transition in 800 ms, as where reads have all of the thread but for that.
  moved++
  for (const name of ['a-1', 'a-2', 'a-3']) await ask(name)
  expect(begun).toEqual(['a-1'])
  await end('a-1', 300)
  await advance(800)
  moved++
  await advance(800)
  expect(begun).toEqual(['a-1'])
  moved++
  await advance(500)
  expect(begun).toEqual(['a-1', 'a-2'])
})

it('what a caller is about to change is other work before it is done', async () => {
  const { reads, begun, ask } = reading(16)
  reads.changing()
  for (const name of ['a-1', 'b-1']) await ask(name)
  expect(begun).toEqual(['a-1'])
})

it('what reads took is forgotten once there is no other work', async () => {
  const all = reading(16)
  const { begun, ask, end } = all
  await work(all)
  await ask('a-1')
  await end('a-1', 5_000)
  await ask('b-1')
  await advance(1_100)
  expect(begun).toEqual(['a-1', 'b-1'])
})

it('a read that has no turn within 5 s is refused, and keeps no place', async () => {
  const { begun, refused, ask, end } = reading(1)
  await ask('a-1')
  await ask('b-1')
  await advance(4_999)
  expect(refused).toEqual([])
  await advance(1)
  expect(refused).toEqual(['b-1: TOO_MANY_REQUESTS'])
  await end('a-1')
  await ask('c-1')
  expect(begun).toEqual(['a-1', 'c-1'])
})

it('a thousand wait at most: one more is refused at once', async () => {
  const { refused, ask } = reading(1)
  for (let n = 0; n <= 1_000; n++) await ask(`a-${n}`)
  expect(refused).toEqual([])
  await ask('b-1')
  expect(refused).toEqual(['b-1: TOO_MANY_REQUESTS'])
})

it('a client that goes away leaves the line, and those behind it move up', async () => {
  const { begun, refused, ask, end } = reading(1)
  const gone = new AbortController()
  await ask('a-1')
  await ask('b-1', gone.signal)
  await ask('c-1')
  gone.abort(new Error('gone'))
  await settled()
  expect(refused).toEqual(['b-1: Error: gone'])
  await end('a-1')
  expect(begun).toEqual(['a-1', 'c-1'])
  expect(clock.timers.size).toBe(0)
})

it('whoever changes something has a read for each change beside its turn, and no more', async () => {
  const { reads, begun, ask } = reading(1)
  await ask('a-1')
  reads.earn('b', 2)
  for (const name of ['b-1', 'b-2', 'b-3', 'c-1']) await ask(name)
  expect(begun).toEqual(['a-1', 'b-1', 'b-2'])
})
