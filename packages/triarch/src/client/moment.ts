import type { WorkShare } from '../environment/background-work.ts'
import { lastOf, readRun } from '../scheduler/past.ts'
import { momentOf, pastOf, type TaskMoment } from '../view/moment.ts'
import type { StepRange } from '../view/steps.ts'
import type { Connection } from './connection.ts'

/** Histories up to this many events are folded without waiting for other work. */
const SHORT = 500

/** The task as of a record, by default the last one. Throws UNKNOWN_TASK, UNKNOWN_RECORD, HISTORY_CORRUPT. */
export async function readMoment(
  connection: Connection,
  id: string,
  seq: number | undefined,
  { after = 0, limit }: StepRange,
): Promise<TaskMoment> {
  const row = await connection.row(id)
  const { store, leisure } = connection
  const reading = await connection.readings.of(row)
  const at = seq ?? (reading.broken ? await lastOf(store, id, 1) : reading.last)
  const place = reading.broken || at < reading.base ? null : reading.upTo(at)
  const { events, redaction, base: from, last } = reading
  const look = async (pace: WorkShare) => {
    const past = place
      ? { events, redaction, ...place, from, last }
      : await pace.through(pastOf(at, await readRun(store, id, at)))
    return { moment: await pace.through(momentOf(id, at, past)), redaction: past.redaction }
  }
  // A short history does not wait for long ones.
  const { moment, redaction: known } = await (place && place.size <= SHORT ? look(leisure.pace()) : leisure.run(look))
  const all = moment.steps.filter(({ id }) => id > after)
  const steps = await connection.presented(all, limit, known)
  const end = steps.at(-1)
  return { ...moment, steps, ...(end && steps.length < all.length && { next: end.id }) }
}
