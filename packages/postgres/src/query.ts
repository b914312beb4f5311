export type Row = readonly (string | number | boolean | null)[]

export interface Question {
  /** A statement with a name is prepared under it, once a connection; one without is parsed each time. */
  name?: string
  /** A text without name and values may be several statements. */
  text: string
  values?: unknown[]
}

/** Reads a column by the OID of its type: whole numbers are numbers, truth is true, all else is text. */
export function readerOf(type: number): (text: string) => string | number | boolean {
  return type === 20 || type === 23 ? Number : type === 16 ? (text) => text === 't' : (text) => text
}
