import type { RecordedStepSignal, Step } from '../step/step.ts'

/** A signal a step sends to itself. */
export interface SelfSignal extends RecordedStepSignal {
  at: number
}

export interface Suspension {
  /** When the step gets the signal `timeout`. */
  until: number | null
  selfSignals: SelfSignal[]
  /** Signals that came while it was running, oldest first. */
  queue: RecordedStepSignal[]
}

/** Whether the step was notified that its task stops; it may still decide how it ends. */
export function isNotified(step: Step): boolean {
  return step.received?.name === 'cancel'
}
