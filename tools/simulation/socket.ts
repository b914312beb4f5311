// A WebSocket in virtual time: two ends that breathe with their machines, and frames that come in order or break the connection.
import { EventEmitter } from 'node:events'
import type { WebSocket as FarSocket } from 'ws'
import { AgentConnection } from '../../packages/server/src/socket/connection.ts'
import type { RemoteAgents } from '../../packages/triarch/src/index.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'

/** After how long an end hears that the connection broke (ms). */
const RESET = 50
/** What an end is told where nobody said why. */
const BROKEN = 1_006

/** How often servers look whether anybody is still at the other end (ms). */
const LOOK = 1_000

/** What becomes of one frame. */
export interface FrameFate {
  /** How long it takes (ms). */
  late: number
  /** The connection breaks at it: the frame is lost, or the last one that came. */
  breaks: 'before' | 'after' | null
  /** Each end hears that it broke; else it waits until it gives up. */
  told: boolean
}

/** How a connection comes about, and fares. */
export interface Line {
  world: World
  /** The agents' process. */
  near: Machine
  fate(): FrameFate
  /** Of this process, those that are open. */
  sockets: Set<NearSocket>
  /** Who answers at this URL; null: nobody. Asked when the call arrives. */
  answering(url: string): Answering | null
}

export interface Answering {
  machine: Machine
  /** Takes the connection over; for each frame that it says, `say` is told what it is. */
  take(socket: FarSocket): void
  said(frame: string): void
}

type Listener = (event: { data?: string; code?: number; reason?: string }) => void

/** As much of a WebSocket's class as an agents' process looks at. */
export function socketsOf(line: Line): typeof WebSocket {
  return class extends NearSocket {
    constructor(url: string) {
      super(line, url)
    }
  } as unknown as typeof WebSocket
}

/** One direction: what comes first is heard first, however late. `stalled`: until when nothing passes. */
export class Lane {
  readonly #world: World
  readonly to: Machine
  readonly #stalled: () => number
  readonly #waiting: { due: number; deliver: () => void }[] = []

  constructor(world: World, to: Machine, stalled: () => number = () => 0) {
    this.#world = world
    this.to = to
    this.#stalled = stalled
  }

  send(late: number, deliver: () => void): void {
    this.#waiting.push({ due: this.#world.now + late, deliver })
    if (this.#waiting.length === 1) this.#next()
  }

  #next(): void {
    const first = this.#waiting[0]
    if (!first) return
    const arrive = () => {
      first.due = this.#stalled()
      if (first.due > this.#world.now) return this.#next()
      this.#waiting.shift()
      first.deliver()
      this.#next()
    }
    this.#world.after(Math.max(0, first.due - this.#world.now), 'frame', arrive, this.to)
  }
}

/** The agents' end. */
export class NearSocket {
  readonly OPEN = 1
  readyState = 0
  readonly bufferedAmount = 0
  readonly #line: Line
  readonly #listeners = new Map<string, Listener[]>()
  #far: FarEnd | null = null
  #there: Lane | null = null
  #broken = false

  constructor(line: Line, url: string) {
    this.#line = line
    const { world, near, sockets } = line
    sockets.add(this)
    const { late, breaks, told } = line.fate()
    if (breaks !== null) {
      if (told) this.#end(RESET, BROKEN, '')
      return
    }
    world.after(late, 'dial', () => {
      const answering = line.answering(url)
      if (!answering?.machine.alive) return this.#end(late, BROKEN, 'refused')
      const { machine } = answering
      // One that stands still takes it when it goes on.
      const take = () => {
        const back = new Lane(world, near)
        this.#there = new Lane(world, machine)
        this.#far = new FarEnd({
          say: (frame) =>
            this.#pass(
              back,
              machine,
              () => this.#emit('message', { data: frame }),
              () => answering.said(frame),
            ),
          close: (code, reason) => {
            if (this.#broken) return
            back.send(line.fate().late, () => {
              this.#over(code, reason)
              this.#there?.send(line.fate().late, () => this.#far?.end())
            })
          },
          terminate: () => this.#break(true),
        })
        answering.take(this.#far as unknown as FarSocket)
        back.send(line.fate().late, () => {
          if (this.readyState !== 0) return
          this.readyState = 1
          this.#emit('open', {})
        })
      }
      world.after(0, 'take', take, machine)
    })
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener])
  }

  send(frame: string): void {
    const far = this.#far
    if (far && this.#there) this.#pass(this.#there, this.#line.near, () => far.hear(frame))
  }

  close(): void {
    if (this.readyState >= 2) return
    this.readyState = 2
    this.#line.sockets.delete(this)
    const far = this.#far
    if (far && !this.#broken) this.#there?.send(this.#line.fate().late, () => far.end())
  }

  /** The connection breaks; who is not told waits until he gives up. */
  cut(told: boolean): void {
    this.#break(told)
  }

  #pass(lane: Lane, from: Machine, deliver: () => void, passed: () => void = () => undefined): void {
    if (this.#broken || !from.alive) return
    const { late, breaks, told } = this.#line.fate()
    if (!lane.to.alive) return this.#break(told)
    if (breaks !== 'before') {
      passed()
      lane.send(late, deliver)
    }
    if (breaks !== null) this.#break(told)
  }

  /** Nothing passes any more. */
  #break(told: boolean): void {
    if (this.#broken) return
    this.#broken = true
    if (!told) return
    this.#end(RESET, BROKEN, '')
    const far = this.#far
    if (far) this.#there?.send(RESET, () => far.end())
  }

  #end(late: number, code: number, reason: string): void {
    this.#line.world.after(late, 'closed', () => this.#over(code, reason), this.#line.near)
  }

  #over(code: number, reason: string): void {
    if (this.readyState === 3) return
    this.readyState = 3
    this.#broken = true
    this.#line.sockets.delete(this)
    this.#emit('close', { code, reason })
  }

  #emit(type: string, event: Parameters<Listener>[0]): void {
    if (type === 'message' && this.readyState !== 1) return
    for (const listener of this.#listeners.get(type) ?? []) listener(event)
  }
}

interface FarActs {
  say(frame: string): void
  close(code: number, reason: string): void
  terminate(): void
}

/** The server's end: as much of a socket of `ws` as its connection looks at. */
class FarEnd extends EventEmitter {
  readonly CLOSED = 3
  readyState = 1
  readonly #acts: FarActs
  readonly #unread: string[] = []
  #paused = false

  constructor(acts: FarActs) {
    super()
    this.#acts = acts
  }

  send(frame: string, sent: () => void): void {
    if (this.readyState === 1) this.#acts.say(frame)
    queueMicrotask(sent)
  }

  close(code: number, reason: Buffer): void {
    if (this.readyState !== 1) return
    this.readyState = 2
    this.#acts.close(code, String(reason))
  }

  terminate(): void {
    this.#acts.terminate()
    this.end()
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    while (!this.#paused && this.#unread.length > 0) this.emit('message', this.#unread.shift(), false)
  }

  hear(frame: string): void {
    if (this.readyState === 3) return
    if (this.#paused) this.#unread.push(frame)
    else this.emit('message', frame, false)
  }

  end(): void {
    if (this.readyState === 3) return
    this.readyState = 3
    this.emit('close')
  }
}

/** The server's end, in the server's own hands. `failed`: hears of what it does not expect. */
export function connected(
  socket: FarSocket,
  machine: Machine,
  remotes: RemoteAgents,
  failed: (error: unknown) => void,
): AgentConnection {
  const limits = { bytes: 1e9, depth: 100, items: 10_000 } as ConstructorParameters<typeof AgentConnection>[2]['limits']
  const connection = new AgentConnection(
    socket,
    remotes,
    { limits, onError: failed },
    {
      monotonic: () => machine.monotonic(),
      timer(ms, callback) {
        const timer = machine.timer(ms, callback)
        return () => timer.cancel()
      },
    },
  )
  const look = () => {
    if (socket.readyState === socket.CLOSED) return
    connection.look()
    machine.timer(LOOK, look)
  }
  machine.timer(LOOK, look)
  return connection
}

/** Of the node that has this URL. */
export function placeOf(url: string): number {
  return Number(/\d+$/.exec(new URL(url).hostname)?.[0])
}

/** As much of a response as an agent's process looks at. */
export function responseOf(status: number, text: string): Response {
  return {
    ...{ status, ok: status === 200, headers: { get: () => null } },
    ...{ json: async () => JSON.parse(text) as unknown, text: async () => text },
  } as unknown as Response
}
