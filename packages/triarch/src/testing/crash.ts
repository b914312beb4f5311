import type { Agent, Workflow } from '../definition/definition.ts'
import { checkWorkflow } from '../definition/workflow.ts'
import { messageOf, TriarchError } from '../error/error.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'
import { historyEvent } from '../view/history.ts'
import { applies, attemptFaults, type CrashFault, crashFaults, type Strike, storeFaults } from './fault.ts'
import { type CrashFailure, type CrashReport, type CrashRun, CrashTestError } from './report.ts'
import { SharedStore } from './shared.ts'
import { type Drive, type Trial, type TrialOptions, trial } from './trial.ts'
import { type Problem, problemOf, runOf } from './verdict.ts'

/**
 * Around the runs, and how many there are.
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
  /** Others that the workflow calls; it may be among them. */
  workflows?: readonly Workflow[]
  /** Beside the engine, in each run: sends signals, resumes steps, decides what an operator would. */
  drive?: (drive: Drive<O>) => unknown
  /** Before each run: gives the fakes behind the actions a fresh start. */
  before?: () => unknown
  /** After each run: throws when what the fakes saw is wrong. */
  check?: (run: CrashRun<O>) => unknown
  /** What of the output must be the same in each run; all of it. */
  compare?: (output: O) => unknown
  /** All of them when not given. */
  faults?: readonly CrashFault[]
  /** Nodes on the store, all with every role; 2. */
  nodes?: number
  /** Lease of the nodes, and so how long it takes to take over from a dead one; '10s', or more for a workflow that sleeps long. */
  lease?: Duration
  /** Virtual time in which a run must come to rest; several times what the undisturbed one took. */
  within?: Duration
  /** Runs at most; 5,000. Of more, evenly spread ones are left out, and counted. */
  runs?: number
  /** Seed of randomness and ids; 1. */
  seed?: number
}

const callbacks = ['drive', 'before', 'check', 'compare'] as const
const keys = ['agents', 'workflows', ...callbacks, 'faults', 'nodes', 'lease', 'within', 'runs', 'seed'] as const
const LONGEST = 365 * 86_400_000
const LEASE = 10_000
const LONG_LEASE = 3_600_000
/** A workflow that takes long gets a lease of this share of it, or the nodes' own business would fill the run. */
const LEASE_SHARE = 100

/**
 * Runs a workflow again and again in virtual time, each time with one fault at another place: every store call of a node
 * (the process dies before or after it, or does not hear that it was done), every attempt of a step (the service fails,
 * does not answer, refuses). Each run must come to rest and end as the undisturbed one did, unless a step used up its
 * attempts or a deadline passed. Throws CRASH_TEST_FAILED (a CrashTestError) when one does not.
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

interface Setting {
  trial: TrialOptions
  options: CrashOptions
  faults: readonly CrashFault[]
  most: number
}

function settingOf(workflow: Workflow, input: unknown, options: CrashOptions): Setting {
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
  readonly #setting: Setting
  #trial: TrialOptions
  readonly #failures: CrashFailure[] = []
  readonly #faults: CrashReport['faults'] = {}
  readonly #outcomes: CrashReport['outcomes'] = {}
  #runs = 0

  constructor(store: SharedStore, setting: Setting) {
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
      calm: runOf(calm, null),
      runs: this.#runs,
      left: strikes.length - chosen.length,
      faults: this.#faults,
      outcomes: this.#outcomes,
      failures: this.#failures,
    }
  }

  /** First without a lease that matters: how long the workflow takes decides how long the lease is. */
  async #calm(): Promise<Trial> {
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

  async #one(strike: Strike, calm: Trial): Promise<void> {
    const played = await this.#play(this.#trial, strike)
    if (played.struck !== null) this.#faults[strike.fault] = (this.#faults[strike.fault] ?? 0) + 1
    await this.#judge(played, strike, calm)
  }

  async #play(options: TrialOptions, strike: Strike | null): Promise<Trial> {
    await this.#setting.options.before?.()
    return trial(this.#store, options, strike)
  }

  async #judge(played: Trial, strike: Strike | null, calm: Trial): Promise<Trial> {
    this.#runs++
    const run = runOf(played, strike)
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

function strikesOf({ moments, attempts }: Trial, faults: readonly CrashFault[]): Strike[] {
  const calls = storeFaults.filter((fault) => faults.includes(fault))
  const steps = attemptFaults.filter((fault) => faults.includes(fault))
  return [
    ...moments.flatMap((index) => calls.map((fault): Strike => ({ at: 'call', fault, index }))),
    ...attempts.flatMap((call, index) =>
      steps.filter((fault) => applies(fault, call)).map((fault): Strike => ({ at: 'attempt', fault, index })),
    ),
  ]
}
