import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { agent, PermanentError, preview, workflow } from '../../src/index.ts'
import type { SqliteTransaction } from '../../src/store/sqlite/index.ts'
import { stage } from '../engine/harness.ts'
import { scratch } from '../engine/scratch.ts'

function hosts() {
  const log: string[] = []
  const broken = new Set<string>()
  const held = new Set<string>()
  const own = agent('hosts')
  const create = own.action('create', {
    rescue: 'pause',
    plan(input: { host: string; disks: number }, plan) {
      const disks = Array.from({ length: input.disks }, (_, n) => plan.step(attach, { disk: `${input.host}-${n}` }))
      plan.self({ host: input.host, disks: disks.map(({ output }) => output.id) })
    },
    run(input: { host: string; disks: string[] }) {
      log.push(`run ${input.host} ${input.disks.join('+')}`)
      if (broken.has(`run ${input.host}`)) throw new PermanentError('broken')
      return { address: `${input.host}.lan` }
    },
    async finalize({ input, output }) {
      if (held.has(input.host)) await new Promise(() => undefined)
      log.push(`finalize ${input.host} ${output.address}`)
      if (broken.has(input.host)) throw new PermanentError('broken')
    },
  })
  const attach = own.action('attach', {
    run: ({ disk }: { disk: string }) => ({ id: disk.toUpperCase() }),
    finalize: ({ output }) => void log.push(`finalize ${output.id}`),
  })
  const flow = workflow('flow', {
    plan(_: null, plan) {
      const [a] = ['a', 'b'].map((host) => plan.step(create, { host, disks: host === 'a' ? 2 : 0 }))
      return a?.output.address
    },
  })
  return { log, broken, held, own, flow, agents: [own] }
}

describe('the finalize phase', () => {
  it('comes after every run has succeeded, one step after the other in the order of planning', async () => {
    const { log, flow, agents } = hosts()
    await using s = await stage({ workflows: [flow], agents })
    expect(await (await s.submit(flow, null)).result()).toBe('a.lan')
    expect(log.slice(0, 2).sort()).toEqual(['run a A-0+A-1', 'run b '])
    expect(log.slice(2)).toEqual(['finalize A-0', 'finalize A-1', 'finalize a a.lan', 'finalize b b.lan'])
    const phases = (await preview(flow, null)).steps.map(({ phase, within }) => [phase, ...within])
    expect(phases.slice(-1)).toEqual([['finalize', 'create']])
  })

  it('is resumed where it was, and repeats no step that was recorded', async () => {
    const { log, held, flow, agents } = hosts()
    held.add('a')
    using file = scratch()
    const first = await stage({ workflows: [flow], agents, store: file.store })
    await first.submit(flow, null, { id: 't' })
    await first.settle()
    await first.kill()
    held.clear()
    await using second = await stage({ workflows: [flow], agents, store: file.store, seed: 2 })
    await second.advance('1m')
    expect(await second.engine.tasks.get('t').result()).toBe('a.lan')
    expect(log.slice(2)).toEqual(['finalize A-0', 'finalize A-1', 'finalize a a.lan', 'finalize b b.lan'])
  })

  it('leaves out what was skipped, sees an edited input, and is rescued like any step', async () => {
    const { log, broken, flow, agents } = hosts()
    broken.add('run a').add('b')
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    await s.settle()
    expect(await task.status()).toMatchObject({ status: 'paused', pause: { cause: 'step' } })
    broken.delete('run a')
    await task.retry({ step: 3, input: { host: 'z', disks: [] } })
    await s.settle()
    expect(log).toContain('finalize z z.lan')
    expect(await task.status()).toMatchObject({ status: 'paused', pause: { error: { message: 'broken' } } })
    await task.skip({ step: 8 })
    await s.settle()
    expect(await task.result()).toBe('z.lan')
    expect((await task.status()).outcome).toBe('warning')
  })
})

describe('a finalize phase that is a transaction', () => {
  function ledger() {
    const log: string[] = []
    const broken = new Set<string>()
    const held = new Set<string>()
    const own = agent('books')
    const book = own.action('book', {
      secrets: ['pin'],
      run: ({ name }: { name: string; pin: string }) => ({ name: name.toUpperCase() }),
      async finalize({ input, output }, _, tx: SqliteTransaction) {
        log.push(input.name)
        tx.prepare('INSERT INTO booked VALUES (?)').run(output.name)
        if (held.has(input.name)) await new Promise(() => undefined)
        if (broken.has(input.name)) throw new PermanentError(`no ${input.pin}`)
      },
    })
    const flow = workflow('flow', {
      finalizeAs: 'transaction',
      rescue: 'pause',
      plan(names: string[], plan) {
        for (const name of names) plan.step(book, { name, pin: 'pin-4711' }, { rescue: 'skip' })
      },
    })
    return { log, broken, held, flow, agents: [own] }
  }

  /** What the table holds. */
  function booked(path: string): string[] {
    const db = new DatabaseSync(path)
    db.exec('CREATE TABLE IF NOT EXISTS booked (name TEXT)')
    const names = db.prepare('SELECT name FROM booked ORDER BY rowid').all()
    db.close()
    return names.map(({ name }) => String(name))
  }

  it('takes effect as a whole, in the order of planning, with the record of it', async () => {
    const { log, flow, agents } = ledger()
    using file = scratch()
    await using s = await stage({ workflows: [flow], agents, store: file.store })
    booked(file.path)
    const task = await s.submit(flow, ['a', 'b', 'c'])
    await task.result()
    expect(log).toEqual(['a', 'b', 'c'])
    expect(booked(file.path)).toEqual(['A', 'B', 'C'])
    const steps = (await task.plan())?.steps ?? []
    expect(steps.map(({ name, phase, after }) => [name, phase, after]).at(-1)).toEqual([
      'finalize',
      'finalize',
      [1, 2, 3],
    ])
    expect(JSON.stringify([await task.history(), await task.steps()])).not.toContain('pin-4711')
  })

  it('leaves nothing of it when one part fails, and waits for an operator like any step', async () => {
    const { log, broken, flow, agents } = ledger()
    using file = scratch()
    await using s = await stage({ workflows: [flow], agents, store: file.store })
    booked(file.path)
    broken.add('b')
    const task = await s.submit(flow, ['a', 'b'])
    await s.settle()
    expect(await task.status()).toMatchObject({
      status: 'paused',
      pause: { cause: 'step', error: { message: 'no •••' } },
    })
    expect(booked(file.path)).toEqual([])
    broken.clear()
    await task.resume()
    await s.settle()
    await task.result()
    expect(booked(file.path)).toEqual(['A', 'B'])
    expect(log).toEqual(['a', 'b', 'a', 'b'])
  })

  it('takes effect once, though its node dies, and on a node that has the code', async () => {
    const { held, flow, agents } = ledger()
    using file = scratch()
    const options = { poll: '1s', store: file.store } as const
    const first = await stage({ ...options, workflows: [flow], agents })
    booked(file.path)
    held.add('b')
    await first.submit(flow, ['a', 'b'], { id: 't' })
    await first.settle()
    await first.kill()
    expect(booked(file.path)).toEqual([])
    held.clear()
    // It may take the task up for an operator's word, and must leave this to others.
    const stranger = await stage({ ...options, seed: 2 })
    await stranger.engine.tasks.get('t').pause()
    await stranger.advance('1m')
    await stranger.engine.tasks.get('t').resume()
    await stranger.advance('1m')
    expect(booked(file.path)).toEqual([])
    await stranger.kill()
    await using last = await stage({ ...options, workflows: [flow], agents, seed: 3 })
    await last.advance('1m')
    await last.engine.tasks.get('t').result()
    expect(booked(file.path)).toEqual(['A', 'B'])
  })

  it('belongs to plans', () => {
    expect(() => workflow('x', { finalizeAs: 'transaction', run: () => 1 } as never)).toThrow('of a plan')
  })
})
