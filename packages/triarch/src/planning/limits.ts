import { DEFAULT_PAYLOAD_LIMIT } from '../value/payload.ts'

/** Bounds of one plan. */
export interface PlanLimits {
  /** Bytes of JSON of one input or output. */
  payload: number
  /** Largest number of steps of a plan, including joins and finalizers. */
  steps: number
  /** Largest size of all inputs together, in bytes of JSON. */
  bytes: number
}

export const DEFAULT_PLAN_LIMITS: PlanLimits = {
  payload: DEFAULT_PAYLOAD_LIMIT,
  steps: 20_000,
  bytes: 16 * 1024 * 1024,
}
