/**
 * A value that survives a round trip through JSON unchanged. Everything the history holds is made of these.
 * @example const value: Json = { id: 'o-1', tags: ['new'], amount: 10, note: null }
 */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/**
 * An error as the history records it: plain data, its causes nested, so that it can be read after the process is gone.
 * @example
 * const { error } = await task.status()
 * console.log(error?.code, error?.message, error?.cause?.message)
 */
export interface ErrorRecord {
  /** The class of the error, such as `TypeError`. */
  name: string
  /** For people, without what is marked as secret. */
  message: string
  /** Stable code of the error catalogue, or the code the thrown error carried. */
  code?: string
  /** The stack trace. */
  stack?: string
  /** The error's `cause`. */
  cause?: ErrorRecord
  /** Further properties of the error (JSON only). */
  details?: Json
}
