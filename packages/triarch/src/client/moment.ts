import type { Pace } from '../environment/leisure.ts'
import { owned } from '../environment/owner.ts'
import { lastOf, runOf } from '../scheduler/past.ts'
import { momentOf, pastOf, type TaskMoment } from '../view/moment.ts'
import { present } from '../view/steps.ts'
import type { Connection } from './connection.ts'

/** Events that are folded without waiting for others. */
const SHORT = 500

/** The task as of a record; of the last one, unless told which. Throws UNKNOWN_TASK, UNKNOWN_RECORD, HISTORY_CORRUPT. */
export async function readMoment(connection: Connection, id: string, seq?: number): Promise<TaskMoment> {
  const row = await connection.row(id)
  const { store, registry, leisure, owner } = connection
  const reading = await connection.readings.of(row)
  const at = seq ?? (reading.broken ? await lastOf(store, id, 1) : reading.last)
  const place = reading.broken || at < reading.base ? null : reading.upTo(at)
  const { events, redaction, base: from, last } = reading
  const look = async (pace: Pace) => {
    const past = place
      ? { events, redaction, ...place, from, last }
      : await pace.through(pastOf(at, await runOf(store, id, at)))
    return pace.through(momentOf(id, at, past))
  }
  // What is short waits for nobody.
  const moment = await (place && place.size <= SHORT ? look(leisure.pace()) : leisure.run(look))
  for (const step of moment.steps) await owned(owner, () => present(step, registry))
  return moment
}
