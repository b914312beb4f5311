import { chmodSync, watch } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { systemEnvironment } from '../../src/environment/system.ts'
import { FileNotifier } from '../../src/store/sqlite/file-notifier.ts'
import { scratch } from '../engine/scratch.ts'

// What a process on a file makes of the hands of others, in time that the test makes.

describe('who hears a hand', () => {
  /** A process whose time and answers the test makes; `touch`: by this process or another, until it is heard. */
  async function scene({ path, store }: ReturnType<typeof scratch>) {
    const open = store(systemEnvironment())
    await open.open()
    const timers = new Set<{ ms: number; callback: () => void }>()
    let now = 1_000
    const environment = {
      ...systemEnvironment(),
      monotonic: () => now,
      soon: (callback: () => void) => callback(),
      timer: (ms: number, callback: () => void) => {
        const timer = { ms, callback }
        timers.add(timer)
        return { cancel: () => void timers.delete(timer), unref: () => undefined }
      },
    }
    const asked: ((changes: number) => void)[] = []
    let told = 0
    const ask = () => new Promise<number>((resolve) => asked.push(resolve))
    const stir = new FileNotifier(environment, path, ask, () => {
      told++
    })
    const other = new FileNotifier(environment, path, async () => null, expect.unreachable)
    stir.listen()
    // Those who watch one file in one process hear in the order in which they began.
    let heard = Promise.withResolvers<void>()
    const watcher = watch(`${path}-shm`, () => heard.resolve())
    const touch = async (by: () => void) => {
      heard = Promise.withResolvers()
      by()
      await heard.promise
    }
    return {
      stir,
      path: `${path}-shm`,
      touch,
      byOther: () => touch(() => other.committed()),
      told: () => told,
      /** Looks that have no answer yet. */
      looks: () => asked.length,
      answer: async (changes: number) => {
        asked.shift()?.(changes)
        for (let turn = 0; turn < 5; turn++) await null
      },
      timers: () => [...timers].map(({ ms }) => ms),
      elapse: (ms: number) => {
        now += ms
        for (const timer of [...timers]) if (timers.delete(timer)) timer.callback()
      },
      async [Symbol.asyncDispose]() {
        watcher.close()
        stir.close()
        other.close()
        await open.close()
      },
    }
  }

  it('is told at once, asks how new it is, and is not told again of that', async () => {
    using file = scratch()
    await using it = await scene(file)
    await it.byOther()
    expect([it.told(), it.looks()]).toEqual([1, 1])
    await it.answer(1)
    expect([it.told(), it.looks()]).toEqual([1, 0])
    // Something of the file is another, and the hand is not.
    await it.touch(() => chmodSync(it.path, 0o600))
    expect([it.told(), it.looks()]).toEqual([1, 0])
  })

  it('looks after its own for what another did in that moment, and is told if there is any', async () => {
    using file = scratch()
    await using it = await scene(file)
    await it.byOther()
    await it.answer(1)
    for (const [changes, told] of [
      [1, 1],
      [2, 2],
    ] as const) {
      await it.touch(() => it.stir.committed())
      expect([it.looks(), it.timers()]).toEqual([0, [5]])
      it.elapse(5)
      await it.answer(changes)
      expect(it.told()).toBe(told)
    }
  })

  it('looks again at what came while it looked', async () => {
    using file = scratch()
    await using it = await scene(file)
    await it.byOther()
    await it.byOther()
    expect([it.told(), it.looks()]).toEqual([1, 1])
    await it.answer(1)
    expect([it.told(), it.looks()]).toEqual([2, 1])
    await it.answer(2)
    expect([it.told(), it.looks()]).toEqual([2, 0])
  })

  it('looks no more often than some microseconds of work are worth, and has some looks to spare', async () => {
    using file = scratch()
    await using it = await scene(file)
    let looks = 0
    for (; looks < 100 && it.timers().length === 0; looks++) {
      await it.byOther()
      await it.answer(looks)
    }
    expect([looks, it.told(), it.timers()]).toEqual([22, 21, [0.5]])
    it.elapse(0.5)
    expect(it.told()).toBe(22)
  })

  it('is told nothing once it is closed, whatever it was about to do', async () => {
    for (const due of [false, true]) {
      using file = scratch()
      await using it = await scene(file)
      await it.byOther()
      await it.answer(1)
      await it.touch(() => it.stir.committed())
      if (due) it.elapse(5)
      it.stir.close()
      expect([it.looks(), it.timers()]).toEqual([due ? 1 : 0, []])
      await it.answer(2)
      expect([it.told(), it.looks()]).toEqual([1, 0])
    }
  })

  it('is told nothing once it is closed of what came while it looked', async () => {
    using file = scratch()
    await using it = await scene(file)
    await it.byOther()
    await it.byOther()
    it.stir.close()
    await it.answer(1)
    expect([it.told(), it.looks()]).toEqual([1, 0])
  })
})
