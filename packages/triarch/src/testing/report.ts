import { TriarchError } from '../error/error.ts'
import type { TaskOutcome } from '../kernel/status.ts'
import type { HistoryEvent } from '../view/event.ts'
import type { CrashFault } from './fault.ts'
import type { AttemptCall } from './sabotage.ts'

/** Of runs that broke something, those that are told in the message. */
const MOST_TOLD = 3

/** How the workflow ended, and what it did on its way. */
export interface CrashRun<O = unknown> {
  /** Null in the undisturbed run. */
  fault: CrashFault | null
  /** Where the fault came. */
  at: string
  /** `paused`: an operator must decide. */
  outcome: TaskOutcome | 'paused'
  /** When it succeeded. */
  output: O | undefined
  /** Every attempt of a step that began, in order. */
  attempts: readonly AttemptCall[]
}

/** A run that did not end as it should. */
export interface CrashFailure {
  /** What went wrong in it; null in the undisturbed run. */
  fault: CrashFault | null
  /** Where that came. */
  at: string
  /** What is not as it should be. */
  problem: 'stuck' | 'ended otherwise' | 'not repeatable' | 'engine error' | 'check failed'
  /** The same in a sentence. */
  message: string
  /** Of the workflow's own task. */
  history: HistoryEvent[]
  /** What `check` threw, or the engine. */
  cause?: unknown
}

/**
 * What crashEverywhere() found.
 * @example const { calm, runs, failures } = await crashEverywhere(fulfil, order, { agents: [payments] })
 */
export interface CrashReport<O = unknown> {
  /** The undisturbed run. */
  calm: CrashRun<O>
  /** How many there were, besides the undisturbed one. */
  runs: number
  /** Places that were left out because of `runs`. */
  left: number
  /** Runs in which each fault came. */
  faults: Partial<Record<CrashFault, number>>
  /** Runs by how they ended. */
  outcomes: Partial<Record<CrashRun['outcome'], number>>
  /** Those that broke something; none when the test passes. */
  failures: CrashFailure[]
}

/**
 * What crashEverywhere() throws: all it found.
 * @example
 * const error = await crashEverywhere(fulfil, order).catch((error: unknown) => error)
 * if (error instanceof CrashTestError) console.log(error.report.failures)
 */
export class CrashTestError extends TriarchError {
  /** All that was found. */
  readonly report: CrashReport

  constructor(report: CrashReport) {
    super('CRASH_TEST_FAILED', textOf(report))
    this.report = report
  }
}

function textOf({ failures, runs }: CrashReport): string {
  const told = failures.slice(0, MOST_TOLD).map(({ fault, at, problem, message, history }) => {
    const events = history.map(({ type }) => type).join(', ')
    return `${fault ?? 'no fault'} at ${at}: ${problem}: ${message}\n    history: ${events}`
  })
  return `${failures.length} of ${runs} runs failed\n  ${told.join('\n  ')}`
}
