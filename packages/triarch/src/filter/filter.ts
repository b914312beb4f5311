/**
 * Which tasks, and in which order: what a filter says, as data. All of its terms hold.
 * @example const filter: Filter = parseFilter('status:paused -parent:* sort:oldest')
 */
export interface Filter {
  /** What holds for each of its tasks. None: all tasks. */
  terms: readonly FilterTerm[]
  /** By submission; absent: newest first. */
  order?: 'newest' | 'oldest'
}

/**
 * What is asked of one field.
 * @example const term: FilterTerm = { field: 'tag.customer', test: { type: 'is', values: [{ text: '42' }] } }
 */
export interface FilterTerm {
  /** The name of the field; of a tag, `tag.` and its name. */
  field: string
  /** It holds for the tasks for which the test does not. */
  not?: true
  /** What must be so. */
  test: FilterTest
}

/**
 * The field has a value; is one of these; lies between these (both included; instants in ms since the epoch, spans in ms); or has these
 * words in it, in capitals or not.
 * @example const test: FilterTest = { type: 'range', from: 7_200_001 }
 */
export type FilterTest =
  | { type: 'any' }
  | { type: 'is'; values: readonly FilterText[] }
  | { type: 'range'; from?: number; to?: number }
  | { type: 'contains'; text: string }

/**
 * A text, or what a text begins with.
 * @example const value: FilterText = { text: 'fulfil-', prefix: true }
 */
export interface FilterText {
  /** The text, as it is. */
  text: string
  /** More may come behind it. */
  prefix?: true
}
