import type { TaskHandle } from '../client/task.ts'
import { Triarch } from '../client/triarch.ts'
import type { Agent, Workflow } from '../definition/definition.ts'
import { delay } from '../environment/environment.ts'
import { isTriarchError } from '../error/error.ts'
import { toRecord } from '../error/record.ts'
import type { TaskEvent } from '../kernel/event.ts'
import type { ErrorRecord, Json } from '../kernel/json.ts'
import type { TaskOutcome, TaskStatus } from '../kernel/status.ts'
import type { HistoryRecord } from '../store/port.ts'
import { RecordReader } from '../store/reader.ts'
import { type Duration, milliseconds } from '../value/duration.ts'
import { applies, attemptText, callText, type InjectedFault, meet } from './fault.ts'
import { type CallInterference, InjectedError, isMoment, type LinkCall, SimulatedNetwork } from './link.ts'
import type { Machine } from './machine.ts'
import { type AttemptCall, type Saboteur, sabotagedAgent, sabotagedWorkflow } from './sabotage.ts'
import type { SharedStore } from './shared.ts'
import { World } from './world.ts'

/**
 * The context of code that runs beside the engine, in the application's process, which does not crash.
 * @example
 * const drive = async ({ task, sleep }: Drive) => {
 *   await sleep('1h')
 *   await task.signal('approved', { by: 'anna' })
 * }
 */
export interface Drive<O = unknown> {
  /** The task of the workflow. */
  task: TaskHandle<O>
  /** A client of the store. */
  triarch: Triarch
  /** Waits in virtual time. */
  sleep(duration: Duration): Promise<void>
}

export interface TrialOptions {
  workflow: Workflow
  input: unknown
  agents: readonly Agent[]
  /** Other workflows that it calls. */
  workflows: readonly Workflow[]
  nodes: number
  lease: number
  /** Virtual time that the run may take (ms). */
  within: number
  seed: number
  drive: ((drive: Drive) => unknown) | undefined
}

/** The result of one run of the workflow. */
export interface TrialRun {
  status: TaskStatus
  outcome: TaskOutcome
  output: Json | undefined
  error: ErrorRecord | undefined
  /** The pause of the task, if it is paused. */
  pause: { reason: string; error?: ErrorRecord } | undefined
  /** Whether all tasks came to rest in time. */
  rested: boolean
  /** Every attempt of a step that began, in order. */
  attempts: AttemptCall[]
  /** Indexes of store calls that are worth a fault. */
  moments: number[]
  /** The place of the injected fault; null: it was not reached. */
  struck: string | null
  /** Events of all tasks, the workflow's own first. */
  histories: { task: string; events: TaskEvent[] }[]
  /** Unexpected errors. */
  errors: unknown[]
  /** Virtual time that passed (ms). */
  elapsed: number
}

const ID = 'crash-test'
/** Time from a crash to the restart of the machine (ms). */
const REBOOT = 1_000
/** Rounds of the event loop in which user code may still act before time passes. */
const PATIENCE = 4
const harmless = ['STORE_BUSY', 'STORE_CLOSED', 'NODE_STOPPED', 'NODE_FENCED'] as const
/** Errors that the application's code may get if the task went another way than expected. */
const otherwise = ['TASK_STOPPED', 'TASK_NOT_PAUSED', 'ILLEGAL_MOVE'] as const

/** Runs the workflow once on several nodes in virtual time, with at most one fault. */
export async function trial(
  store: SharedStore,
  options: TrialOptions,
  strike: InjectedFault | null,
): Promise<TrialRun> {
  return new Stage(store, options, strike).play()
}

class Stage {
  readonly #store: SharedStore
  readonly #options: TrialOptions
  readonly #strike: InjectedFault | null
  readonly #world: World
  readonly #network: SimulatedNetwork
  readonly #attempts: AttemptCall[] = []
  readonly #moments: number[] = []
  readonly #errors: unknown[] = []
  #struck: string | null = null
  #driven = false

  constructor(store: SharedStore, options: TrialOptions, strike: InjectedFault | null) {
    this.#store = store
    this.#options = options
    this.#strike = strike
    const world = new World({ seed: options.seed, patience: PATIENCE })
    this.#world = world
    store.reset({ now: () => world.now })
    this.#network = new SimulatedNetwork(world, store, {
      fate: (call) => this.#fate(call),
      observe: (call, answer) => {
        if (isNode(call.machine) && isMoment(call, answer)) this.#moments.push(call.index)
      },
      crashed: (machine) => world.after(REBOOT, 'reboot', () => this.#boot(machine.name)),
    })
  }

  async play(): Promise<TrialRun> {
    const { nodes, within } = this.#options
    for (let index = 1; index <= nodes; index++) this.#boot(`node ${index}`)
    this.#apply()
    const rested = await this.#rest(within)
    const row = this.#store.perform('task', [ID]) as Record<string, string | null> | null
    const errors = this.#errors.filter((error) => !isHarmless(error))
    const [attempts, moments, struck, elapsed] = [this.#attempts, this.#moments, this.#struck, this.#world.elapsed]
    // Code that still runs has no effect any more.
    for (const machine of this.#world.machines) machine.crash()
    return { ...endOf(row), rested, attempts, moments, struck, errors, elapsed, histories: this.#histories() }
  }

  #boot(name: string): void {
    const { agents, workflow, workflows, lease } = this.#options
    const machine = this.#world.machine(name)
    const between: Saboteur = (call, work) => this.#attempt(call, work)
    const node = new Triarch({
      store: () => this.#network.link(machine),
      environment: machine,
      workflows: [workflow, ...workflows].map((one) => sabotagedWorkflow(one, between)),
      agents: agents.map((agent) => sabotagedAgent(agent, between)),
      lease,
      sweep: Math.ceil(lease / 4),
      poll: Math.ceil(lease / 4),
      notices: false,
      onError: (error) => this.#errors.push(error),
    })
    const failed = (error: unknown) => {
      this.#errors.push(error)
      machine.crash()
      this.#world.after(REBOOT, 'reboot', () => this.#boot(name))
    }
    this.#world.after(0, 'boot', () => void node.start().catch(failed), machine)
  }

  /** The application submits the task and runs `drive`. */
  #apply(): void {
    const machine = this.#world.machine('application')
    const { workflow, workflows, input, drive } = this.#options
    const triarch = new Triarch({
      store: () => this.#network.link(machine),
      environment: machine,
      roles: [],
      notices: false,
      workflows: [workflow, ...workflows],
    })
    const work = async () => {
      const task = await triarch.submit(workflow, input, { id: ID })
      const sleep = (duration: Duration) => delay(machine, milliseconds(duration, 'sleep'))
      await drive?.({ task, triarch, sleep })
    }
    const driven = (error?: unknown) => {
      if (error !== undefined && !otherwise.some((code) => isTriarchError(error, code))) this.#errors.push(error)
      this.#driven = true
    }
    this.#world.after(0, 'apply', () => void work().then(() => driven(), driven), machine)
  }

  #fate(call: LinkCall): CallInterference {
    const strike = this.#strike
    if (strike?.at !== 'call' || strike.index !== call.index) return { there: 0, back: 0 }
    this.#struck = callText(call)
    return { there: 0, back: 0, fault: strike.fault }
  }

  #attempt(call: AttemptCall, work: () => unknown): unknown {
    const index = this.#attempts.push(call) - 1
    const strike = this.#strike
    if (strike?.at !== 'attempt' || strike.index !== index || !applies(strike.fault, call)) return work()
    this.#struck = attemptText(call)
    return meet(strike.fault, call, work)
  }

  /** Runs until every task has stopped, or has been paused for a while; returns whether that was reached. */
  async #rest(within: number): Promise<boolean> {
    while (this.#world.elapsed < within) {
      const { elapsed } = this.#world
      await this.#world.run(Math.min(within - elapsed, Math.max(100, elapsed / 20)))
      if (this.#isAtRest()) return true
    }
    return false
  }

  #isAtRest(): boolean {
    const tasks = this.#store.database.all<{ id: string; status: string; updated_at: number }>(
      'SELECT id, status, updated_at FROM triarch_tasks',
    )
    const long = this.#world.now - 2 * this.#options.lease
    // An application that still waits long after the task has stopped is not awaited.
    const over =
      this.#driven || tasks.some(({ id, status, updated_at: at }) => id === ID && status === 'stopped' && at < long)
    return (
      over && tasks.every(({ status, updated_at: at }) => status === 'stopped' || (status === 'paused' && at < long))
    )
  }

  #histories(): TrialRun['histories'] {
    const tasks = this.#store.database.all<{ id: string }>('SELECT id FROM triarch_tasks ORDER BY key')
    return tasks.map(({ id }) => {
      const records = this.#store.perform('records', [id, 0, 1_000_000]) as HistoryRecord[]
      const reader = new RecordReader()
      return { task: id, events: records.flatMap(({ seq, events }) => reader.events(events, seq)) }
    })
  }
}

function isNode(machine: Machine): boolean {
  return machine.name !== 'application'
}

function endOf(
  row: Record<string, string | null> | null,
): Pick<TrialRun, 'status' | 'outcome' | 'output' | 'error' | 'pause'> {
  const json = <T>(text: string | null | undefined) => (text == null ? undefined : (JSON.parse(text) as T))
  return {
    status: (row?.status ?? 'pending') as TaskStatus,
    outcome: (row?.result ?? 'pending') as TaskOutcome,
    output: json<Json>(row?.output),
    error: json<ErrorRecord>(row?.error),
    pause: json<{ reason: string; error?: ErrorRecord }>(row?.pause),
  }
}

function isHarmless(error: unknown): boolean {
  if (error instanceof InjectedError || harmless.some((code) => isTriarchError(error, code))) return true
  return toRecord(error).message.startsWith('injected')
}
