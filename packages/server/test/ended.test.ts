// A WebSocket whose key was revoked is over, whatever its client does.
import { EventEmitter } from 'node:events'
import type { AgentRequest, RemoteAgents } from 'triarch'
import { expect, it } from 'vitest'
import type { WebSocket } from 'ws'
import { settingsOf } from '../src/options.ts'
import { AgentConnection } from '../src/socket/connection.ts'

/** A client that never closes, and agents that write down what is said. */
function scene() {
  const asked: AgentRequest[] = []
  const over = { closed: [] as number[], cut: 0 }
  const timers: { ms: number; callback: () => void; off: boolean }[] = []
  const socket = Object.assign(new EventEmitter(), {
    close: (status: number) => void over.closed.push(status),
    terminate() {
      over.cut++
      socket.emit('close')
    },
    send: (_: string, done: () => void) => done(),
    pause() {},
    resume() {},
  })
  const agents: RemoteAgents = {
    async exchange(request) {
      asked.push(request)
      const welcome = { type: 'welcome', protocol: 1, session: 's-1', lease: 10_000, payload: 1_000 } as const
      return { messages: request.session === undefined ? [welcome] : [] }
    },
    listen: (_, { signal } = {}) =>
      new Promise((resolve) => signal?.addEventListener('abort', () => resolve([]), { once: true })),
    close() {},
  }
  const clock = {
    now: 0,
    monotonic: () => clock.now,
    timer(ms: number, callback: () => void) {
      const timer = { ms, callback, off: false }
      timers.push(timer)
      return () => {
        timer.off = true
      }
    },
  }
  const connection = new AgentConnection(socket as unknown as WebSocket, agents, settingsOf({}), clock)
  const say = async (request: object) => {
    socket.emit('message', Buffer.from(JSON.stringify(request)), false)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { connection, socket, say, asked, over, timers, clock }
}

const hello = {
  type: 'hello',
  protocol: 1,
  instance: 'i',
  count: 1,
  agents: [{ name: 'mail', slots: 1, actions: ['mail.send'] }],
  running: [],
}

it('takes nothing more once its key is revoked, is given nothing more, and is cut after two seconds', async () => {
  const { connection, say, asked, over, timers } = scene()
  await say({ messages: [hello] })
  expect(asked).toHaveLength(1)
  connection.refuse()
  await say({ session: 's-1', messages: [{ type: 'reply', attempt: 'a', outcome: { kind: 'done', output: 1 } }] })
  expect(asked.slice(1)).toEqual([{ session: 's-1', wait: 0, messages: [{ type: 'drain' }] }])
  expect(over).toEqual({ closed: [1_008], cut: 0 })
  expect(timers.map(({ ms }) => ms)).toEqual([2_000])
  timers[0]?.callback()
  expect(over.cut).toBe(1)
})

it('takes nothing more after a frame that was refused, and is cut unless its client closes it', async () => {
  const { socket, say, asked, over, timers } = scene()
  await say({ messages: [hello] })
  await say({ nonsense: true })
  expect(over.closed).toEqual([1_008])
  await say({ session: 's-1', messages: [] })
  expect(asked).toHaveLength(1)
  socket.emit('close')
  expect(timers.map(({ ms, off }) => [ms, off])).toEqual([[2_000, true]])
})

it('is cut after ten seconds without a hello, whatever else it says, so that nobody keeps connections by talking', async () => {
  const { connection, say, over, clock } = scene()
  for (clock.now = 0; clock.now <= 10_000; clock.now += 5_000) {
    await say({ session: 'none', messages: [] })
    connection.look()
  }
  expect(over.cut).toBe(0)
  await say({ session: 'none', messages: [] })
  connection.look()
  expect(over.cut).toBe(1)
  const greeted = scene()
  await greeted.say({ messages: [hello] })
  greeted.clock.now = 10_000
  await greeted.say({ session: 's-1', messages: [] })
  greeted.clock.now = 15_000
  greeted.connection.look()
  expect(greeted.over.cut).toBe(0)
})
