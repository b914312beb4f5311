import { describe, expect, it } from 'vitest'
import type { Environment } from '../../src/environment/environment.ts'
import { agent, PermanentError, type StepContext, workflow } from '../../src/index.ts'
import type { RaisedAlert } from '../../src/kernel/alert.ts'
import { LostTailDetector, type LostTailDetectorOptions } from '../../src/scheduler/lost-tail-detector.ts'
import type { TaskRunner } from '../../src/scheduler/runner.ts'
import { UNCHANGED } from '../../src/scheduler/transition.ts'
import { UnknownOwnership } from '../../src/scheduler/unknown-ownership.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import type { OwnedTask, RecordMark, Transition, WorkRequest } from '../../src/store/port.ts'
import { memory } from '../../src/testing/index.ts'
import { Puppet } from '../wire/puppet.ts'
import { seen, stage } from './harness.ts'

const EVERY = 60_000
const lease = { holds: () => true }

/** What a witness is made of, but for what the test says. */
function means(
  part: Partial<Omit<LostTailDetectorOptions, 'store' | 'environment'>> & {
    lost: LostTailDetectorOptions['store']['lostRecords']
    monotonic?: () => number
  },
): LostTailDetectorOptions {
  const { lost, monotonic = () => 0, ...rest } = part
  const environment = { monotonic, now: () => 0 } as Environment
  const quiet = { alert: () => {}, wentBack: () => {} }
  return { store: { lostRecords: lost }, environment, lease, every: EVERY, ...quiet, ...rest }
}

/** A witness that sees one record of each task, and what it asks the store about. */
function witness() {
  let now = 0
  const asked: RecordMark[][] = []
  const lost = async (marks: readonly RecordMark[]) => {
    asked.push([...marks])
    return []
  }
  const it = new LostTailDetector(means({ lost, monotonic: () => now }), new Map())
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
    const it = new LostTailDetector(
      means({ lost, wentBack: () => back++, alert: ({ task }) => told.push(task) }),
      new Map(),
    )
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
      const it = new LostTailDetector(means({ lost, lease: { holds: () => holds }, wentBack: () => told++ }), new Map())
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
  const a = { id: 'a', key: 1, recorded: 2, requests: [] as WorkRequest[], state: { workflow: 'w' } } as TaskRunner
  const b = { ...a, id: 'b', key: 2 } as TaskRunner

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
      marks.flatMap(({ id, key }) => (key === 1 ? [{ id, last: null }] : []))
    let now = 0
    const options = means({ lost, lease: { holds: () => holds }, monotonic: () => now })
    const it = new LostTailDetector(options, new Map(here.map((runner) => [runner.id, runner])))
    const see = ({ id, key }: TaskRunner, seq: number, given: Transition['release']) =>
      it.see({ ...a, id, key } as TaskRunner, {
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
  const requestOf = (step: number) => ({ ...request, step }) as unknown as WorkRequest

  /** A task in memory that waits for the replies to these requests. */
  function waiting(requests: Iterable<WorkRequest>, part: Partial<TaskRunner> = {}): TaskRunner {
    const here = { id: 't', key: 1, recorded: 2, epoch: 1, state: { workflow: 'w', status: 'running' } }
    const awaited = { requests: [...requests], awaits: () => true, returning: false }
    return { ...here, ...awaited, ...part } as unknown as TaskRunner
  }

  /** Says of a request whose step is one of these that it is lost. */
  const losing = (...steps: number[]): LostTailDetectorOptions['store']['lostRecords'] => {
    return async (marks) =>
      marks.flatMap(({ id, seq, request }) =>
        request && steps.includes(request.step) ? [{ id, last: seq, request: true as const }] : [],
      )
  }

  /** Whether the store went back, which has no such request. */
  const isBehind = async (awaits: boolean, { holds = true, returning = false } = {}) => {
    const work = [requestOf(1)]
    const runner = waiting(work, { returning, awaits: () => awaits })
    const it = new LostTailDetector(means({ lost: losing(1), lease: { holds: () => holds } }), new Map([['t', runner]]))
    return it.isBehind()
  }

  it('is missed while the task waits for an answer to it, and no longer', async () => {
    expect(await isBehind(true)).toBe(true)
    expect(await isBehind(false)).toBe(false)
  })

  it('is missed though others of the task came after it, in the same span, once the store had gone back', async () => {
    const requests = [1, 2, 3].map(requestOf)
    const awaited = new Set(requests)
    const runner = waiting(requests, { awaits: (it) => awaited.has(it) })
    const it = new LostTailDetector(means({ lost: losing(1) }), new Map([['t', runner]]))
    expect(await it.isBehind()).toBe(true)
    // What was answered is not there any more, and nobody waits for it.
    awaited.delete(requests[0] as WorkRequest)
    expect(await it.isBehind()).toBe(false)
  })

  it('is missed however many there are, some with each look', async () => {
    const asked: RecordMark[] = []
    const most: number[] = []
    const lost = async (marks: readonly RecordMark[]) => {
      asked.push(...marks)
      most.push(marks.length)
      return []
    }
    const work = Array.from({ length: 1_600 }, (_, index) => requestOf(index + 1))
    const runner = waiting(work)
    const it = new LostTailDetector(means({ lost }), new Map([['t', runner]]))
    for (let look = 0; look < 4; look++) expect(await it.isBehind()).toBe(false)
    expect(new Set(asked.flatMap(({ request }) => request?.step ?? [])).size).toBe(1_600)
    expect(Math.max(...most)).toBeLessThanOrEqual(1_000)
  })

  it('makes the node let go of all it has where a task that leaves memory is refused for the lack of it, and is told', () => {
    const alerts: RaisedAlert[] = []
    let back = 0
    const options = means({ lost: losing(), wentBack: () => back++, alert: (alert) => alerts.push(alert) })
    new LostTailDetector(options, new Map()).requestLost(waiting([requestOf(1)]))
    expect(back).toBe(1)
    expect(alerts).toMatchObject([{ code: 'LOST_TAIL', task: 't', workflow: 'w' }])
  })

  it('is not missed where the lease is over: others may have the task, and have had the answer', async () => {
    expect(await isBehind(true, { holds: false })).toBe(false)
  })

  it('is not missed while the task is being given back: others may have had it, and the answer', async () => {
    expect(await isBehind(true, { returning: true })).toBe(false)
  })

  /** A process of agents has it while the store is asked whether it is still there, and gives it back before the store answers. */
  async function askedFor(held = 2) {
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
      async lostRecords(marks) {
        if (returned)
          return marks.flatMap(({ id, seq, request }) => (request ? [{ id, last: seq, request: true }] : []))
        asked ||= marks.some((mark) => mark.request)
        if (asked) await answer.promise
        return inner.lostRecords(marks)
      },
      async commit(transitions) {
        const isRequest = transitions.some(({ events, work }) => events === null && work.length > 0)
        if (isRequest && ++requests >= held) await written.promise
        const outcomes = await inner.commit(transitions)
        returned = transitions.some(({ release }) => release !== null)
        if (returned) await heard.promise
        return outcomes
      },
    }))
    const s = await stage({ store, workflows: [flow], lease: '10s', sweep: '5s', poll: '1s' })
    const puppet = new Puppet(s.engine.triarch.serving.remoteAgents(), 'process')
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
      asked: () => asked,
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

  it('is not asked for before it is written', async () => {
    const { s, puppet, first, given, asked, answer, written, live, finish } = await askedFor(1)
    await using _ = s
    answer.resolve()
    await puppet.reply(first, { kind: 'withdrawn', after: 1_000 })
    await live(50)
    expect(asked()).toBe(false)
    written.resolve()
    await finish(await given())
  })

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
      lostRecords: async (marks) => {
        const [first] = wentBack ? marks : []
        return first ? [{ id: first.id, last: first.seq - 1 }] : inner.lostRecords(marks)
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
    const it = new UnknownOwnership({
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
