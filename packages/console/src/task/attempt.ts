import type { Api } from '../api/client.ts'
import type { HistoryRecord } from './history.tsx'

/** One try of a step, of its undo, or of asking whether it took effect. */
export interface Attempt {
  key: string
  operation: 'run' | 'undo' | 'verify'
  attempt: number
  /** Undefined: it died unseen, or nothing was tried. */
  startedAt: string | undefined
  endedAt: string
  node: string | undefined
  state: 'success' | 'error' | 'suspended' | 'compensated' | 'unknown' | 'cached' | 'operator'
  error: Api['Error'] | undefined
  /** When the next comes. */
  next: string | undefined
}

type AttemptFacts = Partial<Omit<Attempt, 'key' | 'state' | 'next'>> & {
  type: string
  id?: number
  by?: string
  lost?: string
  cached?: object
  unknown?: true
  answer?: string
  next?: { at: string }
}

/** Of one step, the first one first; null: of all steps. */
export function attemptsOf(records: readonly HistoryRecord[], step: number | null): (Attempt & { step: number })[] {
  return records.flatMap(({ seq, at, events }) =>
    (events as AttemptFacts[]).flatMap((event, index) => {
      const { id } = event
      if (id === undefined || (step !== null && id !== step)) return []
      const state = stateOf(event)
      if (state === null) return []
      const operation = event.operation ?? (event.type === 'undone' ? 'undo' : event.by === 'verify' ? 'verify' : 'run')
      return [
        {
          ...{ key: `${seq}.${index}`, step: id, operation, state, attempt: event.attempt ?? 0 },
          ...{ startedAt: event.startedAt, endedAt: event.endedAt ?? at, node: event.node, error: event.error },
          next: event.next?.at,
        },
      ]
    }),
  )
}

function stateOf({ type, by, cached, unknown }: AttemptFacts): Attempt['state'] | null {
  switch (type) {
    case 'stepCompleted':
      return by === 'operator' ? 'operator' : cached ? 'cached' : 'success'
    case 'attemptFailed':
      return unknown ? 'unknown' : 'error'
    case 'stepSuspended':
      return 'suspended'
    case 'undone':
      return by === 'operator' ? 'operator' : 'compensated'
    default:
      return null
  }
}
