import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/environment/random.ts'
import { agent, PermanentError, type StepContext, workflow } from '../../src/index.ts'
import type { TaskRunner } from '../../src/scheduler/runner.ts'
import { Strays } from '../../src/scheduler/stray.ts'
import { UNCHANGED } from '../../src/scheduler/transition.ts'
import { Witness } from '../../src/scheduler/witness.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import type { OwnedTask, RecordMark, Transition, WorkRequest } from '../../src/store/port.ts'
import { memory } from '../../src/testing/index.ts'
import { Puppet } from '../wire/puppet.ts'
import { seen, stage } from './harness.ts'

const EVERY = 60_000
const lease = { holds: () => true }

/** A witness that sees one record of each task, and what it asks the store about. */
function witness() {
  let now = 0
  const asked: RecordMark[][] = []
  const lost = async (marks: readonly RecordMark[]) => {
    asked.push([...marks])
    return []
  }
  const options = {
    store: { lost },
    lease,
    environment: { monotonic: () => now, random: () => 0.5 },
    alert: () => {},
    every: EVERY,
  }
  const it = new Witness({ ...options, wentBack: () => {} }, new Map())
  let key = 0
  return {
    see: (id: string) => {
      const runner = { id, key: ++key, state: { workflow: 'w' } } as TaskRunner
      it.see(runner, { ...UNCHANGED, key, id, node: 'a', epoch: 1, seq: 2, at: now })
    },
    later: (ms: number) => {
      now += ms
    },
    witness: it,
    asked: async () => {
      await it.isBehind()
      return asked.pop()?.map(({ id }) => id) ?? []
    },
  }
}

describe('what a node remembers of its records', () => {
  it('reaches back behind the look before, however much is written since', async () => {
    const w = witness()
    for (let n = 0; n < 4_000; n++) {
      w.later(EVERY / 1_000)
      w.see(`${n}`)
    }
    const asked = (await w.asked()).map(Number)
    expect(Math.min(...asked)).toBeLessThan(3_000)
    expect(Math.max(...asked)).toBe(3_999)
    expect(asked.length).toBeLessThanOrEqual(16)
  })

  it('is said of each task whose commit was refused, however many were at once', async () => {
    const told: unknown[] = []
    let back = 0
    const lost = async (marks: readonly RecordMark[]) => marks.map(({ id }) => ({ id, last: 1 }))
    const options = {
      store: { lost },
      lease,
      environment: { monotonic: () => 0, random: () => 0.5 },
      every: EVERY,
      wentBack: () => back++,
    }
    const it = new Witness({ ...options, alert: ({ task }) => told.push(task) }, new Map())
    for (const id of ['a', 'b', 'c'])
      it.judge({ id, key: id.charCodeAt(0), recorded: 3, state: { workflow: 'w' } } as TaskRunner)
    await it.report()
    expect(told).toEqual(['a', 'b', 'c'])
    expect(back).toBe(3)
  })

  it('is not said of one that is not there any more, where the lease is over: others may have finished it', async () => {
    for (const [holds, last, back] of [
      [true, null, 1],
      [false, null, 0],
      [false, 1, 1],
    ] as const) {
      let told = 0
      const lost = async (marks: readonly RecordMark[]) => marks.map(({ id }) => ({ id, last }))
      const options = {
        store: { lost },
        environment: { monotonic: () => 0, random: () => 0.5 },
        every: EVERY,
        alert: () => {},
      }
      const it = new Witness({ ...options, lease: { holds: () => holds }, wentBack: () => told++ }, new Map())
      it.judge({ id: 'a', key: 1, recorded: 3, state: { workflow: 'w' } } as TaskRunner)
      await it.report()
      expect(told).toBe(back)
    }
  })

  it('is forgotten after a while, and lasts while nothing is written', async () => {
    const w = witness()
    w.see('early')
    w.later(100 * EVERY)
    expect(await w.asked()).toEqual(['early'])
    for (let n = 0; n < 16; n++) {
      w.later(EVERY)
      w.see(`t${n}`)
    }
    expect(await w.asked()).not.toContain('early')
  })
})

describe('a task that is not there any more', () => {
  const release = { wakeAt: null, ready: false, orphaned: false }
  const a = { id: 'a', key: 1, state: { workflow: 'w' } } as TaskRunner
  const b = { id: 'b', key: 2, state: { workflow: 'w' } } as TaskRunner

  it.each<[which: string, here: TaskRunner[], behind: boolean, holds?: boolean]>([
    ['is missed while it is here', [a], true],
    ['is not where the lease is over: others may have finished it, and retention dropped it', [a], false, false],
    [
      'is not once it was given back, of which nothing is remembered: others finished it, and retention dropped it',
      [],
      false,
    ],
    [
      'is not while it is being given back: others may have had it before that is heard here',
      [{ ...a, returning: true } as TaskRunner],
      false,
    ],
    ['is not where its id is that of another by now', [{ ...a, key: 3 } as TaskRunner], false],
  ])('%s', async (_, here, behind, holds = true) => {
    const lost = async (marks: readonly RecordMark[]) =>
      marks.flatMap(({ id }) => (id === 'a' ? [{ id, last: null }] : []))
    let now = 0
    const environment = { monotonic: () => now, random: () => 0.5 }
    const options = { store: { lost }, lease: { holds: () => holds }, environment, alert: () => {}, every: EVERY }
    const it = new Witness({ ...options, wentBack: () => {} }, new Map(here.map((runner) => [runner.id, runner])))
    const see = ({ id, key }: TaskRunner, seq: number, given: Transition['release']) =>
      it.see({ id, key, state: { workflow: 'w' } } as TaskRunner, {
        ...UNCHANGED,
        ...{ key: key ?? 0, id, node: 'n', epoch: 1, seq, at: now, release: given },
      })
    see(a, 2, null)
    now += EVERY
    // Of each span the last is remembered.
    see(a, 2, release)
    see(b, 2, null)
    expect(await it.isBehind()).toBe(behind)
  })
})

describe('a request that no record tells of', () => {
  const request = { step: 1, operation: 'run', attempt: 1 } as const

  /** Whether the store went back, which has no such request. */
  const isBehind = async (awaits: boolean, { holds = true, returning = false } = {}) => {
    const here = { id: 't', key: 1, state: { workflow: 'w' }, returning, awaits: () => awaits }
    const runner = here as unknown as TaskRunner
    const lost = async (marks: readonly RecordMark[]) =>
      marks.flatMap((mark) => (mark.request ? [{ id: mark.id, last: mark.seq, request: true as const }] : []))
    const options = {
      store: { lost },
      environment: { monotonic: () => 0, random: () => 0.5 },
      every: EVERY,
      alert: () => {},
    }
    const lease = { holds: () => holds }
    const it = new Witness({ ...options, lease, wentBack: () => {} }, new Map([['t', runner]]))
    const work = [request as unknown as WorkRequest]
    it.see(runner, { ...UNCHANGED, key: 1, id: 't', node: 'a', epoch: 1, seq: 2, at: 0, work })
    return it.isBehind()
  }

  it('is missed while the task waits for an answer to it, and no longer', async () => {
    expect(await isBehind(true)).toBe(true)
    expect(await isBehind(false)).toBe(false)
  })

  it('is missed though others of the task came after it, in the same span, once the store had gone back', async () => {
    const requests = [1, 2, 3].map((step) => ({ ...request, step }) as unknown as WorkRequest)
    const awaited = new Set(requests)
    const here = { id: 't', key: 1, state: { workflow: 'w' }, returning: false, awaits: (it: never) => awaited.has(it) }
    const runner = here as unknown as TaskRunner
    const lost = async (marks: readonly RecordMark[]) =>
      marks.flatMap(({ id, seq, request }) => (request?.step === 1 ? [{ id, last: seq, request: true as const }] : []))
    const environment = { monotonic: () => 0, random: () => 0.5 }
    const options = { store: { lost }, environment, every: EVERY, alert: () => {}, lease, wentBack: () => {} }
    const it = new Witness(options, new Map([['t', runner]]))
    for (const of of requests)
      it.see(runner, { ...UNCHANGED, key: 1, id: 't', node: 'a', epoch: 1, seq: 2, at: 0, work: [of] })
    expect(await it.isBehind()).toBe(true)
    // What was answered is not there any more, and nobody waits for it.
    awaited.delete(requests[0] as WorkRequest)
    expect(await it.isBehind()).toBe(false)
  })

  it('is one of a sample where there are more in a span than are remembered', async () => {
    const asked: RecordMark[] = []
    const here = { id: 't', key: 1, state: { workflow: 'w' }, returning: false, awaits: () => true }
    const runner = here as unknown as TaskRunner
    const lost = async (marks: readonly RecordMark[]) => {
      asked.push(...marks)
      return []
    }
    const random = seededRandom(1)
    const options = { store: { lost }, environment: { monotonic: () => 0, random }, every: EVERY, alert: () => {} }
    const it = new Witness({ ...options, lease, wentBack: () => {} }, new Map([['t', runner]]))
    for (let step = 1; step <= 1_000; step++) {
      const work = [{ ...request, step } as unknown as WorkRequest]
      it.see(runner, { ...UNCHANGED, key: 1, id: 't', node: 'a', epoch: 1, seq: 2, at: 0, work })
    }
    expect(await it.isBehind()).toBe(false)
    expect(asked).toHaveLength(16)
    expect(asked.some((mark) => (mark.request?.step ?? 0) <= 500)).toBe(true)
    expect(asked.some((mark) => (mark.request?.step ?? 0) > 500)).toBe(true)
  })

  it('is not missed where the lease is over: others may have the task, and have had the answer', async () => {
    expect(await isBehind(true, { holds: false })).toBe(false)
  })

  it('is not missed while the task is being given back: others may have had it, and the answer', async () => {
    expect(await isBehind(true, { returning: true })).toBe(false)
  })

  /** A process of agents has it while the store is asked whether it is still there, and gives it back before the store answers. */
  async function askedFor() {
    const own = agent('own')
    const act = own.action('act', { run: () => null, attemptWithin: '10m' })
    const flow = workflow('flow', { run: (_: null, task) => task.run(act, null) })
    const answer = Promise.withResolvers<void>()
    const written = Promise.withResolvers<void>()
    const heard = Promise.withResolvers<void>()
    let asked = false
    let returned = false
    let requests = 0
    const store = seen(memory(), (inner) => ({
      async lost(marks) {
        if (returned)
          return marks.flatMap(({ id, seq, request }) => (request ? [{ id, last: seq, request: true }] : []))
        asked ||= marks.some((mark) => mark.request)
        if (asked) await answer.promise
        return inner.lost(marks)
      },
      async commit(transitions) {
        const isRequest = transitions.some(({ events, work }) => events === null && work.length > 0)
        if (isRequest && ++requests > 1) await written.promise
        const outcomes = await inner.commit(transitions)
        returned = transitions.some(({ release }) => release !== null)
        if (returned) await heard.promise
        return outcomes
      },
    }))
    const s = await stage({ store, workflows: [flow], lease: '10s', sweep: '5s', poll: '1s' })
    const puppet = new Puppet(s.engine.triarch.remoteAgents(), 'process')
    await puppet.hello({ own: 1 })
    const task = await s.submit(flow, null)
    /** The name of the attempt that it has. */
    const given = async () => {
      await s.advance('1s')
      const [attempt] = await puppet.attempts()
      return attempt?.attempt ?? ''
    }
    const live = async (looks: number, until = () => false) => {
      for (let look = 0; look < looks && !until(); look++) {
        await s.advance('1s')
        await puppet.say()
      }
    }
    const first = await given()
    // A task that waits for its queue alone soon leaves memory: the request is made right before the store is asked.
    await live(14)
    const credit = (slots: number) => puppet.say({ type: 'credit', agent: 'own', slots })
    return {
      ...{ s, puppet, first, given, credit, answer, written, heard, live },
      returned: () => returned,
      async untilAsked() {
        await live(10, () => asked)
        expect(asked).toBe(true)
      },
      async finish(attempt: string) {
        expect(s.alerts).toEqual([])
        await puppet.reply(attempt, { kind: 'done', output: 'done' })
        await s.advance('1s')
        expect(await task.status()).toMatchObject({ outcome: 'success', output: 'done' })
      },
    }
  }

  it('is not missed once an agent gave it back, and the same attempt is asked for anew by one that is not written yet', async () => {
    const { s, puppet, first, given, answer, written, untilAsked, finish } = await askedFor()
    await using _ = s
    await puppet.reply(first, { kind: 'withdrawn', after: 1_000 })
    await s.advance('1s')
    const attempt = await given()
    await untilAsked()
    await puppet.reply(attempt, { kind: 'withdrawn', after: 1_000 })
    await s.advance('2s')
    answer.resolve()
    await s.advance('1s')
    written.resolve()
    await finish(await given())
  })

  it('is not missed once an agent gave it back, and the same attempt runs here', async () => {
    const { s, puppet, first, given, credit, answer, untilAsked, finish } = await askedFor()
    await using _ = s
    await credit(0)
    await puppet.reply(first, { kind: 'withdrawn' })
    await s.advance('1s')
    await credit(1)
    const second = await given()
    await untilAsked()
    await puppet.reply(second, { kind: 'withdrawn' })
    const third = await given()
    answer.resolve()
    await s.advance('1s')
    await finish(third)
  })

  it('is not missed while its task is being given back, whatever others did with it before that is heard', async () => {
    const { s, puppet, first, given, answer, written, heard, live, returned, finish } = await askedFor()
    await using _ = s
    answer.resolve()
    written.resolve()
    await puppet.reply(first, { kind: 'withdrawn', after: 1_000 })
    await s.advance('1s')
    const attempt = await given()
    await live(60, returned)
    expect(returned()).toBe(true)
    await live(40)
    expect(s.alerts).toEqual([])
    heard.resolve()
    await finish(attempt)
  })

  it('is not missed once its step waits for a signal', async () => {
    const { s, puppet, first, given, answer, written, untilAsked } = await askedFor()
    await using _ = s
    await puppet.reply(first, { kind: 'withdrawn', after: 1_000 })
    written.resolve()
    await s.advance('1s')
    const attempt = await given()
    await untilAsked()
    await puppet.say({ type: 'suspend', attempt })
    await s.settle()
    answer.resolve()
    await s.advance('1s')
    expect(s.alerts).toEqual([])
  })
})

describe('a node that lets go of all it has', () => {
  it('is not believed in what its attempts say as they are cut off, though the store knows it still', async () => {
    const bank = agent('bank', { concurrency: { shared: 1 } })
    let runs = 0
    const cutOff = ({ signal }: StepContext) =>
      new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(new PermanentError('cut off'))))
    const run = (_: null, step: StepContext) => (++runs === 1 ? cutOff(step) : 'done')
    const pay = bank.action('pay', { attemptWithin: '1d', retry: { attempts: 1 }, run })
    const pays = workflow('pays', { run: (_: null, task) => task.run(pay, null) })
    let wentBack = false
    const left = Promise.withResolvers<void>()
    const store = seen(memory(), (inner) => ({
      lost: async (marks) => {
        const [first] = wentBack ? marks : []
        return first ? [{ id: first.id, last: first.seq - 1 }] : inner.lost(marks)
      },
      leave: async (node) => {
        if (wentBack) await left.promise
        return inner.leave(node)
      },
    }))
    await using s = await stage({ store, workflows: [pays], agents: [bank], lease: '10s', poll: '1s', sweep: '5s' })
    const task = await s.submit(pays, null)
    await s.advance('1s')
    expect(runs).toBe(1)
    wentBack = true
    for (let look = 0; look < 9 && s.alerts.length === 0; look++) await s.advance('10s')
    expect(s.alerts.map(({ code }) => code)).toContain('NODE_FENCED')
    left.resolve()
    wentBack = false
    await s.advance('1m')
    expect(await task.status()).toMatchObject({ outcome: 'success', output: 'done', failures: 0 })
  })
})

describe('a task that the store says is this node’s', () => {
  it('is looked for a while after one was given back by no record of it', () => {
    const w = witness()
    expect(w.witness.fresh).toBe(false)
    w.witness.givenBack()
    expect(w.witness.fresh).toBe(true)
    w.later(5 * EVERY)
    expect(w.witness.fresh).toBe(false)
  })

  it('goes on although the store forgot that it was given back, and nothing else', async () => {
    const waits = workflow('waits', { run: (_: null, task) => task.waitForSignal('go') })
    let forgotten = 0
    const store: StoreFactory = (environment) => {
      const inner = memory()(environment)
      const commit = inner.commit.bind(inner)
      inner.commit = async (batch) => {
        const [only] = batch
        if (forgotten > 0 || batch.length > 1 || !only?.release || only.events !== null) return commit(batch)
        forgotten++
        return [{ ok: true, key: only.key ?? 0 }]
      }
      return inner
    }
    await using s = await stage({ store, workflows: [waits], lease: '10s', poll: '1s' })
    const task = await s.submit(waits, null, { id: 't' })
    await s.advance('30s') // it was idle for long
    expect(forgotten).toBe(1)
    await task.signal('go', 1)
    await s.advance('1m')
    expect(await task.status()).toMatchObject({ status: 'stopped', output: 1 })
  })

  function strays(rows: OwnedTask[]) {
    const here = new Set<string>()
    const given: string[] = []
    const state = { claiming: false }
    let asked = 0
    const owned = async ({ after, limit }: { after: number; limit: number }) => {
      asked++
      return rows.filter(({ key }) => key > after).slice(0, limit)
    }
    const it = new Strays({
      store: { owned },
      node: 'a',
      has: (id) => here.has(id),
      claiming: () => state.claiming,
      giveBack: ({ id }) => given.push(id),
    })
    return { look: (fresh = true) => it.look(fresh), here, given, state, asked: () => asked }
  }

  it('is given back when it is not here at two looks', async () => {
    const s = strays(['here', 'astray', 'comes'].map((id, index) => ({ id, key: index + 1, epoch: 1 })))
    s.here.add('here')
    await s.look()
    expect(s.given).toEqual([])
    s.here.add('comes')
    await s.look()
    expect(s.given).toEqual(['astray'])
  })

  it('is left alone while a claim is under way', async () => {
    const s = strays([{ id: 'claimed', key: 1, epoch: 1 }])
    await s.look()
    s.state.claiming = true
    await s.look()
    expect(s.given).toEqual([])
  })

  it('is found wherever it is among many', async () => {
    const s = strays(Array.from({ length: 1_200 }, (_, index) => ({ id: `t${index}`, key: index + 1, epoch: 1 })))
    for (let index = 0; index < 1_199; index++) s.here.add(`t${index}`)
    for (let look = 0; look < 4; look++) await s.look()
    expect(s.given).toEqual(['t1199'])
  })

  it('is found wherever it is, though nothing has been written for long', async () => {
    const s = strays(Array.from({ length: 5_000 }, (_, index) => ({ id: `t${index}`, key: index + 1, epoch: 1 })))
    for (let index = 0; index < 4_999; index++) s.here.add(`t${index}`)
    await s.look()
    for (let look = 0; look < 12; look++) await s.look(false)
    expect(s.given).toEqual(['t4999'])
    // It is somebody else's now; and when all have been compared once more, nobody asks any more.
    s.here.add('t4999')
    for (let look = 0; look < 60; look++) await s.look(false)
    const asked = s.asked()
    await s.look(false)
    expect(s.asked()).toBe(asked)
  })

  it('brings all the others at once when there is one', async () => {
    const rows = Array.from({ length: 5_000 }, (_, index) => ({ id: `t${index}`, key: index + 1, epoch: 1 }))
    const s = strays(rows)
    const kept = () =>
      s.given.splice(0).map((id) =>
        rows.splice(
          rows.findIndex((row) => row.id === id),
          1,
        ),
      )
    for (let look = 0; look < 4; look++) {
      await s.look()
      kept()
    }
    expect(rows).toEqual([])
  })
})
