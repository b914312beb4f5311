import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import { succeeded } from '../kernel/status.ts'
import type { InjectedFault } from './fault.ts'
import type { CrashFailure, CrashRun } from './report.ts'
import type { TrialRun } from './trial.ts'

export type Problem = Pick<CrashFailure, 'problem' | 'message' | 'cause'>

/** The problem of a run; null: it came to rest as it should. */
export function problemOf(
  played: TrialRun,
  strike: InjectedFault | null,
  calm: TrialRun,
  compare: (output: unknown) => unknown = (output) => output,
): Problem | null {
  const { errors, struck, rested, elapsed, status } = played
  const [cause] = errors
  if (cause !== undefined) return { problem: 'engine error', message: messageOf(cause), cause }
  if (strike && struck === null) {
    const message = 'the place was not reached: something draws on real time, chance or I/O'
    return { problem: 'not repeatable', message }
  }
  if (!rested) return { problem: 'stuck', message: `after ${elapsed} ms the task is ${status}` }
  const message = differenceOf(played, strike, calm, compare)
  return message === null ? null : { problem: 'ended otherwise', message }
}

export function crashRunOf(
  { status, outcome, output, attempts, struck }: TrialRun,
  strike: InjectedFault | null,
): CrashRun {
  return {
    fault: strike?.fault ?? null,
    at: struck ?? (strike ? 'nowhere' : 'undisturbed'),
    outcome: status === 'paused' ? 'paused' : outcome,
    output: succeeded(outcome) ? output : undefined,
    attempts,
  }
}

/** How the end of a run differs from the undisturbed one; null: it does not, or has a reason to. */
function differenceOf(
  played: TrialRun,
  strike: InjectedFault | null,
  calm: TrialRun,
  compare: (output: unknown) => unknown,
): string | null {
  const { pause } = played
  if (pause && broken.has(pause.reason)) return `it is paused (${pause.reason}): ${pause.error?.message}`
  // A refused step fails for good, which changes the end; it may also keep another step from failing that fails undisturbed.
  if (played === calm || strike?.fault === 'refuses' || excused(played, calm)) return null
  const [was, is] = [endText(calm), endText(played)]
  if (was !== is) return `it ended with ${is}; undisturbed, with ${was}`
  if (isDeepStrictEqual(compare(played.output), compare(calm.output))) return null
  return `its output is ${text(played.output)}; undisturbed, ${text(calm.output)}`
}

/** Pauses that show that the code is not deterministic. */
const broken: ReadonlySet<string> = new Set(['mismatch', 'error'])

/** Whether a step used up its attempts, or a time ran out, that did not in the undisturbed run. */
function excused(played: TrialRun, calm: TrialRun): boolean {
  return excuses(played) > excuses(calm)
}

function excuses({ histories }: TrialRun): number {
  const events = histories.flatMap((history) => history.events)
  return events.filter(
    (event) =>
      ((event.type === 'attemptFailed' || event.type === 'verified') && event.next === undefined) ||
      (event.type === 'closing' && event.cause === 'deadline') ||
      (event.type === 'stepSignalled' && event.name === 'timeout') ||
      (event.type === 'stopped' && event.error?.code === 'TASK_EXPIRED') ||
      event.type === 'waitTimedOut',
  ).length
}

function endText({ status, outcome, pause }: TrialRun): string {
  return status === 'paused' ? `a pause (${pause?.reason})` : outcome
}

function text(output: Json | undefined): string {
  return (JSON.stringify(output) ?? 'nothing').slice(0, 300)
}
