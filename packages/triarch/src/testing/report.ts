import { TriarchError } from '../error/error.ts'
import type { TaskOutcome } from '../kernel/status.ts'
import type { HistoryEvent } from '../view/event.ts'
import type { CrashFault } from './fault.ts'
import type { AttemptCall } from './sabotage.ts'

/** Number of failed runs that the message describes. */
const MOST_TOLD = 3

/** One run: how the workflow ended, and its attempts. */
export interface CrashRun<O = unknown> {
  /** Null in the undisturbed run. */
  fault: CrashFault | null
  /** The place of the fault. */
  at: string
  /** `paused`: an operator must decide. */
  outcome: TaskOutcome | 'paused'
  /** The output, if it succeeded. */
  output: O | undefined
  /** Every attempt of a step that began, in order. */
  attempts: readonly AttemptCall[]
}

/** A run that did not end as it should. */
export interface CrashFailure {
  /** The injected fault; null in the undisturbed run. */
  fault: CrashFault | null
  /** The place of the fault. */
  at: string
  /** The kind of the problem. */
  problem: 'stuck' | 'ended otherwise' | 'not repeatable' | 'engine error' | 'check failed'
  /** The problem as a sentence. */
  message: string
  /** The history of the workflow's task. */
  history: HistoryEvent[]
  /** The error of `check` or of the engine. */
  cause?: unknown
}

/**
 * The result of crashEverywhere().
 * @example const { calm, runs, failures } = await crashEverywhere(fulfil, order, { agents: [payments] })
 */
export interface CrashReport<O = unknown> {
  /** The undisturbed run. */
  calm: CrashRun<O>
  /** Number of runs, without the undisturbed one. */
  runs: number
  /** Number of places that were left out because of `runs`. */
  left: number
  /** Number of runs with each fault. */
  faults: Partial<Record<CrashFault, number>>
  /** Number of runs by outcome. */
  outcomes: Partial<Record<CrashRun['outcome'], number>>
  /** Failed runs; none if the test passes. */
  failures: CrashFailure[]
}

/**
 * The error of crashEverywhere(), with its report.
 * @example
 * const error = await crashEverywhere(fulfil, order).catch((error: unknown) => error)
 * if (error instanceof CrashTestError) console.log(error.report.failures)
 */
export class CrashTestError extends TriarchError {
  /** The report. */
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
