import { type Overlap, occurrenceId, type ScheduleDefinition } from '../definition/schedule.ts'
import type { IfHeld } from '../kernel/gate.ts'
import type { NewTask } from '../store/port.ts'

const modes: Readonly<Record<Exclude<Overlap, 'allow'>, IfHeld>> = {
  skip: 'reject',
  queue: 'queue',
  'cancel-previous': 'replace',
}

/** The task of one occurrence of a schedule. */
export function occurrenceTask(
  name: string,
  definition: ScheduleDefinition,
  occurrence: number,
  { now, overlap }: { now: number; overlap: Overlap },
): NewTask {
  const { workflow, version, input, priority, tags, completeWithin } = definition
  const own = overlap === 'allow' ? [] : [{ key: `schedule:${name}`, ifHeld: modes[overlap] }]
  const exclusive = [...own, ...definition.exclusive]
  const completeBy = completeWithin === null ? null : now + completeWithin
  const submitted = {
    type: 'submitted',
    ...{ workflow, version, input, tags },
    ...(completeBy !== null && { completeBy }),
    ...(priority !== 0 && { priority }),
    ...(exclusive.length > 0 && { exclusive }),
  }
  const locks = exclusive.map(({ key, ifHeld }, index) => ({ step: -index, name: key, ifHeld }))
  return {
    id: occurrenceId(name, occurrence),
    ...{ workflow, version, priority, tags, status: 'pending', at: now, startAt: null, parent: null },
    deadline: completeBy,
    events: JSON.stringify(locks.length > 0 ? [submitted, { type: 'keysRequested' }] : [submitted]),
    ...(locks.length > 0 && { gates: { locks, after: [] } }),
  }
}
