import type { Step, StepSignal } from '../step/step.ts'

/** A signal a step sends to itself. */
export interface SelfSignal extends StepSignal {
  at: number
}

export interface Suspension {
  /** It is told `timeout` then. */
  until: number | null
  selfSignals: SelfSignal[]
  /** Signals that came while it was running, oldest first. */
  queue: StepSignal[]
}

/** It was told that its task stops, and may still say how it ends. */
export function isTold(step: Step): boolean {
  return step.received?.name === 'cancel'
}
