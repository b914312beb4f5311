import { type Overlap, occurrenceId, type ScheduleDefinition } from '../definition/schedule.ts'
import type { IfHeld } from '../kernel/lock/lock.ts'
import { taskOf } from '../store/origin.ts'
import type { NewTask } from '../store/port.ts'

const modes: Readonly<Record<Exclude<Overlap, 'allow'>, IfHeld>> = {
  skip: 'reject',
  queue: 'queue',
  'cancel-previous': 'replace',
}

export function occurrenceTask(
  name: string,
  definition: ScheduleDefinition,
  occurrence: number,
  { now, overlap, id = occurrenceId(name, occurrence) }: { now: number; overlap: Overlap; id?: string },
): NewTask {
  const { workflow, version, input, priority, tags, metadata, completeWithin, hooks, secrets, share } = definition
  const own = overlap === 'allow' ? [] : [{ key: `schedule:${name}`, ifHeld: modes[overlap] }]
  const exclusive = [...own, ...definition.exclusive]
  return taskOf({
    ...{ id, at: now },
    order: {
      ...{ workflow, version, input, tags },
      ...(share && { share }),
      ...(metadata && { metadata }),
      ...(completeWithin !== null && { completeBy: now + completeWithin }),
      ...(priority !== 0 && { priority }),
      ...(exclusive.length > 0 && { exclusive }),
      ...(hooks && { hooks }),
      ...(secrets && { secrets }),
    },
  })
}
