/**
 * A filter as data: which tasks, and in which order. All terms must hold.
 * @example const filter: Filter = parseFilter('status:paused -parent:* sort:oldest')
 */
export interface Filter {
  /** The conditions on each task; none: all tasks. */
  terms: readonly FilterTerm[]
  /** The order, by time of submission; absent: newest first. */
  order?: 'newest' | 'oldest'
}

/**
 * A condition on one field.
 * @example const term: FilterTerm = { field: 'tag.customer', test: { type: 'is', values: [{ text: '42' }] } }
 */
export interface FilterTerm {
  /** The name of the field; for a tag, `tag.` and its name. */
  field: string
  /** Inverts the test. */
  not?: true
  /** The test of the field's value. */
  test: FilterTest
}

/**
 * The field has a value; is one of these values; lies between these (both included; instants in ms since the epoch, spans in ms); or
 * contains these words, ignoring case.
 * @example const test: FilterTest = { type: 'range', from: 7_200_001 }
 */
export type FilterTest =
  | { type: 'any' }
  | { type: 'is'; values: readonly FilterText[] }
  | { type: 'range'; from?: number; to?: number }
  | { type: 'contains'; text: string }

/**
 * A text, or a prefix.
 * @example const value: FilterText = { text: 'fulfil-', prefix: true }
 */
export interface FilterText {
  /** The text. */
  text: string
  /** The value may continue after the text. */
  prefix?: true
}
