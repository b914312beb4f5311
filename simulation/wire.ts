import type { Agent, ConnectedAgents, RemoteAgents, Triarch } from '../packages/triarch/src/index.ts'
import { connectAgents, TriarchError } from '../packages/triarch/src/index.ts'
import { apply } from '../packages/triarch/src/kernel/apply.ts'
import { newState } from '../packages/triarch/src/kernel/state.ts'
import { legibleEvents } from '../packages/triarch/src/store/record.ts'
import type { Machine } from '../packages/triarch/src/testing/machine.ts'
import type { SharedStore } from '../packages/triarch/src/testing/shared.ts'
import type { World } from '../packages/triarch/src/testing/world.ts'
import type { AgentMessage, AgentRequest, AgentResponse } from '../packages/triarch/src/wire/message.ts'
import { readTicket } from '../packages/triarch/src/wire/ticket.ts'
import type { Plan, WirePlan } from './plan.ts'

/** How long a process of agents stays away after a crash (ms). */
const REBOOT = 300
/** How long it may go on with what it runs when it is asked to stop (ms). */
const GRACE = 500
/** After how long a sender hears that what it sent got lost, if it ever does (ms). */
const RESET = 50

const RECORDS = `
SELECT h.at, h.events FROM triarch_history h JOIN triarch_tasks t ON t.key = h.task WHERE t.id = ? ORDER BY h.seq`
const LETTERS = 'SELECT i.message FROM triarch_inbox i JOIN triarch_tasks t ON t.key = i.task WHERE t.id = ?'

/** A node that agents are connected to. */
interface Serving {
  machine: Machine
  remotes: RemoteAgents
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
  readonly #store: SharedStore
  readonly #plan: WirePlan | null
  readonly #lease: number
  readonly #distance: number
  readonly #agents: (machine: Machine) => Agent[]
  readonly #serving: (Serving | null)[]
  readonly #processes: (Process | null)[] = []
  /** Attempts that were answered, by their names: those whose outcome is to be recorded before that is acknowledged. */
  readonly #answered = new Set<string>()
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
    this.#store = store
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
    const serving = { machine, remotes: triarch.remoteAgents() }
    this.#serving[place] = serving
    return () => serving.remotes.close()
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
      this.#world.after(kind === 'crash' ? ms : REBOOT, 'reboot', () => this.#boot(place))
    }
    if (kind === 'crash') return revive()
    this.#world.after(0, 'leave', () => void connection.close({ grace: GRACE }).then(revive, revive), machine)
  }

  #ask(process: Omit<Process, 'connection'>, url: string, body: string, signal: AbortSignal): Promise<Response> {
    const place = Number(/\d+$/.exec(new URL(url).hostname)?.[0])
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
        for (const message of request.messages) this.#note(message)
        remotes.exchange(request, to.gone).then(
          (response) => {
            if (machine.alive) this.#check(response)
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

  #note(message: AgentMessage): void {
    if (message.type === 'suspend' || (message.type === 'reply' && message.outcome.kind !== 'withdrawn'))
      this.#answered.add(message.attempt)
  }

  /** What is acknowledged is durable: in the history, or on its way into it. */
  #check({ messages }: AgentResponse): void {
    for (const message of messages) {
      if (message.type !== 'ack' || message.late || !this.#answered.has(message.attempt)) continue
      const ticket = readTicket(message.attempt)
      if (!ticket || this.#isRecorded(ticket)) continue
      const { task, step, operation, attempt } = ticket
      this.faults.push(
        `the answer of ${operation} attempt ${attempt} of step ${step} of ${task} was acknowledged, and is not recorded`,
      )
    }
  }

  #isRecorded({ task, step: id, operation, attempt }: NonNullable<ReturnType<typeof readTicket>>): boolean {
    const { database } = this.#store
    const state = newState(task)
    for (const { at, events } of database.all<{ at: number; events: string }>(RECORDS, task))
      for (const event of legibleEvents(events) ?? []) {
        apply(state, event, at, [])
        const { type } = event
        // Its step may be held, as it is, for somebody to decide.
        if (type === 'attemptFailed' && event.id === id && event.operation === operation && event.attempt === attempt)
          return true
      }
    const step = state.steps.get(id)
    const isOpen = step?.status === 'pending' || step?.status === 'running'
    if (!isOpen || step.operation !== operation || step.attempt !== attempt) return true
    return database.all<{ message: string }>(LETTERS, task).some(({ message }) => {
      const reply = JSON.parse(message) as { type: string; step?: number; attempt?: number }
      return reply.type === 'reply' && reply.step === id && reply.attempt === attempt
    })
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

/** As much of a response as an agent's process looks at. */
function responseOf(status: number, text: string): Response {
  return {
    ...{ status, ok: status === 200, headers: { get: () => null } },
    ...{ json: async () => JSON.parse(text) as unknown, text: async () => text },
  } as unknown as Response
}
