import type { Folds } from '../fold.ts'
import { decided, moveTask } from '../state.ts'
import type { PlanFact } from './event.ts'
import { newPlanState } from './plan.ts'

export const planFolds: Folds<PlanFact> = {
  planning(state) {
    moveTask(state, 'planning')
  },
  planned(state, { plan }) {
    moveTask(state, 'planning')
    moveTask(state, 'planned')
    state.plan = newPlanState(plan)
    decided(state, plan.first + plan.steps.length - 1)
  },
}
