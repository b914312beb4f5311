import type { Creation } from '../store/port.ts'
import type { TelemetryEvents } from './catalogue.ts'

/** The event for a task that was just created. `schedule`: the one that created it. */
export function submission(
  task: Creation,
  node: string | null,
  schedule: string | null = null,
): TelemetryEvents['task:submitted'] {
  const { id, workflow, version, at, startAt, parent } = task
  return { at, node, task: id, workflow, version, startAt, schedule, parent }
}
