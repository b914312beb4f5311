import type { Plan } from './plan.ts'

export type PlanFact =
  /** The plan is being made; nothing of it is durable before `planned`. */
  { type: 'planning' } | { type: 'planned'; plan: Plan }
