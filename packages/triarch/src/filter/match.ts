import type { FilterTerm, FilterTest } from './filter.ts'

/** A task's values by field name. A field without a value is null or absent. */
export interface Subject {
  /** Texts, numbers and booleans; instants in ms since the epoch. Spans are computed from `submitted` and `updated`. */
  readonly fields: Readonly<Record<string, string | number | boolean | null | undefined>>
  /** The tags of its submission. */
  readonly tags: Readonly<Record<string, string>>
}

const TAG = 'tag.'
/** Fields that are spans until now, with the instants from which they are counted. */
const spans: Readonly<Record<string, string>> = { age: 'submitted', idle: 'updated' }

/**
 * Whether the term holds for the task, by the same rules as in the stores: no test holds for a field without a value. `now`: by the store's
 * clock.
 */
export function holds({ field, not, test }: FilterTerm, subject: Subject, now: number): boolean {
  return passes(saidOf(field, subject, now), test) !== (not ?? false)
}

function saidOf(field: string, { fields, tags }: Subject, now: number): string | number | boolean | null | undefined {
  if (field.startsWith(TAG)) {
    const name = field.slice(TAG.length)
    return Object.hasOwn(tags, name) ? tags[name] : null
  }
  const since = spans[field]
  if (since === undefined) return fields[field]
  const at = fields[since]
  return typeof at === 'number' ? now - at : null
}

function passes(value: string | number | boolean | null | undefined, test: FilterTest): boolean {
  if (value === null || value === undefined) return false
  switch (test.type) {
    case 'any':
      return true
    case 'is': {
      const said = String(value)
      return test.values.some(({ text, prefix }) => (prefix ? said.startsWith(text) : said === text))
    }
    case 'range':
      return Number(value) >= (test.from ?? -Infinity) && Number(value) <= (test.to ?? Infinity)
    case 'contains':
      return String(value).toLowerCase().includes(test.text.toLowerCase())
  }
}
