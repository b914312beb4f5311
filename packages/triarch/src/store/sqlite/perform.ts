import type { Database } from './database.ts'
import * as all from './operations.ts'
import type { OperationName } from './runner.ts'

type Operation = (database: Database, now: number, ...args: readonly unknown[]) => unknown

// The compiler cannot see that the arguments of a name fit the function of the same name; `Runner.run` does.
const operations = all as unknown as Record<OperationName, Operation>

export function perform(database: Database, name: OperationName, now: number, args: readonly unknown[]): unknown {
  return operations[name](database, now, ...args)
}
