import type { TaskEvent } from '../event.ts'
import type { ErrorRecord } from '../json.ts'
import type { Message, Outcome, Reply } from '../message.ts'
import type { TaskState } from '../state.ts'
import { backoff, type RetryPlan } from './policy.ts'
import type { Loss, Step } from './step.ts'

type Failed = Extract<Outcome, { kind: 'failed' }>

/** How often in a row an attempt may be lost with its process before an operator is asked. */
export const MOST_LOSSES = 100

/** After this many losses in a row a step is suspected of killing its process, and is only run under probation. */
const SUSPICIOUS = 2

/** What each kind of loss adds to `doubts` and `strikes`. A silent process may have died, or was only starved or cut off for a moment. */
const DOUBT: Readonly<Record<Exclude<Loss, 'stop'>, number>> = { death: 1, silence: 0.5, alive: 0 }

/** Strikes after which a step is held: three known deaths soon after the step began under probation, or twice as many silences. */
export const MAX_PROBATION_LOSSES = 3

/**
 * How long a suspect step is limited to probation (ms); after that it runs as any other, because processes here may not live long enough
 * for probation.
 */
const PATIENCE = 60_000

/**
 * The wait after a loss: none after the first few, because the service is not to blame. A suspect waits longer; it needs a process that has
 * lived for a while anyway (`flow/probation.ts`).
 */
export function lossWait({ losses, doubts }: Pick<Step, 'losses' | 'doubts'>, draw: number): number {
  if (doubts >= SUSPICIOUS) return backoff(trialPlan, doubts - SUSPICIOUS + 1, draw)
  const few = 3
  return losses <= few ? 0 : backoff(lossPlan, losses - few, draw)
}

const lossPlan: RetryPlan = { attempts: MOST_LOSSES, initial: 200, factor: 2, max: 60_000, jitter: true }

const trialPlan: RetryPlan = { attempts: MOST_LOSSES, initial: 1_000, factor: 1.5, max: 60_000, jitter: true }

/** Whether the step is suspected of killing its process: its attempts go through the work queue and run under probation. */
export function isSuspect({ doubts }: Pick<Step, 'doubts'>): boolean {
  return doubts >= SUSPICIOUS
}

/**
 * Whether the message completes a step that was lost repeatedly. Its processes may have died of what follows it, and such a death must not
 * undo the completion.
 */
export function isRelief(state: TaskState, message: Message): boolean {
  if (message.type !== 'reply' || message.operation === 'undo' || message.outcome.kind !== 'done') return false
  return (state.steps.get(message.step)?.losses ?? 0) >= SUSPICIOUS
}

/** Whether the step's attempt must run under probation: where no other suspect runs, in a process that has lived for a while. */
export function onTrial(step: Pick<Step, 'doubts' | 'patientUntil'>, at: number): boolean {
  return isSuspect(step) && at < step.patientUntil
}

type LossRecord = Pick<Extract<TaskEvent, { type: 'attemptFailed' }>, 'endedAt' | 'next'>

/** The fold of a loss. It is a strike only if the process ran the attempt under probation and died soon after it began. */
export function bear(step: Step, { endedAt, next }: LossRecord, lost: Exclude<Loss, 'stop'>): void {
  if (step.begun && !step.lived) step.strikes += DOUBT[lost]
  step.losses++
  step.doubts += DOUBT[lost]
  step.patientUntil = (next?.at ?? endedAt) + PATIENCE
}

/** Resets the counts of losses after any other end of an attempt, because its process lived. */
export function forgive(step: Step): void {
  step.losses = 0
  clearProbation(step)
}

/** Clears the suspicion after a process ran the attempt under probation and survived: the step does not kill its process at once. */
export function clearProbation(step: Step): void {
  step.doubts = 0
  step.strikes = 0
}

/** Whether the step kills its process, or probably does, so that running it again would endanger the attempts beside it. */
export function isDeadly({ losses, strikes }: Pick<Step, 'losses' | 'strikes'>): boolean {
  return strikes >= MAX_PROBATION_LOSSES || losses >= MOST_LOSSES
}

/** A copy of the step with this loss counted. */
export function bereft(step: Step, loss: LossRecord, lost: Exclude<Loss, 'stop'>): Step {
  const copy = { ...step }
  bear(copy, loss, lost)
  return copy
}

/**
 * How the attempt was lost; undefined: it was not. A live agent reports a timeout itself. If another node reports it, the agent's node is
 * dead, frozen or cut off, whichever bound shows that first.
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

/** The error with which the step is held. `losses`: in a row, the last one included. */
export function keepsDying({ id, name }: Step, losses: number, cause: ErrorRecord): ErrorRecord {
  return {
    name: 'TriarchError',
    code: 'STEP_KEEPS_DYING',
    message: `step ${id} (${name}) was lost with its process ${losses} times in a row: ${cause.message}`,
    cause,
  }
}
