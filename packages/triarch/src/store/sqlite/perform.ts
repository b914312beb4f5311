import type { Database } from './database.ts'
import * as all from './operations.ts'
import type { OperationName } from './runner.ts'

type AnyOperation = (database: Database, now: number, ...args: readonly unknown[]) => unknown

// The compiler cannot see that the arguments of a name fit the function of the same name; `Runner.run` does.
const operations = all as unknown as Record<OperationName, AnyOperation>

export function perform(database: Database, name: OperationName, now: number, args: readonly unknown[]): unknown {
  return operations[name](database, now, ...args)
}
