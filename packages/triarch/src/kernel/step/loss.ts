import type { TaskEvent } from '../event.ts'
import type { ErrorRecord } from '../json.ts'
import type { Message, Outcome, Reply } from '../message.ts'
import type { TaskState } from '../state.ts'
import { backoff, type RetryPlan } from './policy.ts'
import type { Loss, Step } from './step.ts'

type Failed = Extract<Outcome, { kind: 'failed' }>

/** How often in a row an attempt may be lost with its process before an operator is asked. */
export const MOST_LOSSES = 100

/** Lost so often in a row, a step may be what kills its process: from then on it is tried by itself. */
const SUSPICIOUS = 2

/** What counts towards that, and as a strike. A process that was not heard of in time may have died, or been starved or cut off for a moment. */
const DOUBT: Readonly<Record<Exclude<Loss, 'stop'>, number>> = { death: 1, silence: 0.5, alive: 0 }

/** Processes that died soon after a step began that they tried by itself: three known deaths, or twice as many silences. */
export const STRIKES = 3

/** For how long a suspect may only be tried by itself; then it runs as any other (ms): processes may not live long enough here. */
const PATIENCE = 60_000

/**
 * The wait after a loss: none after the first few, for nothing that the service did is to blame. A suspect waits for a process
 * that has lived for a while anyway (`flow/probation.ts`).
 */
export function lossWait({ losses, doubts }: Pick<Step, 'losses' | 'doubts'>, draw: number): number {
  if (doubts >= SUSPICIOUS) return backoff(trialPlan, doubts - SUSPICIOUS + 1, draw)
  const few = 3
  return losses <= few ? 0 : backoff(lossPlan, losses - few, draw)
}

const lossPlan: RetryPlan = { attempts: MOST_LOSSES, initial: 200, factor: 2, max: 60_000, jitter: true }

const trialPlan: RetryPlan = { attempts: MOST_LOSSES, initial: 1_000, factor: 1.5, max: 60_000, jitter: true }

/** It goes through the work queue, and is tried by itself. */
export function isSuspect({ doubts }: Pick<Step, 'doubts'>): boolean {
  return doubts >= SUSPICIOUS
}

/** It was lost and now has an answer: what its processes died of may be what comes after that, and must not undo it. */
export function isRelief(state: TaskState, message: Message): boolean {
  if (message.type !== 'reply' || message.operation === 'undo' || message.outcome.kind !== 'done') return false
  return (state.steps.get(message.step)?.losses ?? 0) >= SUSPICIOUS
}

/** Its attempt is to begin where nothing else suspect runs, in a process that has lived for a while. */
export function onTrial(step: Pick<Step, 'doubts' | 'patientUntil'>, at: number): boolean {
  return isSuspect(step) && at < step.patientUntil
}

type LossRecord = Pick<Extract<TaskEvent, { type: 'attemptFailed' }>, 'endedAt' | 'next'>

/** The fold of a loss: it counts against the step only if its process had tried it by itself and died soon after. */
export function bear(step: Step, { endedAt, next }: LossRecord, lost: Exclude<Loss, 'stop'>): void {
  if (step.begun && !step.lived) step.strikes += DOUBT[lost]
  step.losses++
  step.doubts += DOUBT[lost]
  step.patientUntil = (next?.at ?? endedAt) + PATIENCE
}

/** Something else became of it: its process lived. */
export function forgive(step: Step): void {
  step.losses = 0
  acquit(step)
}

/** A process tried it by itself and lives on: it is not what kills at once. */
export function acquit(step: Step): void {
  step.doubts = 0
  step.strikes = 0
}

/** It is what kills its process, or may be, and running it on would hurt what runs beside it. */
export function isDeadly({ losses, strikes }: Pick<Step, 'losses' | 'strikes'>): boolean {
  return strikes >= STRIKES || losses >= MOST_LOSSES
}

/** As it will be once this attempt is lost as well. */
export function bereft(step: Step, loss: LossRecord, lost: Exclude<Loss, 'stop'>): Step {
  const copy = { ...step }
  bear(copy, loss, lost)
  return copy
}

/**
 * An agent that lives says itself that an attempt timed out. Where another speaks for it, its node is dead, frozen or cut
 * off, whichever of its bounds shows that first.
 */
export function lossOf({ startedAt, node }: Reply, { lost, unknown, error }: Failed): Loss | undefined {
  if (lost) return lost
  if (startedAt !== null || node === null || !unknown) return undefined
  return error.code === undefined ? undefined : byCode.get(error.code)
}

const byCode: ReadonlyMap<string, Loss> = new Map([
  ['STEP_LOST', 'death'],
  ['STEP_TIMEOUT', 'silence'],
  ['HEARTBEAT_MISSED', 'silence'],
])

/** Why it is held. `losses`: in a row, the last one included. */
export function keepsDying({ id, name }: Step, losses: number, cause: ErrorRecord): ErrorRecord {
  return {
    name: 'TriarchError',
    code: 'STEP_KEEPS_DYING',
    message: `step ${id} (${name}) was lost with its process ${losses} times in a row: ${cause.message}`,
    cause,
  }
}
