import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { AgentHost, HostedAttempt } from '../../src/agent/host.ts'
import { Register } from '../../src/environment/register.ts'
import type { ServerMessage } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { AgentProcess } from '../../src/wire/agent.ts'
import type { AgentHosts } from '../../src/wire/agent-hosts.ts'

/** A process that is welcome, whose attempts end when the test says so. */
function scene() {
  const environment = new VirtualEnvironment()
  const begun: HostedAttempt[] = []
  const rooms: Record<string, number> = {}
  const hosts = ['busy', 'idle'].map((name) => {
    const host = { name, reserve: () => true, start: (attempt: HostedAttempt) => void begun.push(attempt) }
    return host as unknown as AgentHost
  })
  const crew: AgentHosts = {
    ...{ instance: 'i', lines: null, hosts: () => hosts, actions: () => [], welcomed: () => undefined },
    host: (agent) => hosts.find(({ name }) => name === agent),
    room: ({ name }, running) => {
      rooms[name] = running
      return 5_000
    },
    drain: async () => undefined,
  }
  const process = new AgentProcess({
    environment,
    hosts: crew,
    software: 's',
    urge: () => undefined,
    failed: () => undefined,
  })
  const welcome = () => {
    process.request(0)
    const message = { type: 'welcome', protocol: 1, session: 's', lease: 60_000, payload: 1_000 } as const
    process.hear([message], environment.monotonic())
  }
  welcome()
  let n = 0
  /** Gives it so many attempts; what begins of them. */
  const give = (count: number): HostedAttempt[] => {
    const messages = Array.from({ length: count }, (): ServerMessage => {
      const attempt = `a${++n}`
      return {
        ...{ n, type: 'attempt', attempt, agent: 'busy', action: 'busy.act', operation: 'run', number: 1, name: 'act' },
        ...{ task: 't', step: n, workflow: 'w', version: '1', idempotencyKey: attempt, input: null, token: 'x' },
        attemptWithin: 60_000,
      }
    })
    process.hear(messages, environment.monotonic())
    return begun.splice(0)
  }
  const end = (attempts: HostedAttempt[]) => {
    for (const attempt of attempts) attempt.done({ outcome: { kind: 'done', output: null } } as never)
  }
  const said = () =>
    process.request(0).messages.flatMap((message) => (message.type === 'reply' ? [message.attempt] : []))
  return { environment, process, rooms, welcome, give, end, said }
}

describe('a process of agents', () => {
  it('knows whether it has something to say without a look at all that runs and all that it answered', () => {
    const { process, rooms, give, end, said } = scene()
    give(1_000)
    end(give(1_000))
    while (process.urgent) said()
    let looks = 0
    for (const name of ['values', Symbol.iterator] as const) {
      const walk = Register.prototype[name] as () => Iterable<never>
      const spy = vi.spyOn(Register.prototype, name).mockImplementation(function* (this: Register<unknown, unknown>) {
        for (const it of walk.call(this)) {
          looks++
          yield it
        }
      })
      onTestFinished(() => spy.mockRestore())
    }
    expect(process.urgent).toBe(false)
    expect(looks).toBeLessThan(5)
    expect(rooms).toEqual({ busy: 1_000, idle: 0 })
  })

  it('says an answer until it is acknowledged: on a connection that holds after 5 s, on another at once', async () => {
    const { environment, process, welcome, give, end, said } = scene()
    const [first, second] = [give(1), give(1)]
    end(first)
    expect(said()).toEqual(['a1'])
    await environment.advance(3_000)
    end(second)
    expect([process.urgent, said(), process.urgent, said()]).toEqual([true, ['a2'], false, []])
    await environment.advance(2_000)
    expect([process.urgent, said(), process.urgent]).toEqual([true, ['a1'], false])
    await environment.advance(3_000)
    expect([process.urgent, said(), process.urgent]).toEqual([true, ['a2'], false])
    process.disconnected()
    welcome()
    expect([process.urgent, said()]).toEqual([false, []]) // the hello had them
    process.hear([{ n: 1, type: 'ack', attempt: 'a1' }], environment.monotonic())
    await environment.advance(5_000)
    expect([process.urgent, said()]).toEqual([true, ['a2']])
    process.hear([{ n: 2, type: 'ack', attempt: 'a2' }], environment.monotonic())
    await environment.advance(5_000)
    expect([process.urgent, said(), process.idle]).toEqual([false, [], true])
  })

  it('says what did not fit into one request with the next', () => {
    const { process, give, end, said } = scene()
    end(give(1_200))
    const portions: string[][] = []
    while (process.urgent) portions.push(said())
    expect(portions.map(({ length }) => length)).toEqual([500, 500, 200])
    expect(new Set(portions.flat()).size).toBe(1_200)
  })
})
