import type { ErrorRecord } from '../json.ts'
import { skipping } from '../step/skip.ts'
import type { Step } from '../step/step.ts'
import { emit, type Turn } from '../turn.ts'

/** Handles a planned step that has used up its attempts. */
export function rescuePlanned(turn: Turn, step: Step, error: ErrorRecord): void {
  const { state } = turn
  switch (step.policy.rescue) {
    case 'skip':
      return emit(
        turn,
        skipping(state, step.id, step.policy.substituted ? step.policy.substitute : undefined, 'rescue'),
      )
    case 'compensate':
      // The step is recorded as failed first, or settling would treat it as one that is still being verified.
      emit(turn, { type: 'plannedStepFailed', id: step.id, error })
      return emit(turn, { type: 'threw', error: stepFailed(step, error), rescue: 'compensate' })
    case 'pause':
      emit(turn, { type: 'plannedStepFailed', id: step.id, error })
      turn.alerts.push({
        task: state.id,
        workflow: state.workflow,
        cause: 'step',
        step: step.id,
        message: `step ${step.id} (${step.name}) needs an operator: ${error.message}`,
      })
      return
    case 'fail':
      return emit(turn, { type: 'plannedStepFailed', id: step.id, error })
  }
}

/** Called when only failed steps are left: the task pauses if one of them asks for an operator, otherwise it has failed. */
export function rescueFailed(turn: Turn): void {
  const { state } = turn
  const failures = [...(state.plan?.failedSteps ?? [])].flatMap((id) => state.steps.get(id) ?? [])
  const step = failures.find(({ policy }) => policy.rescue === 'pause')
  if (step?.error) return emit(turn, { type: 'paused', reason: 'step', step: step.id, error: step.error })
  const [failed] = failures
  if (failed?.error) emit(turn, { type: 'threw', error: stepFailed(failed, failed.error), rescue: 'fail' })
}

function stepFailed(step: Step, cause: ErrorRecord): ErrorRecord {
  const { id, name, attempts, policy } = step
  const action = step.action ?? name
  const tries = attempts.run === 1 ? '1 attempt' : `${attempts.run} attempts`
  return {
    name: 'StepFailedError',
    code: 'STEP_FAILED',
    message: `Step ${id} (${action}) failed after ${tries}: ${cause.message}`,
    cause,
    details: { stepId: id, action, attempts: attempts.run, rescue: policy.rescue },
  }
}
