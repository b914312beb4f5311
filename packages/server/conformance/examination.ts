// What every agent must do, one thing after the other, in one process.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { Examiner, TOKEN } from './server.ts'

type Scenario = (it: Examiner) => Promise<void>

/** The message of a failed outcome. */
const failed = ({ outcome }: { outcome: { kind: string } }) => {
  assert.equal(outcome.kind, 'failed')
  return outcome as Extract<Awaited<ReturnType<Examiner['reply']>>['outcome'], { kind: 'failed' }>
}

const scenarios: Record<string, Scenario> = {
  'says hello, with its agent and its actions': async (it) => {
    const { protocol, agents, running } = await it.hello(0)
    assert.equal(protocol, 1)
    assert.deepEqual(running, [])
    const own = agents.find(({ name }) => name === 'conformance')
    assert.ok(own && own.slots >= 2 && own.slots <= 10, 'agent "conformance" has 2 to 10 slots')
    for (const action of ['echo', 'fail', 'count', 'slow', 'wait'])
      assert.ok(own.actions.includes(`conformance.${action}`), `it has the action ${action}`)
  },
  'runs an attempt, and gives back what it was given': async (it) => {
    const input = { text: 'grüß 𝄞 \u0000 "', list: [1, 0.1, -1e21, null, true, []], empty: {} }
    assert.deepEqual((await it.reply(it.give('echo', input))).outcome, { kind: 'done', output: input })
  },
  undoes: async (it) => {
    const { outcome } = await it.reply(it.give('echo', 1, { operation: 'undo', output: 2 }))
    assert.equal(outcome.kind, 'done')
  },
  'verifies: done, not done, unknown': async (it) => {
    const verify = async (action: string, input: string) =>
      (await it.reply(it.give(action, input, { operation: 'verify' }))).outcome
    assert.deepEqual(await verify('echo', 'x'), { kind: 'done', output: 'x' })
    assert.deepEqual(await verify('fail', 'x'), { kind: 'not-done' })
    assert.deepEqual(await verify('fail', 'unknown'), { kind: 'unknown' })
  },
  'tells permanent failures from those worth another try': async (it) => {
    const permanent = failed(await it.reply(it.give('fail', 'permanent')))
    assert.equal(permanent.retryable, false)
    assert.equal(permanent.error.message, 'no use')
    assert.equal(failed(await it.reply(it.give('fail', 'transient'))).retryable, true)
  },
  'sends heartbeats that count up, with progress and checkpoint': async (it) => {
    const attempt = it.give('slow', 2_000)
    const [beat] = await it.until('heartbeat', () => {
      const beats = it.said('heartbeat', attempt)
      return beats.length > 0 ? beats : undefined
    })
    assert.deepEqual(beat?.checkpoint, { at: 1 })
    assert.equal(beat?.progress, 0.5)
    assert.deepEqual((await it.reply(attempt)).outcome, { kind: 'done', output: 'slept' })
  },
  'numbers the lines that it writes, and says them before the reply': async (it) => {
    const attempt = it.give('slow', 50)
    await it.reply(attempt)
    // An agent need not have a log.
    const lines = it.said('log', attempt).flatMap((message) => message.lines)
    assert.deepEqual(
      lines.map(({ n }) => n),
      lines.map((_, index) => index + 1),
    )
    for (const { message, ago } of lines) assert.ok(message.length <= 10_000 && ago >= 0)
    const reply = it.heard.findIndex((message) => message.type === 'reply' && message.attempt === attempt)
    const last = it.heard.findLastIndex((message) => message.type === 'log' && message.attempt === attempt)
    assert.ok(last < reply, 'the reply ends what is said of an attempt')
  },
  'is silent when there is nothing to say': async (it) => {
    const { requests } = it
    await setTimeout(2_000) // longer than lines wait for others
    assert.ok(it.requests - requests < 20, `it asked ${it.requests - requests} times within 2 s`)
  },
  'suspends, and goes on with its signal': async (it) => {
    const attempt = it.give('wait', null)
    const suspended = await it.until('suspend', () => it.said('suspend', attempt)[0])
    assert.equal(suspended.timeout, 60_000)
    const signal = { name: 'resume', payload: { paid: true } }
    assert.deepEqual((await it.reply(it.give('wait', null, { signal }))).outcome, { kind: 'done', output: signal })
  },
  'runs an attempt once that it is told of again': async (it) => {
    const count = async () => {
      const { outcome } = await it.reply(it.give('count', null))
      return outcome.kind === 'done' ? Number(outcome.output) : Number.NaN
    }
    const before = await count()
    it.acknowledges = false
    const attempt = it.give('count', null)
    await it.reply(attempt)
    it.give('count', null, { attempt }) // it has been answered, and the answer is not acknowledged
    it.acknowledges = true
    assert.equal(await count(), before + 2)
    it.say({ type: 'ack', attempt })
  },
  'gets an attempt whose answer was lost on the way': async (it) => {
    const hellos = it.hellos.length
    it.lost = 1
    const attempt = it.give('echo', 'lost')
    const { running } = await it.hello(hellos)
    assert.ok(!running.includes(attempt), 'it cannot know an attempt that never arrived')
    assert.deepEqual((await it.reply(attempt)).outcome, { kind: 'done', output: 'lost' })
  },
  'keeps a reply until it is acknowledged, and says it again after each hello': async (it) => {
    it.acknowledges = false
    const attempt = it.give('echo', 'kept')
    await it.reply(attempt)
    const [hellos, said] = [it.hellos.length, it.said('reply', attempt).length]
    it.reset()
    const { running } = await it.hello(hellos)
    assert.ok(running.includes(attempt), 'its hello names what is not acknowledged')
    await it.until('second reply', () => it.said('reply', attempt)[said])
    it.acknowledges = true
    it.say({ type: 'ack', attempt })
    const after = it.give('echo', 'after')
    await it.reply(after)
    await it.reply(it.give('echo', 'once more'))
    const later = it.hellos.length
    it.reset()
    const named = (await it.hello(later)).running
    assert.ok(!named.includes(after), 'what is acknowledged is forgotten')
    assert.ok(
      named.includes(attempt),
      'but what another session acknowledged than the one that gave it is named for two leases',
    )
  },
  'says hello once, whatever comes before the welcome': async (it) => {
    const hellos = it.hellos.length
    it.reset()
    await it.hello(hellos)
    await it.reply(it.give('echo', 'welcome'))
    assert.equal(it.hellos.length, hellos + 1)
  },
  'begins nothing that is older than its complete-by': async (it) => {
    await setTimeout(50)
    it.slow = true
    try {
      const { outcome } = await it.reply(it.give('echo', 'late', { attemptWithin: 20 }))
      assert.equal(outcome.kind, 'withdrawn')
    } finally {
      it.slow = false
    }
  },
  'answers who wants an attempt to end that it does not know': async (it) => {
    const attempt = 'a-unknown'
    it.say({ type: 'abort', attempt, code: 'STEP_LOST', message: 'the attempt was answered by another way' })
    assert.equal(failed(await it.reply(attempt)).unknown, true)
  },
  'says a reply again that is not acknowledged, without a hello': async (it) => {
    it.acknowledges = false
    const hellos = it.hellos.length
    const attempt = it.give('echo', 'again')
    await it.until('second reply', () => it.said('reply', attempt)[1])
    assert.equal(it.hellos.length, hellos)
    it.acknowledges = true
    it.say({ type: 'ack', attempt })
  },
  'goes on with what runs when the connection is cut': async (it) => {
    const hellos = it.hellos.length
    const attempt = it.give('slow', 1_500)
    await it.until('heartbeat', () => it.said('heartbeat', attempt)[0])
    it.down = 3
    it.reset()
    const { running } = await it.hello(hellos)
    assert.ok(running.includes(attempt), 'its hello names what runs')
    assert.deepEqual((await it.reply(attempt)).outcome, { kind: 'done', output: 'slept' })
  },
  'says hello elsewhere when the server stops': async (it) => {
    const hellos = it.hellos.length
    const attempt = it.give('slow', 1_000)
    await it.until('heartbeat', () => it.said('heartbeat', attempt)[0])
    it.say({ type: 'drain' })
    assert.ok((await it.hello(hellos)).running.includes(attempt))
    await it.reply(attempt)
  },
  'ends an attempt that is aborted': async (it) => {
    const attempt = it.give('slow', 3_600_000)
    await it.until('heartbeat', () => it.said('heartbeat', attempt)[0])
    it.say({ type: 'abort', attempt, code: 'STEP_CANCELLED', message: 'the task stops' })
    assert.equal(failed(await it.reply(attempt)).unknown, true)
    const given = it.give('slow', 3_600_000)
    await it.until('heartbeat', () => it.said('heartbeat', given)[0])
    it.say({ type: 'abort', attempt: given, code: 'STEP_LOST', message: 'the attempt was given up' })
    failed(await it.reply(given))
  },
  'takes no more than it has slots for': async (it) => {
    const slots = (it.hellos.at(-1)?.agents ?? []).find(({ name }) => name === 'conformance')?.slots ?? 0
    const many = Array.from({ length: slots + 1 }, () => it.give('slow', 1_000))
    const replies = await Promise.all(many.map((attempt) => it.reply(attempt)))
    const kinds = replies.map(({ outcome }) => outcome.kind).sort()
    assert.deepEqual(kinds, [...Array<string>(slots).fill('done'), 'withdrawn'])
  },
}

/** Starts the command, and examines it. Tells of each scenario; the number of those that failed, and how many WebSockets there were. */
export async function examine(
  command: readonly string[],
  tell: (line: string) => void,
  env: Record<string, string> = {},
): Promise<{ failures: number; sockets: number }> {
  const [program = '', ...args] = command
  const examiner = new Examiner()
  const url = await examiner.open()
  const child = spawn(program, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env, TRIARCH_URL: url, TRIARCH_TOKEN: TOKEN },
  })
  const gone = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code))
    child.once('error', (error) => {
      tell(`✗ ${program} could not be started: ${error.message}`)
      resolve(null)
    })
  })
  let failures = 0
  const run = async (name: string, scenario: () => Promise<void>) => {
    try {
      await scenario()
      const fault = examiner.faults.shift()
      if (fault !== undefined) throw new Error(fault)
      tell(`✓ ${name}`)
    } catch (error) {
      failures++
      examiner.faults.length = 0
      tell(`✗ ${name}: ${(error as Error).message}`)
    }
  }
  try {
    const early = gone.then((code) => Promise.reject(new Error(`the agent ended (${code})`)))
    early.catch(() => undefined)
    for (const [name, scenario] of Object.entries(scenarios)) {
      await run(name, () => Promise.race([scenario(examiner), early]))
      if (child.exitCode !== null || child.pid === undefined) break
    }
    if (child.exitCode === null && child.pid !== undefined)
      await run('ends well on SIGTERM: what runs is answered', () => ending(examiner, child, gone))
  } finally {
    child.kill('SIGKILL')
    examiner.close()
  }
  return { failures, sockets: examiner.sockets }
}

async function ending(examiner: Examiner, child: ChildProcess, gone: Promise<number | null>): Promise<void> {
  const attempt = examiner.give('slow', 1_000)
  await examiner.until('heartbeat', () => examiner.said('heartbeat', attempt)[0])
  child.kill('SIGTERM')
  assert.deepEqual((await examiner.reply(attempt)).outcome, { kind: 'done', output: 'slept' })
  await examiner.until('leave', () => examiner.heard.find(({ type }) => type === 'leave'))
  assert.equal(await gone, 0)
}
