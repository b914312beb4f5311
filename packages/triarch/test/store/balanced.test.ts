import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { BalancedRunner } from '../../src/store/sqlite/balanced.ts'
import { InlineRunner } from '../../src/store/sqlite/inline.ts'
import { WorkerRunner } from '../../src/store/sqlite/worker.ts'
import { handClock } from './clock.ts'
import { creation, newTask, transition } from './samples.ts'

const clock = handClock()
const LARGE = 200

describe('a store that shares its work between two threads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-'))
  const threads: WorkerRunner[] = []
  let opening: Promise<void> | undefined
  const opened = async () => {
    const path = join(mkdtempSync(join(folder, 'store-')), 'store.db')
    const runner = new BalancedRunner(new InlineRunner(clock, path, 10_000), () => {
      const thread = new WorkerRunner(clock, path, 10_000)
      const open = thread.open.bind(thread)
      thread.open = () => {
        opening = open()
        return opening
      }
      threads.push(thread)
      return thread
    })
    await runner.open()
    return runner
  }
  const creations = (name: string, count = LARGE) =>
    Array.from({ length: count }, (_, n) => creation(newTask(`${name}-${n}`)))
  const started = async (runner: BalancedRunner) => {
    await runner.run('commit', creations('first'))
    await opening
    await new Promise(setImmediate)
  }
  afterEach(() => {
    threads.length = 0
  })

  it('starts the other with the first large commit, and answers as one', async () => {
    const runner = await opened()
    await runner.run('commit', creations('small', 3))
    expect(threads).toHaveLength(0)
    await started(runner)
    const large = runner.run('commit', creations('second'))
    const small = runner.run('commit', [creation(newTask('lonely')), creation(newTask('first-7'))])
    expect(await large).toHaveLength(LARGE)
    expect((await large).every(({ ok }) => ok)).toBe(true)
    expect(await small).toEqual([
      { ok: true, key: expect.any(Number) },
      { ok: false, reason: 'exists' },
    ])
    const [outcome] = await runner.run('commit', creations('third', 1))
    const key = outcome?.ok ? outcome.key : null
    await runner.run('commit', [transition({ key: key ?? 0, id: 'third-0', epoch: 1 })])
    expect((await runner.run('records', 'third-0', 0, 10)).map(({ seq }) => seq)).toEqual([1, 2])
    expect(threads).toHaveLength(1)
    await runner.close()
  })

  it('goes on when the other has died, and replaces it', async () => {
    const runner = await opened()
    await started(runner)
    await threads[0]?.close()
    const large = await runner.run('commit', creations('second'))
    expect(large.every(({ ok }) => ok)).toBe(true)
    expect((await runner.run('counts')).tasks).toBe(2 * LARGE)
    expect(threads).toHaveLength(2)
    await runner.close()
  })

  it('removes its files', () => rmSync(folder, { recursive: true }))
})

describe('the share of each of two threads', () => {
  /** One side, which notes what it is asked for and answers when it is told to. */
  function side(name: string) {
    const asked: string[] = []
    const answers: (() => void)[] = []
    const opening = Promise.withResolvers<void>()
    const ended: string[] = []
    const runner = {
      alive: true,
      open: () => {
        ended.push('opened')
        return opening.promise
      },
      run: (what: string) => {
        asked.push(what)
        return new Promise((resolve) => answers.push(() => resolve(name)))
      },
      unanswered: () => void ended.push('unanswered'),
      close: async () => void ended.push('closed'),
    }
    const answer = async () => {
      for (const one of answers.splice(0)) one()
      await new Promise(setImmediate)
    }
    return { asked, ended, runner, answer, opening }
  }
  const scene = () => {
    const inline = side('here')
    const threads: ReturnType<typeof side>[] = []
    const runner = new BalancedRunner(inline.runner as unknown as InlineRunner, () => {
      const thread = side('there')
      threads.push(thread)
      return thread.runner as unknown as WorkerRunner
    })
    const commit = (count: number) =>
      runner.run(
        'commit',
        Array.from({ length: count }, () => creation(newTask('t'))),
      )
    return { inline, threads, runner, commit }
  }
  /** The other thread has been started by a large commit. */
  const started = async () => {
    const all = scene()
    void all.commit(48)
    all.threads[0]?.opening.resolve()
    await all.inline.answer()
    all.inline.asked.length = 0
    return { ...all, thread: all.threads[0] as ReturnType<typeof side> }
  }

  it('is all of the first until the other has started, with the first large commit', async () => {
    const { inline, threads, runner, commit } = scene()
    void runner.open()
    expect(inline.ended).toEqual(['opened'])
    for (const count of [47, 48, 48]) void commit(count)
    expect([inline.asked.length, threads.length]).toEqual([3, 1])
    threads[0]?.opening.resolve()
    await new Promise(setImmediate)
    void commit(48)
    expect([threads[0]?.asked, threads.length]).toEqual([['commit'], 1])
  })

  it('is all of the other while a large commit is at work there, but for what each must be asked itself', async () => {
    const { inline, thread, runner, commit } = await started()
    void runner.run('counts')
    expect(inline.asked).toEqual(['counts'])
    const large = commit(48)
    for (const name of ['task', 'changes'] as const) void runner.run(name as 'counts')
    expect([thread.asked, inline.asked]).toEqual([
      ['commit', 'task'],
      ['counts', 'changes'],
    ])
    await thread.answer()
    expect(await large).toBe('there')
    void runner.run('counts')
    expect(inline.asked).toEqual(['counts', 'changes', 'counts'])
  })

  it('is all of the first once the other is dead, until the next large commit', async () => {
    const { inline, thread, threads, runner, commit } = await started()
    thread.runner.alive = false
    void runner.run('counts')
    expect([inline.asked, threads.length]).toEqual([['counts'], 1])
    void commit(48)
    expect([inline.asked, threads.length]).toEqual([['counts', 'commit'], 2])
  })

  it('is all of the first where the other cannot start, which is tried again', async () => {
    const { inline, threads, commit } = scene()
    void commit(48)
    threads[0]?.opening.reject(new Error('no memory'))
    await new Promise(setImmediate)
    void commit(48)
    expect([inline.asked.length, threads.length]).toEqual([2, 2])
  })

  it('ends with both of them, and a stuck one is told to the other', async () => {
    const { inline, thread, runner } = await started()
    runner.unanswered()
    await runner.close()
    expect([inline.ended, thread.ended]).toEqual([['closed'], ['opened', 'unanswered', 'closed']])
    const { threads, inline: alone, runner: early, commit } = scene()
    void commit(48)
    const closed = early.close()
    await new Promise(setImmediate)
    expect(alone.ended).toEqual([])
    threads[0]?.opening.resolve()
    await closed
    expect([alone.ended, threads[0]?.ended]).toEqual([['closed'], ['opened', 'closed']])
  })
})
