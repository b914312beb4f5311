import type { Agent, Workflow } from '../definition/definition.ts'
import { checkWorkflow } from '../definition/workflow.ts'
import { messageOf, TriarchError } from '../error/error.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'
import { historyEvent } from '../view/history.ts'
import { applies, attemptFaults, type CrashFault, crashFaults, type InjectedFault, storeFaults } from './fault.ts'
import { type CrashFailure, type CrashReport, type CrashRun, CrashTestError } from './report.ts'
import { SharedStore } from './shared.ts'
import { type Drive, type TrialOptions, type TrialRun, trial } from './trial.ts'
import { crashRunOf, type Problem, problemOf } from './verdict.ts'

/**
 * The environment of the runs, and their number.
 * @example
 * await crashEverywhere(fulfil, order, {
 *   agents: [payments],
 *   drive: ({ task }) => task.signal('approved'),
 *   faults: ['crash-after', 'unanswered'],
 * })
 */
export interface CrashOptions<O = unknown> {
  /** Agents of the workflow's actions. */
  agents?: readonly Agent[]
  /** Other workflows that it calls; it may be among them itself. */
  workflows?: readonly Workflow[]
  /** Runs beside the engine in each run: sends signals, resumes steps, makes the decisions of operators. */
  drive?: (drive: Drive<O>) => unknown
  /** Called before each run, to reset the fakes behind the actions. */
  before?: () => unknown
  /** Called after each run; throws if the fakes saw something wrong. */
  check?: (run: CrashRun<O>) => unknown
  /** The part of the output that must be the same in each run; all of it. */
  compare?: (output: O) => unknown
  /** The faults to inject; all. */
  faults?: readonly CrashFault[]
  /** Nodes on the store, all with every role; 2. */
  nodes?: number
  /** Lease of the nodes, which determines when a dead one is replaced; '10s', or more for a workflow that sleeps long. */
  lease?: Duration
  /** Virtual time within which a run must come to rest; several times that of the undisturbed run. */
  within?: Duration
  /** Largest number of runs; 5,000. Of more places, evenly spread ones are left out and counted. */
  runs?: number
  /** Seed of randomness and ids; 1. */
  seed?: number
}

const callbacks = ['drive', 'before', 'check', 'compare'] as const
const keys = ['agents', 'workflows', ...callbacks, 'faults', 'nodes', 'lease', 'within', 'runs', 'seed'] as const
const LONGEST = 365 * 86_400_000
const LEASE = 10_000
const LONG_LEASE = 3_600_000
/** For a long workflow the lease is this fraction of its duration, or most of the run would be heartbeats and sweeps. */
const LEASE_SHARE = 100

/**
 * Runs a workflow repeatedly in virtual time, each time with one fault at another place: every store call of a node (the process dies
 * before or after it, or does not get its answer), every attempt of a step (the service fails, does not answer, refuses). Each run must
 * come to rest and end as the undisturbed one did, unless a step used up its attempts or a deadline passed. Throws CRASH_TEST_FAILED (a
 * CrashTestError) if one does not.
 * @example const { runs, outcomes } = await crashEverywhere(fulfil, order, { agents: [payments] })
 */
export async function crashEverywhere<I, O>(
  workflow: Workflow<I, O>,
  input: NoInfer<I>,
  options: CrashOptions<O> = {},
): Promise<CrashReport<O>> {
  const setting = settingOf(workflow as Workflow, input, options as CrashOptions)
  const store = new SharedStore()
  try {
    const report = await new CrashTest(store, setting).run()
    if (report.failures.length > 0) throw new CrashTestError(report)
    return report as CrashReport<O>
  } finally {
    store.close()
  }
}

interface CrashSetup {
  trial: TrialOptions
  options: CrashOptions
  faults: readonly CrashFault[]
  most: number
}

function settingOf(workflow: Workflow, input: unknown, options: CrashOptions): CrashSetup {
  checkWorkflow(workflow)
  checkOptions('crashEverywhere', options, keys)
  const { agents = [], workflows = [], drive, faults = crashFaults, nodes = 2 } = options
  for (const name of callbacks)
    if (options[name] !== undefined) checkFunction(`crashEverywhere: ${name}`, options[name])
  const unknown = faults.find((fault) => !crashFaults.includes(fault))
  if (unknown !== undefined)
    throw new TriarchError('INVALID_OPTION', `crashEverywhere: faults must be of ${crashFaults.join(', ')}`)
  const time = (name: 'lease' | 'within', none: number) =>
    options[name] === undefined ? none : positiveMilliseconds(options[name], `crashEverywhere: ${name}`)
  return {
    trial: {
      ...{ workflow, input, agents, drive },
      workflows: workflows.filter((other) => other !== workflow),
      nodes: checkInteger('crashEverywhere: nodes', nodes, 1, 10),
      lease: time('lease', LEASE),
      within: time('within', LONGEST),
      seed: checkInteger('crashEverywhere: seed', options.seed ?? 1, 0, 2 ** 31),
    },
    options,
    faults,
    most: checkInteger('crashEverywhere: runs', options.runs ?? 5_000, 1, 1_000_000),
  }
}

class CrashTest {
  readonly #store: SharedStore
  readonly #setting: CrashSetup
  #trial: TrialOptions
  readonly #failures: CrashFailure[] = []
  readonly #faults: CrashReport['faults'] = {}
  readonly #outcomes: CrashReport['outcomes'] = {}
  #runs = 0

  constructor(store: SharedStore, setting: CrashSetup) {
    this.#store = store
    this.#setting = setting
    this.#trial = setting.trial
  }

  async run(): Promise<CrashReport> {
    const calm = await this.#calm()
    const strikes = strikesOf(calm, this.#setting.faults)
    const { most } = this.#setting
    const chosen = strikes.filter((_, index) => strikes.length <= most || (index * most) % strikes.length < most)
    for (const strike of calm.rested ? chosen : []) await this.#one(strike, calm)
    return {
      calm: crashRunOf(calm, null),
      runs: this.#runs,
      left: strikes.length - chosen.length,
      faults: this.#faults,
      outcomes: this.#outcomes,
      failures: this.#failures,
    }
  }

  /** The undisturbed run. It is made first with a very long lease, because the workflow's duration determines the lease. */
  async #calm(): Promise<TrialRun> {
    const { options, trial: given } = this.#setting
    if (options.lease === undefined) {
      const first = await this.#play({ ...given, lease: LONG_LEASE }, null)
      if (!first.rested) return this.#judge(first, null, first)
      this.#trial = { ...given, lease: Math.max(LEASE, Math.ceil(first.elapsed / LEASE_SHARE)) }
    }
    const calm = await this.#play(this.#trial, null)
    if (options.within === undefined) {
      this.#trial = { ...this.#trial, within: 5 * calm.elapsed + 300 * this.#trial.lease }
    }
    return this.#judge(calm, null, calm)
  }

  async #one(strike: InjectedFault, calm: TrialRun): Promise<void> {
    const played = await this.#play(this.#trial, strike)
    if (played.struck !== null) this.#faults[strike.fault] = (this.#faults[strike.fault] ?? 0) + 1
    await this.#judge(played, strike, calm)
  }

  async #play(options: TrialOptions, strike: InjectedFault | null): Promise<TrialRun> {
    await this.#setting.options.before?.()
    return trial(this.#store, options, strike)
  }

  async #judge(played: TrialRun, strike: InjectedFault | null, calm: TrialRun): Promise<TrialRun> {
    this.#runs++
    const run = crashRunOf(played, strike)
    this.#outcomes[run.outcome] = (this.#outcomes[run.outcome] ?? 0) + 1
    const found = problemOf(played, strike, calm, this.#setting.options.compare) ?? (await this.#check(run))
    const history = (played.histories[0]?.events ?? []).map(historyEvent)
    if (found) this.#failures.push({ fault: run.fault, at: run.at, history, ...found })
    return played
  }

  async #check(run: CrashRun): Promise<Problem | null> {
    try {
      await this.#setting.options.check?.(run)
      return null
    } catch (cause) {
      return { problem: 'check failed', message: messageOf(cause), cause }
    }
  }
}

function strikesOf({ moments, attempts }: TrialRun, faults: readonly CrashFault[]): InjectedFault[] {
  const calls = storeFaults.filter((fault) => faults.includes(fault))
  const steps = attemptFaults.filter((fault) => faults.includes(fault))
  return [
    ...moments.flatMap((index) => calls.map((fault): InjectedFault => ({ at: 'call', fault, index }))),
    ...attempts.flatMap((call, index) =>
      steps.filter((fault) => applies(fault, call)).map((fault): InjectedFault => ({ at: 'attempt', fault, index })),
    ),
  ]
}
