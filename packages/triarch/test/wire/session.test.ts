import { describe, expect, it } from 'vitest'
import { agent, type RemoteAttempt, type Role, type StoreFactory, workflow } from '../../src/index.ts'
import type { StateStore } from '../../src/store/port.ts'
import { memory, VirtualEnvironment } from '../../src/testing/index.ts'
import { codeOf, eventsOf, type Stage, seen, stage } from '../engine/harness.ts'
import { scratch } from '../engine/scratch.ts'
import { Puppet } from './puppet.ts'

const own = agent('own')
/** What it does is up to the puppet. */
const act = own.action('act', {
  run: async (_: unknown): Promise<unknown> => null,
  verify: async () => ({ done: false }),
  undo: async () => undefined,
  attemptWithin: '1m',
  retry: { attempts: 3, backoff: { initial: '1s', jitter: false } },
})
const flow = workflow('flow', { run: (input: unknown, task) => task.run(act, input) })
const beating = workflow('beating', { run: (input: unknown, task) => task.run(act, input, { heartbeatWithin: '5s' }) })
const workflows = [flow, beating]

const done = (output: string) => ({ kind: 'done', output }) as const

async function scene(options: Parameters<typeof stage>[0] = {}) {
  const s = await stage({ workflows, lease: '10s', sweep: '1s', poll: '100ms', ...options })
  const agents = s.engine.triarch.serving.remoteAgents()
  return { s, agents, puppet: new Puppet(agents, 'one'), [Symbol.asyncDispose]: () => s[Symbol.asyncDispose]() }
}

/** A lone attempt, under way. */
async function underWay(here: { s: Stage; puppet: Puppet }, id = 't') {
  const task = await here.s.submit(flow, 'x', { id })
  await here.s.settle()
  const [attempt] = await here.puppet.attempts()
  return { task, attempt: attempt as RemoteAttempt }
}

const outcomeOf = async (s: Stage, id: string) => (await s.engine.tasks.get(id).status()).outcome

describe('an attempt', () => {
  it('goes to one connection, of those that have room, and to nobody beyond their slots', async () => {
    await using here = await scene()
    const { s, puppet } = here
    const other = new Puppet(here.agents, 'two')
    await puppet.hello({ own: 1 })
    await other.hello({ own: 2 })
    for (const id of ['a', 'b', 'c', 'd']) await s.submit(flow, id, { id })
    await s.settle()
    const [mine, theirs] = [await puppet.attempts(), await other.attempts()]
    expect([mine.length, theirs.length]).toEqual([1, 2])
    const tasks = [...mine, ...theirs].map(({ task }) => task)
    expect(new Set(tasks).size).toBe(3)
    await puppet.reply(mine[0]?.attempt ?? '', done('!'))
    await s.advance('1s')
    expect((await puppet.attempts()).map(({ task }) => task)).toEqual(
      ['a', 'b', 'c', 'd'].filter((it) => !tasks.includes(it)),
    )
  })

  it('carries what its code may need', async () => {
    await using here = await scene()
    await here.puppet.hello({ own: 1 })
    const { attempt } = await underWay(here)
    expect(attempt).toMatchObject({ agent: 'own', action: 'own.act', operation: 'run', number: 1, input: 'x' })
    expect(attempt).toMatchObject({
      task: 't',
      step: 1,
      workflow: 'flow',
      idempotencyKey: expect.stringMatching(/^t~\w+:1$/),
      attemptWithin: 60_000,
    })
    expect(attempt.token).toMatch(/^\w+/)
  })

  it('takes no row of the work queue where its task is owned', async () => {
    const rows: number[] = []
    const store = seen(memory(), (it) => ({
      commit: async (batch: Parameters<StateStore['commit']>[0]) => {
        rows.push(...batch.map(({ work }) => work.length))
        return it.commit(batch)
      },
    }))
    await using here = await scene({ store })
    await here.puppet.hello({ own: 1 })
    const { task, attempt } = await underWay(here)
    await here.puppet.reply(attempt.attempt, done('!'))
    expect(await task.result()).toBe('!')
    expect(rows.every((it) => it === 0)).toBe(true)
  })

  it('is said again until it was seen, and is one attempt all the same', async () => {
    await using here = await scene()
    await here.puppet.hello({ own: 5 })
    await here.s.submit(flow, 'x', { id: 't' })
    await here.s.settle()
    const [first, second] = [await here.puppet.miss(), await here.puppet.miss()]
    expect(first).toHaveLength(1)
    expect(second).toEqual(first)
    expect(await here.puppet.attempts()).toHaveLength(1)
    expect(await here.puppet.attempts()).toEqual([])
  })

  it('that never left goes to another when its connection is dead, and is none of its losses', async () => {
    await using here = await scene()
    await here.puppet.hello({ own: 1 })
    const task = await here.s.submit(flow, 'x', { id: 't' })
    await here.s.advance('11s')
    const other = new Puppet(here.agents, 'two')
    await other.hello({ own: 1 })
    await here.s.advance('1s')
    const [attempt] = await other.attempts()
    expect(attempt).toMatchObject({ operation: 'run', number: 1 })
    expect(await eventsOf(task, 'attemptFailed')).toEqual([])
  })
})

describe('a reply', () => {
  it('is acknowledged when it is durable, and not before', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let holding = false
    const store = seen(memory(), (it) => ({
      commit: async (batch: Parameters<StateStore['commit']>[0]) => {
        if (holding) await promise
        return it.commit(batch)
      },
    }))
    await using here = await scene({ store })
    await here.puppet.hello({ own: 1 })
    const { task, attempt } = await underWay(here)
    holding = true
    expect(await here.puppet.reply(attempt.attempt, done('!'))).toEqual([])
    await here.s.settle()
    expect(await here.puppet.say()).toEqual([])
    holding = false
    resolve()
    expect(await task.result()).toBe('!')
    await here.s.settle()
    expect(await here.puppet.say()).toMatchObject([{ type: 'ack', attempt: attempt.attempt }])
  })

  it('counts once, however often it is said', async () => {
    await using here = await scene()
    await here.puppet.hello({ own: 1 })
    const { task, attempt } = await underWay(here)
    await here.puppet.reply(attempt.attempt, done('first'))
    await here.s.settle()
    for (let time = 0; time < 3; time++) await here.puppet.reply(attempt.attempt, done('again'))
    await here.s.settle()
    await here.puppet.say()
    expect(await task.result()).toBe('first')
    expect(await eventsOf(task, 'stepCompleted')).toHaveLength(1)
    const acks = here.puppet.heard.filter(({ type }) => type === 'ack')
    expect(acks[0]).not.toHaveProperty('late')
    expect(acks.slice(1)).toMatchObject([{ late: true }, { late: true }, { late: true }])
  })

  it('that is late counts for nothing', async () => {
    await using here = await scene()
    await here.puppet.hello({ own: 1 })
    const { task, attempt } = await underWay(here)
    for (let time = 0; time < 61; time += 5) {
      await here.s.advance('5s')
      await here.puppet.say() // it lives
    }
    expect(here.puppet.heard).toMatchObject([{}, { type: 'abort', attempt: attempt.attempt, code: 'STEP_TIMEOUT' }])
    await here.puppet.reply(attempt.attempt, done('late'))
    await here.s.settle()
    expect(here.puppet.heard.concat(await here.puppet.say())).toContainEqual(
      expect.objectContaining({ type: 'ack', attempt: attempt.attempt, late: true }),
    )
    expect(await eventsOf(task, 'stepCompleted')).toEqual([])
  })

  it('that makes no sense for the operation, or is too large, fails the step', async () => {
    await using here = await scene({ limits: { payload: 100 } })
    await here.puppet.hello({ own: 2 })
    const one = await underWay(here, 'one')
    await here.puppet.reply(one.attempt.attempt, { kind: 'not-done' })
    const two = await underWay(here, 'two')
    await here.puppet.reply(two.attempt.attempt, done('x'.repeat(200)))
    await here.s.settle()
    const failed = async (id: string) =>
      (await eventsOf(here.s.engine.tasks.get(id), 'attemptFailed')).map((it) => it.error.code)
    expect(await failed('one')).toEqual(['STEP_MISUSE'])
    expect(await failed('two')).toEqual(['PAYLOAD_TOO_LARGE'])
  })
})

describe('a connection', () => {
  it('that is cut loses nothing: what ran goes on, and its reply counts', async () => {
    await using here = await scene()
    await here.puppet.hello({ own: 1 })
    const { task, attempt } = await underWay(here)
    await here.s.advance('9s')
    const back = await here.puppet.hello({ own: 1 }, [attempt.attempt])
    expect(back).toMatchObject({ type: 'welcome' })
    await here.s.advance('9s')
    await here.puppet.say()
    expect(here.puppet.heard).toEqual([])
    await here.puppet.reply(attempt.attempt, done('after all'))
    expect(await task.result()).toBe('after all')
  })

  it('that comes back without an attempt never got it: it is given away again at once', async () => {
    await using here = await scene()
    await here.puppet.hello({ own: 1 })
    await here.s.submit(flow, 'x', { id: 't' })
    await here.s.settle()
    await here.puppet.miss()
    await here.puppet.hello({ own: 1 })
    await here.s.advance('1s')
    expect(await here.puppet.attempts()).toMatchObject([{ task: 't', operation: 'run', number: 1 }])
  })

  it('that is dead loses its attempts after the lease: their outcome is unknown, and its replies count for nothing', async () => {
    await using here = await scene()
    await here.puppet.hello({ own: 1 })
    const { task, attempt } = await underWay(here)
    await here.s.advance('9s')
    expect(await eventsOf(task, 'attemptFailed')).toEqual([])
    await here.s.advance('2s')
    expect(await here.puppet.agents.exchange({ session: here.puppet.session, messages: [] })).toMatchObject({
      messages: [{ type: 'reset' }],
    })
    await here.puppet.hello({ own: 1 }, [attempt.attempt])
    await here.s.advance('1s')
    const [verifying] = await here.puppet.attempts()
    expect(verifying).toMatchObject({ operation: 'verify' })
    await here.puppet.reply(attempt.attempt, done('late'))
    await here.puppet.reply(verifying?.attempt ?? '', { kind: 'not-done' })
    await here.s.advance('5s')
    const [again] = await here.puppet.attempts()
    expect(again).toMatchObject({ operation: 'run', number: 2 })
    await here.puppet.reply(again?.attempt ?? '', done('second'))
    expect(await task.result()).toBe('second')
  })

  it('that leaves gives up what it had at once', async () => {
    await using here = await scene()
    await here.puppet.hello({ own: 1 })
    const { task } = await underWay(here)
    await here.puppet.say({ type: 'leave' })
    await here.s.settle()
    expect((await eventsOf(task, 'attemptFailed')).map(({ error }) => error.code)).toEqual(['STEP_LOST'])
  })

  it('is given nothing more once it drains, or has no credit', async () => {
    await using here = await scene()
    await here.puppet.hello({ own: 1 })
    await here.puppet.say({ type: 'drain' })
    await here.s.submit(flow, 'x', { id: 't' })
    await here.s.advance('1s')
    expect(await here.puppet.attempts()).toEqual([])
    await here.puppet.say({ type: 'credit', agent: 'own', slots: 1 })
    await here.s.advance('1s')
    expect(await here.puppet.attempts()).toHaveLength(1)
  })

  it('is told of its task that stops, and of the server that does', async () => {
    await using here = await scene()
    await here.puppet.hello({ own: 1 })
    const { task, attempt } = await underWay(here)
    await task.cancel()
    await here.s.settle()
    expect(await here.puppet.say()).toMatchObject([{ type: 'abort', attempt: attempt.attempt, code: 'STEP_CANCELLED' }])
    here.agents.close()
    expect(await codeOf(here.puppet.say())).toBe('NODE_STOPPED')
  })

  it('keeps an attempt alive by its heartbeats, which are recorded', async () => {
    await using here = await scene()
    await here.puppet.hello({ own: 1 })
    const task = await here.s.submit(beating, 'x', { id: 't' })
    await here.s.settle()
    const [attempt] = await here.puppet.attempts()
    for (let beat = 1; beat <= 5; beat++) {
      await here.s.advance('4s')
      await here.puppet.say({ type: 'heartbeat', attempt: attempt?.attempt ?? '', beat, checkpoint: beat })
    }
    // Said late, an older one changes nothing.
    await here.puppet.say({ type: 'heartbeat', attempt: attempt?.attempt ?? '', beat: 2, checkpoint: 2 })
    await here.s.advance('4s')
    await here.puppet.say()
    await here.s.advance('2s')
    await here.puppet.say()
    expect((await eventsOf(task, 'attemptFailed')).map(({ error }) => error.code)).toEqual(['HEARTBEAT_MISSED'])
    expect((await eventsOf(task, 'heartbeat')).at(-1)).toMatchObject({ checkpoint: 5 })
  })

  it('shows in what its node runs, for as long as it is there', async () => {
    await using here = await scene()
    const runs = async () => {
      await here.s.advance('1s')
      return (await here.s.engine.triarch.nodes.list())[0]?.runs?.actions
    }
    expect(await runs()).toEqual([])
    await here.puppet.hello({ own: 1 })
    expect(await runs()).toEqual(['own.act'])
    await here.puppet.say({ type: 'leave' })
    expect(await runs()).toEqual([])
  })

  it('is refused where it speaks another version, or its agent is hosted already', async () => {
    await using here = await scene({ agents: [own] })
    expect(await here.puppet.hello({ own: 1 })).toMatchObject({ type: 'refused', code: 'AGENT_HOSTED' })
    const agents = [{ name: 'a', slots: 1, actions: [] }]
    const hello = { type: 'hello', protocol: 99, instance: 'x', count: 1, agents, running: [] } as const
    expect(await here.agents.exchange({ messages: [{ ...hello, agents: [...agents] }] as never })).toMatchObject({
      messages: [{ type: 'refused', code: 'PROTOCOL' }],
    })
  })
})

describe('several servers', () => {
  /** Nodes over one file, on one clock. */
  async function town() {
    const file = scratch()
    const environment = new VirtualEnvironment()
    const node = async (...roles: Role[]) => {
      let dead = false
      const store: StoreFactory = (of) =>
        new Proxy(file.store(of), {
          get(target, key) {
            const own: unknown = Reflect.get(target, key, target)
            if (typeof own !== 'function') return own
            return (...given: unknown[]) => (dead ? new Promise(() => undefined) : own.apply(target, given))
          },
        })
      const s = await stage({
        ...{ store, environment, workflows, roles },
        ...{ lease: '10s', sweep: '1s', poll: '100ms' },
      })
      /** As its process were no more: nothing of it reaches the store. */
      const die = () => {
        dead = true
      }
      return { s, agents: s.engine.triarch.serving.remoteAgents(), die }
    }
    return { node, [Symbol.dispose]: () => file[Symbol.dispose]() }
  }

  /** The owner of a task dies, and what it gave to a process goes on there. */
  async function outlived(it: Awaited<ReturnType<typeof town>>, how: 'dies' | 'stops' = 'dies') {
    const all: Role[] = ['scheduler', 'supervisor', 'agent']
    const [first, second] = [await it.node(...all), await it.node(...all)]
    const puppet = new Puppet(first.agents, 'one')
    await puppet.hello({ own: 1 })
    await first.s.submit(flow, 'x', { id: 't' })
    await first.s.settle()
    const [attempt] = await puppet.attempts()
    if (how === 'dies') first.die()
    else await first.s.kill()
    puppet.agents = second.agents
    await second.s.advance(how === 'dies' ? '12s' : '1s')
    return { second, puppet, name: attempt?.attempt ?? '' }
  }

  it('hand a queued attempt on with its connection: it outlives its server, and counts once', async () => {
    using it = await town()
    const scheduler = await it.node('scheduler', 'supervisor')
    const [first, second] = [await it.node('agent'), await it.node('agent')]
    const puppet = new Puppet(first.agents, 'one')
    await puppet.hello({ own: 1 })
    const task = await scheduler.s.submit(flow, 'x', { id: 't' })
    await scheduler.s.advance('1s')
    const [attempt] = await puppet.attempts()
    // Cut, it goes elsewhere; the first server holds it for dead, and then dies itself.
    puppet.agents = second.agents
    await puppet.hello({ own: 1 }, [attempt?.attempt ?? ''])
    for (let time = 0; time < 48; time += 4) {
      await scheduler.s.advance('4s')
      expect(await puppet.say()).toEqual([])
      if (time === 20) await first.s.kill()
    }
    expect(await eventsOf(task, 'attemptFailed')).toEqual([])
    await puppet.reply(attempt?.attempt ?? '', done('there'))
    await scheduler.s.advance('1s')
    expect(await task.result()).toBe('there')
    expect(await puppet.say()).toMatchObject([{ type: 'ack' }])
    for (const { s } of [scheduler, second]) await s.kill()
  })

  it('take the reply to an attempt that another owns, in time; a later one counts for nothing', async () => {
    using it = await town()
    const [owner, other] = [await it.node('scheduler', 'supervisor', 'agent'), await it.node('agent')]
    const puppet = new Puppet(owner.agents, 'one')
    await puppet.hello({ own: 1 })
    const task = await owner.s.submit(flow, 'x', { id: 't' })
    await owner.s.settle()
    const [attempt] = await puppet.attempts()
    puppet.agents = other.agents
    const answer = (output: string) =>
      ({ type: 'reply', attempt: attempt?.attempt ?? '', outcome: done(output) }) as const
    await puppet.hello({ own: 1 }, [attempt?.attempt ?? ''], [answer('elsewhere')])
    await owner.s.advance('1s')
    expect(await task.result()).toBe('elsewhere')
    await puppet.say(answer('again'))
    await owner.s.advance('1s')
    await puppet.say()
    expect(puppet.heard).toMatchObject([{ type: 'ack' }, { type: 'ack', late: true }])
    expect(await eventsOf(task, 'stepCompleted')).toHaveLength(1)
    for (const { s } of [owner, other]) await s.kill()
  })

  it.each(['dies', 'stops'] as const)(
    'let an attempt outlive the owner of its task that %s: who takes it over awaits it, and its reply counts once',
    async (how) => {
      using it = await town()
      const { second, puppet, name } = await outlived(it, how)
      // Taken over before anybody hears of its process.
      await second.s.advance('8s')
      const types = (await second.s.engine.tasks.get('t').history()).flatMap(({ events }) =>
        events.map(({ type }) => type),
      )
      expect(types.slice(0, 5)).toEqual(['submitted', 'started', 'stepRequested', 'heartbeat', 'heartbeat'])
      expect(types).not.toContain('attemptFailed')
      await puppet.hello({ own: 1 }, [name])
      for (let time = 0; time < 28; time += 4) {
        await second.s.advance('4s')
        expect(await puppet.say()).toEqual([])
      }
      await puppet.reply(name, done('there'))
      await second.s.advance('1s')
      const task = second.s.engine.tasks.get('t')
      expect(await task.result()).toBe('there')
      expect(await eventsOf(task, 'attemptFailed')).toEqual([])
      expect(await puppet.say()).toMatchObject([{ type: 'ack' }])
      await puppet.reply(name, done('again'))
      await second.s.advance('1s')
      expect(await puppet.say()).toMatchObject([{ type: 'ack', late: true }])
      expect(await eventsOf(task, 'stepCompleted')).toHaveLength(1)
      await second.s.kill()
    },
  )

  it('await such an attempt no longer than its complete-by, however alive its process is', async () => {
    using it = await town()
    const { second, puppet, name } = await outlived(it)
    await second.s.advance('5s')
    await puppet.hello({ own: 0 }, [name])
    for (let time = 0; time < 48; time += 4) {
      await second.s.advance('4s')
      await puppet.say()
    }
    expect(await eventsOf(second.s.engine.tasks.get('t'), 'attemptFailed')).toMatchObject([
      { attempt: 1, unknown: true, error: { code: 'STEP_TIMEOUT' } },
    ])
    expect(puppet.heard).toMatchObject([{ type: 'abort', attempt: name, code: 'STEP_LOST' }])
    await second.s.kill()
  })

  it('give such an attempt up when a lease has passed without a word: its outcome is unknown', async () => {
    using it = await town()
    const { second, puppet, name } = await outlived(it)
    const other = new Puppet(second.agents, 'two')
    await other.hello({ own: 1 })
    await second.s.advance('8s')
    expect(await other.attempts()).toEqual([])
    expect((await second.s.engine.tasks.get('t').explain()).reasons).toMatchObject([
      { code: 'step', step: 1, attempt: 1 },
    ])
    expect((await second.s.engine.tasks.get('t').explain()).text).toContain('unless something is heard of it')
    await second.s.advance('5s')
    expect(await eventsOf(second.s.engine.tasks.get('t'), 'attemptFailed')).toMatchObject([
      { attempt: 1, unknown: true, lost: 'silence', next: { operation: 'verify' } },
    ])
    const [verify] = await other.attempts()
    expect(verify).toMatchObject({ task: 't', operation: 'verify' })
    // It comes back, too late.
    await puppet.hello({ own: 1 }, [name], [{ type: 'reply', attempt: name, outcome: done('late') }])
    await second.s.advance('1s')
    await puppet.say()
    expect(puppet.heard).toMatchObject([{ type: 'ack', late: true }])
    await other.reply(verify?.attempt ?? '', done('asked'))
    await second.s.advance('1s')
    expect(await second.s.engine.tasks.get('t').result()).toBe('asked')
    await second.s.kill()
  })

  it('record what such an attempt says, tell it that its task stops, and hear that it lives no more', async () => {
    using it = await town()
    const { second, puppet, name } = await outlived(it)
    await second.s.advance('8s')
    await puppet.hello({ own: 1 }, [name])
    await puppet.say({ type: 'heartbeat', attempt: name, beat: 1, progress: 0.5, checkpoint: { at: 7 } })
    await second.s.advance('1s')
    const task = second.s.engine.tasks.get('t')
    expect((await task.status()).steps).toMatchObject([{ progress: 0.5, attempt: 1 }])
    await task.cancel({ compensate: false })
    await second.s.advance('5s')
    expect(await puppet.say()).toMatchObject([{ type: 'abort', attempt: name, code: 'STEP_CANCELLED' }])
    expect((await task.status()).status).toBe('running')
    // Cut off for good: the session ends, and with it what is heard of the attempt.
    await second.s.advance('30s')
    expect(await eventsOf(task, 'attemptFailed')).toMatchObject([{ attempt: 1, unknown: true, lost: 'silence' }])
    await second.s.kill()
  })

  it('let an attempt go on whose process left a server that lives', async () => {
    using it = await town()
    const [owner, other] = [await it.node('scheduler', 'supervisor', 'agent'), await it.node('agent')]
    const puppet = new Puppet(owner.agents, 'one')
    await puppet.hello({ own: 1 })
    const task = await owner.s.submit(flow, 'x', { id: 't' })
    await owner.s.settle()
    const [attempt] = await puppet.attempts()
    const name = attempt?.attempt ?? ''
    puppet.agents = other.agents
    await puppet.hello({ own: 1 }, [name])
    for (let time = 0; time < 40; time += 4) {
      await owner.s.advance('4s')
      expect(await puppet.say()).toEqual([])
    }
    await puppet.reply(name, done('elsewhere'))
    await owner.s.advance('1s')
    expect(await task.result()).toBe('elsewhere')
    expect(await eventsOf(task, 'attemptFailed')).toEqual([])
    for (const { s } of [owner, other]) await s.kill()
  })

  it('take the replies of what runs while they stop, and no more attempts', async () => {
    using it = await town()
    const first = await it.node('scheduler', 'supervisor', 'agent')
    const puppet = new Puppet(first.agents, 'one')
    await puppet.hello({ own: 5 })
    await first.s.submit(flow, 'x', { id: 't' })
    await first.s.submit(flow, 'y', { id: 'u' })
    await first.s.settle()
    const [one, other] = await puppet.attempts()
    const stopping = first.s.engine.stop({ grace: '20s' })
    await puppet.reply(one?.attempt ?? '', done('in time'))
    await puppet.reply(other?.attempt ?? '', done('as well'))
    await stopping
    expect(await codeOf(puppet.say())).toBe('NODE_STOPPED')
    const next = await it.node('scheduler', 'supervisor', 'agent')
    await next.s.advance('1s')
    for (const task of ['t', 'u']) {
      expect(await outcomeOf(next.s, task)).toBe('success')
      expect(await eventsOf(next.s.engine.tasks.get(task), 'attemptFailed')).toEqual([])
    }
    await next.s.kill()
  })

  it('call off what was given up meanwhile', async () => {
    using it = await town()
    const scheduler = await it.node('scheduler', 'supervisor')
    const [first, second] = [await it.node('agent'), await it.node('agent')]
    const puppet = new Puppet(first.agents, 'one')
    await puppet.hello({ own: 1 })
    await scheduler.s.submit(flow, 'x', { id: 't' })
    await scheduler.s.advance('1s')
    const [attempt] = await puppet.attempts()
    await scheduler.s.advance('15s')
    puppet.agents = second.agents
    await puppet.hello({ own: 0 }, [attempt?.attempt ?? ''])
    expect(puppet.heard).toMatchObject([{ type: 'abort', attempt: attempt?.attempt, code: 'STEP_LOST' }])
    expect(await outcomeOf(scheduler.s, 't')).toBe('pending')
    for (const { s } of [scheduler, first, second]) await s.kill()
  })
})

describe('a hello', () => {
  it('that comes late, or again, changes nothing: what was given since runs on', async () => {
    await using here = await scene()
    const { agents, puppet } = here
    const offers = [{ name: 'own', slots: 1, actions: ['own.act'] }]
    const hello = (count: number) =>
      agents.exchange({
        messages: [{ type: 'hello', protocol: 1, instance: 'one', count, agents: offers, running: [] }],
      })
    await hello(1)
    const [welcome] = (await hello(2)).messages
    puppet.session = welcome?.type === 'welcome' ? welcome.session : undefined
    const { task, attempt } = await underWay(here)
    for (const count of [1, 2]) expect((await hello(count)).messages).toEqual([{ type: 'reset' }])
    await here.s.advance('2s')
    expect(await puppet.attempts()).toEqual([])
    await puppet.reply(attempt.attempt, done('!'))
    await here.s.settle()
    expect(await task.result()).toBe('!')
  })
})

it('an attempt that was called off, and comes again to who has not heard of it, is not begun', async () => {
  await using here = await scene()
  const { s, puppet } = here
  await puppet.hello({ own: 1 })
  const task = await s.submit(flow, 'x', { id: 't' })
  await s.settle()
  expect((await puppet.miss()).map(({ type }) => type)).toEqual(['attempt'])
  await task.cancel()
  await s.settle()
  const told = await puppet.say()
  expect(told.map((it) => [it.n, it.type])).toEqual([
    [1, 'abort'],
    [2, 'abort'],
  ])
})
