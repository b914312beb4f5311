import { describe, expect, it } from 'vitest'
import { AgentHost, type HostedAttempt } from '../../src/agent/host.ts'
import { unkept } from '../../src/agent/log.ts'
import { Probation, SURVIVED_AFTER_MS } from '../../src/flow/probation.ts'
import { agent } from '../../src/index.ts'
import type { Message } from '../../src/kernel/message.ts'
import { noTelemetry } from '../../src/telemetry/outlet.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'

/** One at an instant that is no whole number, as clocks give them. */
function probation() {
  let now = 1_000.25
  return { probation: new Probation({ monotonic: () => now }), pass: (ms: number) => (now += ms) }
}

describe('the place where a process tries suspects', () => {
  it('is closed until the process has lived for a while', () => {
    const { probation: it, pass } = probation()
    const first = it.enter({}, 0)
    expect(first).toBeGreaterThan(1_999)
    pass(first ?? 0)
    expect(it.enter({}, 0)).toBeNull()
  })

  it('is for a few at a time that no process died of as it tried them', () => {
    const { probation: it, pass } = probation()
    pass(5_000)
    const eight = Array.from({ length: 8 }, () => ({}))
    expect(eight.map((one) => it.enter(one, 0))).toEqual(eight.map(() => null))
    expect([it.enter({}, 0), it.enter({}, 0)]).toEqual([13, 25])
    expect(it.leave(eight[3] as object)).toBe(true)
    expect(it.enter({}, 0)).toBeNull()
  })

  it('is kept free for one that must be by itself, and then is for the others again', () => {
    const { probation: it, pass } = probation()
    pass(5_000)
    const [one, two, grave] = [{}, {}, {}]
    expect(it.enter(one, 0)).toBeNull()
    expect(it.enter(grave, 1)).toBe(100)
    expect(it.enter(two, 0)).toBeGreaterThan(0)
    pass(100)
    expect(it.leave(one)).toBe(true)
    expect(it.enter(two, 0)).toBeGreaterThan(0)
    expect(it.enter(grave, 1)).toBeNull()
    expect(it.enter(two, 0)).toBeGreaterThan(0)
    expect(it.leave(grave)).toBe(true)
    pass(1_000)
    expect(it.enter(two, 0)).toBeNull()
  })

  it('is for one at a time that a process died of as it tried it: others are told when to come, one after the other', () => {
    const { probation: it, pass } = probation()
    pass(5_000.5)
    const [one, two] = [{}, {}]
    expect(it.enter(one, 1)).toBeNull()
    expect([it.enter(two, 1), it.enter({}, 2), it.enter({}, 1)]).toEqual([100, 200, 300])
    expect(it.leave(two)).toBe(false)
    pass(SURVIVED_AFTER_MS)
    expect(it.leave(one)).toBe(true)
    expect(it.leave(one)).toBe(false)
    expect(it.enter(two, 1)).toBeNull()
    // Those before it took longer than was thought.
    expect([it.enter(one, 1), it.enter({}, 1)]).toEqual([550, 1_100])
  })

  it('takes what never began for no turn: who waits for its place would come again and again', () => {
    const { probation: it, pass } = probation()
    pass(5_000)
    const [one, two] = [{}, {}]
    for (let n = 0; n < 10; n++) {
      expect(it.enter(one, 1)).toBeNull()
      expect(it.leave(one, false)).toBe(true)
    }
    expect(it.enter(one, 1)).toBeNull()
    expect(it.enter(two, 1)).toBe(100)
  })

  it('tells whole milliseconds, and never a wait of more than half a minute', () => {
    const { probation: it } = probation()
    const waits = Array.from({ length: 100 }, () => it.enter({}, 1) ?? 0)
    expect(waits.filter((wait) => !Number.isInteger(wait) || wait > 30_000)).toEqual([])
  })
})

/** A host with two slots, in a process that has lived for long; what is asked of it is a suspect, and what became of it is told. */
async function host({ holds = true }: { holds?: boolean } = {}) {
  const environment = new VirtualEnvironment()
  const own = agent('svc', { concurrency: 2 })
  const run = own.action('run', { run: () => 'done' })
  const lease = { holds: () => holds, sure: () => new Promise<boolean>(() => {}), trace: null }
  const probation = new Probation(environment)
  await environment.advance(5_000)
  const options = {
    environment,
    node: 'n',
    payload: 1_000,
    telemetry: noTelemetry,
    logs: unkept,
    token: () => '',
    around: () => [],
    late() {},
    failed() {},
    lease,
    threads: null,
    probation,
    overrun() {},
  }
  const it = new AgentHost(options, own)
  const ends: string[] = []
  const ask = (task: string, attempt: number, { strikes = 0, begun = Promise.resolve(true), within = 1_000 } = {}) => {
    expect(it.reserve(run.key)).toBe(true)
    const trial = holds ? { trial: { strikes } } : {}
    const names = { name: 'run', action: run.key, workflow: 'w', version: '1', idempotencyKey: 'k' }
    const request = { task, step: 1, operation: 'run', attempt, ...names, input: null, ...trial } as const
    const done = (reply: Extract<Message, { type: 'reply' }>) => {
      const { outcome } = reply
      ends.push(`${task} ${attempt} ${outcome.kind === 'failed' ? outcome.error.code : outcome.kind}`)
    }
    const completeBy = environment.now() + within
    const beats = { beat() {}, begun: () => begun, survived() {} }
    it.start({ request, completeBy, heartbeatWithin: null, ...beats, done } satisfies HostedAttempt)
  }
  return { environment, it, ask, ends }
}

describe('a process that tries suspects', () => {
  it('has its place free again when one that was let in was not begun in time', async () => {
    const { environment, ask, ends } = await host()
    const begun = Promise.withResolvers<boolean>()
    ask('late', 1, { strikes: 1, begun: begun.promise, within: 50 })
    ask('other', 1, { strikes: 1 })
    await environment.advance(100)
    begun.resolve(true)
    await environment.advance(0)
    expect(ends).toEqual(['other 1 withdrawn', 'late 1 STEP_TIMEOUT'])
    ask('other', 2, { strikes: 1 })
    await environment.advance(0)
    expect(ends.at(-1)).toBe('other 2 done')
  })

  it.each([true, false])('gives up what waits to begin when its step is asked for anew', async (holds) => {
    const { environment, it: host_, ask, ends } = await host({ holds })
    for (let attempt = 1; attempt <= 5; attempt++) {
      ask('t', attempt, { begun: new Promise<boolean>(() => {}) })
      await environment.advance(0)
      expect(host_.slots.free).toBe(1)
    }
    host_.abandon('t', 1, new Error('nobody waits'))
    expect(host_.slots.free).toBe(2)
    expect(ends).toEqual([])
  })
})
