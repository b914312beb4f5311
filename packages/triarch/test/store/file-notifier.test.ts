import { statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { systemEnvironment } from '../../src/environment/system.ts'
import { Triarch, workflow } from '../../src/index.ts'
import type { ImportedTask, SweepReport, Transition } from '../../src/store/port.ts'
import { FileNotifier } from '../../src/store/sqlite/file-notifier.ts'
import { notifyWhen } from '../../src/store/sqlite/notify-when.ts'
import { scratch } from '../engine/scratch.ts'
import { newTask } from './samples.ts'

const flow = workflow('flow', { run: async (n: number) => n + 1 })

describe('processes on one file', () => {
  it('hear of each other’s writes, and wait for no look that is due much later', async () => {
    using file = scratch()
    const { store } = file
    const poll = '1d'
    await using runs = new Triarch({ store, workflows: [flow], poll })
    await runs.start()
    await using submits = new Triarch({ store, workflows: [flow], roles: [], poll, notices: false })
    for (let n = 0; n < 5; n++) expect(await (await submits.submit(flow, n)).result()).toBe(n + 1)
  })
})

describe('a process that listens', () => {
  it('is told once of what others committed, however much, and of nothing that it committed itself', async () => {
    using file = scratch()
    const [own, other] = [file.store(systemEnvironment()), file.store(systemEnvironment())]
    const write = (store: typeof own, id: string) => store.heartbeat({ id, roles: [], lease: 60_000 })
    await own.open()
    await other.open()
    let told = 0
    let next = Promise.withResolvers<void>()
    const hears = new FileNotifier(
      systemEnvironment(),
      file.path,
      () => own.changes(),
      () => {
        told++
        next.resolve()
      },
    )
    const tells = new FileNotifier(systemEnvironment(), file.path, async () => null, expect.unreachable)
    hears.listen()
    // The first look knows no number before it.
    hears.committed()
    await next.promise
    for (const round of [2, 3]) {
      next = Promise.withResolvers()
      for (let n = 0; n < 3; n++) {
        await write(own, 'own')
        hears.committed()
      }
      await write(other, 'other')
      tells.committed()
      await next.promise
      expect(told).toBe(round)
    }
    hears.close()
    tells.close()
    await own.close()
    await other.close()
  })

  it('hears of another at once although it has just committed itself, whoever was first', async () => {
    using file = scratch()
    const [own, other] = [file.store(systemEnvironment()), file.store(systemEnvironment())]
    await own.open()
    await other.open()
    let next = Promise.withResolvers<void>()
    // What comes later than at once never comes.
    const patient = { ...systemEnvironment(), timer: () => ({ cancel: () => undefined }) }
    const hears = new FileNotifier(
      patient,
      file.path,
      () => own.changes(),
      () => next.resolve(),
    )
    const tells = new FileNotifier(systemEnvironment(), file.path, async () => null, expect.unreachable)
    hears.listen()
    tells.committed()
    await next.promise
    for (const inOrder of [
      [hears, tells],
      [tells, hears],
    ]) {
      next = Promise.withResolvers()
      await other.heartbeat({ id: 'other', roles: [], lease: 60_000 })
      for (const it of inOrder) it.committed()
      await next.promise
    }
    hears.close()
    tells.close()
    await own.close()
    await other.close()
  })

  it('has its waiters told, and not a node that takes up nothing: that looks for settings when it polls', async () => {
    using file = scratch()
    const [own, other] = [file.store(systemEnvironment()), file.store(systemEnvironment())]
    await own.open()
    await other.open()
    const ended = Promise.withResolvers<void>()
    own.watch?.(() => expect.unreachable(), false)
    own.watchEnds?.(() => ended.resolve())
    await other.submit([newTask('t')])
    await ended.promise
    await own.close()
    await other.close()
  })

  it('may do so where there is no such file: then nothing is told, and nothing fails', () => {
    using file = scratch()
    const stir = new FileNotifier(systemEnvironment(), file.path, async () => null, expect.unreachable)
    stir.listen()
    stir.committed()
    stir.close()
  })
})

describe('who has committed', () => {
  /** A process whose time the test makes, on a file that another one has open. */
  async function scene({ path, store }: ReturnType<typeof scratch>) {
    const other = store(systemEnvironment())
    await other.open()
    const [soon, timers]: [(() => void)[], Set<() => void>] = [[], new Set()]
    let now = 0
    const environment = {
      ...systemEnvironment(),
      monotonic: () => now,
      soon: (callback: () => void) => void soon.push(callback),
      timer: (_: number, callback: () => void) => {
        timers.add(callback)
        return { cancel: () => void timers.delete(callback) }
      },
    }
    let hand = statSync(`${path}-shm`).mtimeMs
    /** Whether others were told since this was asked last. */
    const told = () => {
      const before = hand
      hand = statSync(`${path}-shm`).mtimeMs
      return hand !== before
    }
    const turn = () => {
      for (const callback of soon.splice(0)) callback()
    }
    const elapse = () => {
      for (const callback of [...timers]) callback()
      timers.clear()
    }
    const wait = () => {
      now += 1
    }
    const stir = new FileNotifier(environment, path, async () => null, expect.unreachable)
    return { stir, told, turn, elapse, wait, [Symbol.asyncDispose]: () => other.close() }
  }

  it('tells others at once, but not more often than they would look', async () => {
    using file = scratch()
    await using it = await scene(file)
    const { stir, told, turn, wait } = it
    stir.committed('now')
    expect(told()).toBe(true)
    stir.committed('now')
    expect(told()).toBe(false)
    turn()
    expect(told()).toBe(true)
    wait()
    stir.committed('now')
    expect(told()).toBe(true)
    stir.close()
  })

  it('tells them once of all that it did before this loop is over', async () => {
    using file = scratch()
    await using it = await scene(file)
    const { stir, told, turn, wait } = it
    stir.committed('soon')
    stir.committed('soon')
    expect(told()).toBe(false)
    turn()
    expect(told()).toBe(true)
    turn()
    expect(told()).toBe(false)
    wait()
    stir.committed('soon')
    stir.committed('now')
    expect(told()).toBe(true)
    turn()
    expect(told()).toBe(false)
    stir.close()
  })

  it('tells them of what nobody waits for with the next of these, or a little later, or when it closes', async () => {
    using file = scratch()
    await using it = await scene(file)
    const { stir, told, turn, elapse, wait } = it
    stir.committed('later')
    turn()
    expect(told()).toBe(false)
    elapse()
    expect(told()).toBe(true)
    stir.committed('later')
    stir.committed('soon')
    turn()
    expect(told()).toBe(true)
    elapse()
    expect(told()).toBe(false)
    stir.committed('later')
    stir.close()
    expect(told()).toBe(true)
    wait()
    stir.committed('now')
    expect(told()).toBe(false)
  })
})

describe('others hear', () => {
  const moved = {
    work: [],
    withdraw: [],
    children: [],
    posts: [],
    release: null,
    snapshot: null,
  } as unknown as Transition
  const ended = { ...moved, snapshot: { status: 'stopped' } } as unknown as Transition
  const handed = { ...moved, work: [{}] } as unknown as Transition
  const rested = { ...moved, release: { wakeAt: 1, ready: false, orphaned: false } }
  const freed = { ...moved, release: { wakeAt: null, ready: true, orphaned: false } }
  const committed = (...batch: Transition[]) => notifyWhen({ name: 'commit', args: [batch], result: [], works: true })
  const report = { deadNodes: [], releasedTasks: 0, expiredSteps: 0, overdueTasks: 0, schedules: true, more: false }
  const swept = (result: SweepReport | null) =>
    notifyWhen({ name: 'sweep', args: [{ name: 'l', token: 1, limit: 1 }], result, works: true })

  it('at once of the ends that they may wait for', () => {
    expect(committed(moved, ended)).toBe('now')
    expect(notifyWhen({ name: 'reply', args: [[]], result: [], works: true })).toBe('now')
  })

  it('of what there is to do once this process has taken its part, and at once where it takes none', () => {
    for (const batch of [[ended, handed], [freed], [{ ...moved, gates: { locks: [], unlocks: [1] } }]])
      expect(committed(...batch)).toBe('soon')
    for (const works of [true, false])
      expect(notifyWhen({ name: 'submit', args: [[], undefined], result: [], works })).toBe(works ? 'soon' : 'now')
    for (const found of [{ deadNodes: ['n'] }, { releasedTasks: 1 }, { expiredSteps: 1 }, { overdueTasks: 1 }])
      expect(swept({ ...report, ...found })).toBe('soon')
  })

  it('of a task that was brought here only if it can go on', () => {
    const brought = (ready: boolean, result: boolean, works = true) =>
      notifyWhen({ name: 'importTask', args: [{ ready } as ImportedTask], result, works })
    expect([brought(true, true), brought(true, true, false)]).toEqual(['soon', 'now'])
    expect([brought(false, true), brought(true, false)]).toEqual([null, null])
  })

  it('at once of a node that leaves, for this process does not take up what that gives back', () => {
    expect(notifyWhen({ name: 'leave', args: ['n'], result: undefined, works: true })).toBe('now')
  })

  it('later of what only moved', () => {
    expect(committed(moved, rested)).toBe('later')
  })

  it('never of what they cannot see, nor of a sweep that found nothing', () => {
    expect(notifyWhen({ name: 'inbox', args: ['n', 1, undefined], result: [], works: true })).toBe(null)
    expect(swept(report)).toBe(null)
    expect(swept(null)).toBe(null)
  })
})
