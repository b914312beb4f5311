import type { TaskState } from '../state.ts'
import { luggageOf } from '../step/carry.ts'
import { emit, type Turn } from '../turn.ts'
import type { TaskFact } from './event.ts'

type Continued = Extract<TaskFact, { type: 'continuedAsNew' }>

/** Begins the next run. It takes over the effects of earlier runs that are undone if the task is. */
export function continueAsNew(turn: Turn, event: Omit<Continued, 'type'>): void {
  const { input, nextId, pendingSignals, locksHeld, secretTexts: given = [], ...rest } = event
  const begins = { input, nextId, pendingSignals, ...(locksHeld && { locksHeld }), ...known(turn.state), ...rest }
  const { carried, left } = luggageOf(turn.state)
  const { secrets, metadata } = turn.state
  const own = secrets?.texts.within([input, pendingSignals, metadata, carried]) ?? []
  const secretTexts = [...new Set([...given, ...own])]
  const told = { ...(left > 0 && { left }), ...(secretTexts.length > 0 && { secretTexts }) }
  emit(turn, { type: 'continuedAsNew', ...begins, ...told })
  for (const unit of carried) emit(turn, unit)
  turn.reload = true
}

/** What the next run knows of the ones before. */
function known({
  requests,
  tokenRequests,
  digests,
  adopted,
  parent,
  completeBy,
  stops,
}: TaskState): Partial<Continued> {
  return {
    ...(requests.length > 0 && { requests }),
    ...(tokenRequests.length > 0 && { tokenRequests }),
    ...(Object.keys(digests).length > 0 && { digests }),
    ...(adopted && parent && { parent, completeBy }),
    ...(stops > 0 && { stops }),
  }
}
