import type { FilterTerm, FilterTest } from '../filter/filter.ts'
import type { ErrorRecord } from '../kernel/json.ts'
import type { Pause } from '../kernel/task/pause.ts'
import { objectOf } from '../store/legible.ts'
import type { TaskRow } from '../store/port.ts'

/** Whether the error data in the row satisfies all terms. Data that cannot be read satisfies none. */
export function fitsTrouble(row: Pick<TaskRow, 'error' | 'pause'>, terms: readonly FilterTerm[]): boolean {
  if (terms.length === 0) return true
  const pause = objectOf<Pause>(row.pause)
  const errors = chainOf(objectOf<ErrorRecord>(row.error) ?? pause?.error)
  return terms.every((term) => holds(term, pause, errors) !== (term.not ?? false))
}

function holds({ field, test }: FilterTerm, pause: Pause | null, errors: readonly ErrorRecord[]): boolean {
  if (test.type === 'contains') {
    const wanted = test.text.toLowerCase()
    return errors.some(({ message }) => String(message).toLowerCase().includes(wanted))
  }
  switch (field) {
    case 'cause':
      return test.type === 'any' ? pause !== null : isOne(test, pause?.reason)
    case 'step':
      return namesOf(pause, errors).some((name) => isOne(test, name))
    default:
      return test.type === 'any' ? errors.length > 0 : errors.some(({ code }) => isOne(test, code))
  }
}

function isOne(test: FilterTest, value: unknown): boolean {
  if (test.type !== 'is' || typeof value !== 'string') return false
  return test.values.some(({ text, prefix }) => (prefix ? value.startsWith(text) : value === text))
}

/** The error and its chain of causes; records keep five. */
function chainOf(error: ErrorRecord | undefined): ErrorRecord[] {
  const chain: ErrorRecord[] = []
  for (let one = error; typeof one === 'object' && one !== null && chain.length < 10; one = one.cause) chain.push(one)
  return chain
}

/**
 * The names by which a step can be found: its name, its action with and without the agent; of the step that caused the pause, and of failed
 * ones.
 */
function namesOf(pause: Pause | null, errors: readonly ErrorRecord[]): string[] {
  const failed = errors.flatMap(({ code, details }) => {
    const { action } = (details ?? {}) as { action?: unknown }
    return code === 'STEP_FAILED' && typeof action === 'string' ? [action] : []
  })
  const names = [...failed, ...(pause?.step ? [pause.step.name, pause.step.action ?? []].flat() : [])]
  return names.flatMap((name) => [name, name.slice(name.lastIndexOf('.') + 1)])
}
