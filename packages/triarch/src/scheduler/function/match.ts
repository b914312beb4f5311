import { TriarchError } from '../../error/error.ts'
import { placeOf } from '../../error/place.ts'
import type { Decision } from '../../kernel/event.ts'

/** Whether the code asks for what the history recorded: the same kind of decision, id and name. Inputs are not compared. */
export function matches(recorded: Decision, asked: Decision): boolean {
  if (recorded.type !== asked.type) return false
  if ('id' in recorded && 'id' in asked && recorded.id !== asked.id) return false
  switch (recorded.type) {
    case 'stepRequested':
      return asked.type === recorded.type && recorded.action === asked.action && recorded.name === asked.name
    case 'waitStarted':
      return asked.type === recorded.type && recorded.name === asked.name
    case 'childStarted':
      return asked.type === recorded.type && recorded.workflow === asked.workflow && recorded.mode === asked.mode
    case 'lockRequested':
      return asked.type === recorded.type && recorded.name === asked.name
    case 'lockReleased':
      return asked.type === recorded.type && recorded.lock === asked.lock
    case 'undoRegistered':
      return asked.type === recorded.type && recorded.name === asked.name
    default:
      return true
  }
}

/** Describes a decision for people who have to find it in their code. */
export function describe(decision: Decision): string {
  switch (decision.type) {
    case 'stepRequested':
      return decision.action === null || decision.action.endsWith(`.${decision.name}`)
        ? `step ${decision.action ?? `"${decision.name}"`}`
        : `step ${decision.action} ("${decision.name}")`
    case 'timerStarted':
      return 'a sleep'
    case 'waitStarted':
      return `a wait for signal "${decision.name}"`
    case 'childStarted':
      return `child ${decision.workflow} (${decision.mode})`
    case 'lockRequested':
      return `lock "${decision.name}"`
    case 'lockReleased':
      return `the release of lock ${decision.lock}`
    case 'waitCancelled':
      return `the end of wait ${decision.id}`
    case 'undoRegistered':
      return `compensation "${decision.name}"`
    case 'patched':
      return `patch "${decision.patch}"`
    case 'progressed':
      return 'progress'
    case 'returned':
      return 'the return'
    case 'threw':
      return `the error "${decision.error.message}"`
    case 'continueAsNewRequested':
      return 'continuing as new'
  }
}

export function isMarker(decision: Decision): boolean {
  return decision.type === 'patched' || decision.type === 'progressed'
}

/** Whether the decision was made by the code, which makes it again on replay. */
export function isCode(decision: Decision): boolean {
  return !isMarker(decision) && decision.type !== 'waitCancelled'
}

/** The error for a misuse. `at`: an error whose stack shows the place in the user's code. */
export function misuse(what: string, at: unknown = new Error('the place of the call')): TriarchError {
  const place = placeOf(at)
  const where = place === null ? '' : ` at ${place}`
  return new TriarchError(
    'WORKFLOW_MISUSE',
    `the workflow ${what}${where} after awaiting something that is not durable: put that into a step (task.run), or use task.sleep for a timer`,
    place === null ? {} : { details: { place } },
  )
}

export function mismatch(recorded: Decision | undefined, asked: Decision | undefined): TriarchError {
  const [was, is] = [recorded ? describe(recorded) : 'nothing', asked ? describe(asked) : 'nothing']
  const found = recorded ?? asked
  const id = found && 'id' in found ? found.id : 0
  return new TriarchError('HISTORY_MISMATCH', `at decision ${id} the history has ${was}, the code asks for ${is}`, {
    details: { decision: id, recorded: was, asked: is },
  })
}
