import { TriarchError } from '../error/error.ts'
import type { DatedEvent } from '../kernel/rebuild.ts'
import type { HistoryRecord } from '../store/port.ts'

/** The events of the records: record 1 and any gapless run that follows. Throws HISTORY_CORRUPT. */
export function datedEvents(records: readonly HistoryRecord[]): DatedEvent[] {
  let last = 0
  return records.flatMap(({ seq, at, events }, index) => {
    if (index > 1 ? seq !== last + 1 : seq <= last)
      throw new TriarchError('HISTORY_CORRUPT', `record ${last + 1} is missing`)
    last = seq
    return parse(seq, events).map((event) => ({ at, event }))
  })
}

function parse(seq: number, events: string): DatedEvent['event'][] {
  try {
    return JSON.parse(events) as DatedEvent['event'][]
  } catch (cause) {
    throw new TriarchError('HISTORY_CORRUPT', `record ${seq} is unreadable`, { cause })
  }
}
