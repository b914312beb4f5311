import type { Filter, FilterTerm } from '../filter/filter.ts'
import { holds, type Subject } from '../filter/match.ts'
import type { TaskRow } from '../store/port.ts'
import { explainedFields } from './condition.ts'
import { fitsTrouble } from './trouble.ts'

/** Whether the row matches the filter, as in a list by it. `now`: by the store's clock. */
export function fits(row: TaskRow, { terms }: Filter, now: number): boolean {
  const subject = subjectOf(row)
  const texts = terms.filter(({ field }) => explainedFields.has(field))
  return (
    terms.every((term) => (explainedFields.has(term.field) ? mayBe(term, row) : holds(term, subject, now))) &&
    fitsTrouble(row, texts)
  )
}

/** Only such rows can have an error, so only these are decoded for it. */
function mayBe({ field, not }: FilterTerm, { status, result }: TaskRow): boolean {
  if (not) return true
  if (field === 'cause') return status === 'paused'
  return status === 'paused' || (result !== 'pending' && result !== 'success')
}

function subjectOf(row: TaskRow): Subject {
  const { id, workflow, version, status, result, parent, lockedBy, priority, failures, ready, quarantined, tags } = row
  return {
    fields: {
      ...{
        id,
        workflow,
        version,
        status,
        outcome: result,
        parent,
        node: lockedBy,
        priority,
        failures,
        ready,
        quarantined,
      },
      ...{ submitted: row.submittedAt, updated: row.updatedAt },
    },
    tags,
  }
}
