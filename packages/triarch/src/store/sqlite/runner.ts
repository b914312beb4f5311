import type { Database } from './database.ts'
import type * as operations from './operations.ts'

export type Operations = typeof operations
export type OperationName = keyof Operations

/** The arguments of an operation besides the database and the time. */
export type Arguments<Name extends OperationName> =
  Parameters<Operations[Name]> extends [Database, number, ...infer Rest] ? Rest : []

/** Runs the operations, in this thread or in one of their own. */
export interface Runner {
  open(): Promise<void>
  run<Name extends OperationName>(name: Name, ...args: Arguments<Name>): Promise<ReturnType<Operations[Name]>>
  close(): Promise<void>
  /** A caller got no answer in time. */
  unanswered?(): void
}
