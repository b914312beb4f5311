import { TriarchError } from '../error/error.ts'
import type { TaskEvent } from '../kernel/event.ts'
import type { TaskResult } from '../kernel/status.ts'
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
  result: TaskResult | 'paused'
  /** When it succeeded. */
  output: O | undefined
  /** Every attempt of a step that began, in order. */
  attempts: readonly AttemptCall[]
}

export interface CrashFailure {
  fault: CrashFault | null
  at: string
  problem: 'stuck' | 'ended otherwise' | 'not repeatable' | 'engine error' | 'check failed'
  message: string
  /** Of the workflow's own task. */
  history: TaskEvent[]
  cause?: unknown
}

export interface CrashReport<O = unknown> {
  /** The undisturbed run. */
  calm: CrashRun<O>
  runs: number
  /** Places that were left out because of `runs`. */
  left: number
  /** Runs in which each fault came. */
  faults: Partial<Record<CrashFault, number>>
  /** Runs by how they ended. */
  results: Partial<Record<CrashRun['result'], number>>
  failures: CrashFailure[]
}

/** What crashEverywhere() throws: all it found. */
export class CrashTestError extends TriarchError {
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
