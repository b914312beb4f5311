import type { AgentConnection } from '../../packages/server/src/socket/connection.ts'
import type { Agent, ConnectedAgents, RemoteAgents, Triarch } from '../../packages/triarch/src/index.ts'
import { connectAgents, TriarchError } from '../../packages/triarch/src/index.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { SharedStore } from '../../packages/triarch/src/testing/shared.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import type { AgentRequest, AgentResponse } from '../../packages/triarch/src/wire/message.ts'
import { Acknowledgements } from './acknowledgement.ts'
import type { Plan, WirePlan } from './plan.ts'
import { type Answering, connected, type FrameFate, type NearSocket, placeOf, responseOf, socketsOf } from './socket.ts'

/** How long a process of agents stays away after a crash (ms). */
const REBOOT = 300
/** How long it may go on with what it runs when it is asked to stop (ms). */
const GRACE = 500
/** After how long a sender hears that what it sent got lost, if it ever does (ms). */
const RESET = 50
/** How long servers that stop wait for those at the other ends of their WebSockets (ms). */
const CLOSING = 2_000

/** A node that agents are connected to. */
interface Serving {
  machine: Machine
  remotes: RemoteAgents
  connections: Set<AgentConnection>
  /** It stops, and takes no more connections. */
  leaving: boolean
}

/** A process of agents without a store. */
interface Process {
  machine: Machine
  connection: ConnectedAgents
  /** True time, when a server heard it last; and when a silence last was longer than a lease. */
  heardAt: number
  lapsedAt: number
  /** It hears nothing, and is heard by nobody, until then. */
  cutUntil: number
  sockets: Set<NearSocket>
}

/** What becomes of a request and its answer. Distances in ms; null: it never comes. */
interface Fate {
  there: number | null
  back: number | null
  /** It comes once more, so much later: its answer goes nowhere. */
  again: number | null
  /** Who waits for what got lost hears so; else he waits until he gives up, as on a connection that is open at one end. */
  told: boolean
}

/** Agents in processes of their own, and the links between them and the nodes. */
export class Wire {
  /** What happened, by kind. */
  readonly count: (kind: string) => void
  readonly faults: string[] = []
  /** The longest way of a message (ms). */
  longest = 0
  readonly #world: World
  readonly #plan: WirePlan | null
  readonly #lease: number
  readonly #distance: number
  readonly #agents: (machine: Machine) => Agent[]
  readonly #serving: (Serving | null)[]
  readonly #processes: (Process | null)[] = []
  readonly #acknowledgements: Acknowledgements
  #isOver = false
  /** Whether crashed processes come back. */
  #returns = true
  #born = 0

  constructor(
    world: World,
    store: SharedStore,
    plan: Plan,
    { agents, count }: { agents: (machine: Machine) => Agent[]; count: (kind: string) => void },
  ) {
    this.#world = world
    this.#acknowledgements = new Acknowledgements(store, this.faults)
    this.#plan = plan.wire ?? null
    this.#lease = plan.settings.lease
    this.#distance = plan.settings.distance
    this.#agents = agents
    this.count = count
    this.#serving = plan.nodes.map(() => null)
  }

  /** Agents are elsewhere: nodes have none of their own. */
  get apart(): boolean {
    return this.#plan !== null
  }

  start(): void {
    const { processes = 0, hurts = [] } = this.#plan ?? {}
    for (let place = 0; place < processes; place++) this.#boot(place)
    for (const { at, kind, process, ms } of hurts)
      this.#world.after(at, `wire ${kind}`, () => this.#hurt(process, kind, ms))
  }

  /** Agents may connect to this node from now on. What is to be done before it stops. */
  serve(place: number, machine: Machine, triarch: Triarch): () => void {
    if (!this.#plan) return () => undefined
    const host: Serving = { machine, remotes: triarch.serving.remoteAgents(), connections: new Set(), leaving: false }
    this.#serving[place] = host
    return () => {
      host.leaving = true
      host.remotes.close()
      for (const connection of host.connections) void connection.close(CLOSING)
    }
  }

  /** No link fails any more; who is away comes back. */
  heal(): void {
    this.#isOver = true
    for (const [place, process] of this.#processes.entries()) {
      if (process) process.cutUntil = 0
      if (!process?.machine.alive) this.#boot(place)
    }
  }

  /** All processes leave. */
  async stop(within: number): Promise<boolean> {
    this.#returns = false
    const left = new Set(this.#processes.filter((process) => process?.machine.alive))
    for (const process of left) {
      if (!process) continue
      const { machine, connection } = process
      this.#world.after(
        0,
        'leave',
        () => void connection.close({ grace: GRACE }).then(() => left.delete(process)),
        machine,
      )
    }
    // One that was asked to leave before is taken away meanwhile.
    const over = () => [...left].every((process) => !process?.machine.alive)
    await this.#world.run(within, over)
    return over()
  }

  /**
   * Whether what the machine does now may be known to nobody: it stood still, or nobody heard of it for a lease, since then. Undefined: it is
   * none of these.
   */
  isForgotten(machine: Machine, since: number): boolean | undefined {
    const process = this.#processes.find((one) => one?.machine === machine)
    if (!process) return undefined
    const silent = this.#world.now - process.heardAt > this.#lease
    return machine.frozenUntil > since || process.lapsedAt > since || silent
  }

  #boot(place: number): void {
    if (!this.#returns || this.#processes[place]?.machine.alive) return
    const machine = this.#world.machine(`agents ${place} #${++this.#born}`)
    const urls = this.#serving.map((_, node) => `http://node-${node}`)
    // Each begins with another server.
    const own = [...urls.slice(place % urls.length), ...urls.slice(0, place % urls.length)]
    const process: Omit<Process, 'connection'> = {
      ...{ machine, heardAt: this.#world.now, lapsedAt: Number.NEGATIVE_INFINITY, cutUntil: 0 },
      sockets: new Set(),
    }
    this.#world.after(
      0,
      'boot',
      () => {
        const fetch = (url: string, { body, signal }: { body: string; signal: AbortSignal }) =>
          this.#ask(process, url, body, signal)
        const connection = connectAgents(own, {
          agents: this.#agents(machine),
          environment: machine,
          fetch: fetch as unknown as typeof globalThis.fetch,
          webSocket: this.#plan?.sockets?.[place] === true && this.#socketsOf(process),
          grace: GRACE,
          onError: () => undefined,
        })
        connection.connected.catch(() => undefined)
        this.#processes[place] = Object.assign(process, { connection })
      },
      machine,
    )
  }

  #hurt(place: number, kind: WirePlan['hurts'][number]['kind'], ms: number): void {
    const process = this.#processes[place]
    if (!process?.machine.alive || this.#isOver) return
    const { machine, connection } = process
    this.count(`wire ${kind}`)
    if (kind === 'freeze') return machine.freeze(ms)
    if (kind === 'cut') {
      process.cutUntil = this.#world.now + ms
      return
    }
    const revive = () => {
      machine.crash()
      // Its machine says so, if it is there.
      for (const socket of process.sockets) socket.cut(this.#world.random() < 0.5)
      this.#world.after(kind === 'crash' ? ms : REBOOT, 'reboot', () => this.#boot(place))
    }
    if (kind === 'crash') return revive()
    this.#world.after(0, 'leave', () => void connection.close({ grace: GRACE }).then(revive, revive), machine)
  }

  /** Connections of this process, for as long as they hold. */
  #socketsOf(process: Omit<Process, 'connection'>): typeof WebSocket {
    return socketsOf({
      ...{ world: this.#world, near: process.machine, sockets: process.sockets },
      fate: () => this.#frame(process),
      answering: (url) => this.#answering(process, placeOf(url)),
    })
  }

  #answering(process: Omit<Process, 'connection'>, place: number): Answering | null {
    const serving = this.#serving[place]
    if (!serving || serving.leaving) return null
    const { machine, remotes, connections } = serving
    return {
      machine,
      take: (socket) => {
        this.count('wire socket')
        socket.on('message', (text) => {
          if (process.machine.alive) this.#heard(process)
          for (const message of (JSON.parse(String(text)) as AgentRequest).messages)
            this.#acknowledgements.asked(message)
        })
        const connection = connected(socket, machine, remotes, (error) =>
          this.faults.push(`a connection met what it does not know: ${error}`),
        )
        connections.add(connection)
        socket.on('close', () => connections.delete(connection))
      },
      said: (frame) => {
        if (machine.alive) this.#acknowledgements.said(JSON.parse(frame) as AgentResponse)
      },
    }
  }

  #ask(process: Omit<Process, 'connection'>, url: string, body: string, signal: AbortSignal): Promise<Response> {
    const place = placeOf(url)
    const { machine } = process
    return new Promise((resolve, reject) => {
      const gone = new AbortController()
      signal.addEventListener('abort', () => {
        reject(signal.reason)
        // The server hears of it, if anything still reaches it.
        this.#world.after(this.#upTo(this.#distance), 'hang up', () => gone.abort())
      })
      const fate = this.#fate(process)
      const fail = () => reject(new TypeError('fetch failed'))
      const lost = () => {
        if (fate.told) this.#world.after(RESET, 'reset', fail, machine)
      }
      if (fate.there === null) return lost()
      const answered = (status: number, text: string) => {
        if (fate.back === null || this.#isDark(process)) return lost()
        this.#world.after(fate.back, 'answer', () => resolve(responseOf(status, text)), machine)
      }
      this.#world.after(fate.there, 'request', () =>
        this.#arrive(process, place, body, { gone: gone.signal, fail, answered }),
      )
      if (fate.again !== null)
        this.#world.after(fate.there + fate.again, 'request again', () =>
          this.#arrive(process, place, body, { gone: gone.signal, fail: () => undefined, answered: () => undefined }),
        )
    })
  }

  #arrive(
    process: Omit<Process, 'connection'>,
    place: number,
    body: string,
    to: { gone: AbortSignal; fail: () => void; answered: (status: number, text: string) => void },
  ): void {
    const serving = this.#serving[place]
    if (!serving?.machine.alive)
      return void this.#world.after(this.#upTo(this.#distance), 'refused', to.fail, process.machine)
    const { machine, remotes } = serving
    const request = JSON.parse(body) as AgentRequest
    const answer = (status: number, text: string) => {
      if (machine.alive) to.answered(status, text)
    }
    // One that stands still takes it when it goes on; one that dies never does.
    this.#world.after(
      0,
      'take',
      () => {
        if (process.machine.alive) this.#heard(process)
        for (const message of request.messages) this.#acknowledgements.asked(message)
        remotes.exchange(request, to.gone).then(
          (response) => {
            if (machine.alive) this.#acknowledgements.said(response)
            answer(200, JSON.stringify(response))
          },
          (error: unknown) => answer(error instanceof TriarchError ? 503 : 500, String(error)),
        )
      },
      machine,
    )
  }

  #heard(process: Omit<Process, 'connection'>): void {
    const { now } = this.#world
    if (now - process.heardAt > this.#lease) process.lapsedAt = now
    process.heardAt = now
  }

  #fate(process: Omit<Process, 'connection'>): Fate {
    const there = this.#upTo(this.#distance)
    const fate: Fate = { there, back: this.#upTo(this.#distance), again: null, told: true }
    if (this.#isDark(process)) return { ...fate, there: null, told: this.#world.random() < 0.5 }
    if (this.#isOver || !this.#plan) return this.#measured(fate)
    const { lost, twice, slow, halfOpen } = this.#plan.share
    const meets = (kind: string, share: number) => {
      const met = this.#world.random() < share
      if (met) this.count(`wire ${kind}`)
      return met
    }
    if (meets('half-open', halfOpen)) fate.told = false
    if (meets('lost', lost)) {
      if (this.#world.random() < 0.5) fate.there = null
      else fate.back = null
    }
    if (meets('twice', twice)) fate.again = this.#upTo(2 * this.#lease)
    if (meets('slow', slow)) {
      const late = this.#upTo(2 * this.#lease)
      if (this.#world.random() < 0.5) fate.there = fate.there === null ? null : fate.there + late
      else fate.back = fate.back === null ? null : fate.back + late
    }
    return this.#measured(fate)
  }

  /** Of a connection nothing is lost but the connection. */
  #frame(process: Omit<Process, 'connection'>): FrameFate {
    const { there, back, told } = this.#fate(process)
    const late = Math.max(there ?? 0, back ?? 0)
    return { late, breaks: there === null ? 'before' : back === null ? 'after' : null, told }
  }

  #measured(fate: Fate): Fate {
    this.longest = Math.max(this.longest, (fate.there ?? 0) + (fate.back ?? 0))
    return fate
  }

  #isDark({ cutUntil }: Omit<Process, 'connection'>): boolean {
    return cutUntil > this.#world.now
  }

  #upTo(most: number): number {
    return most === 0 ? 0 : this.#world.below(most + 1)
  }
}
