import { line } from './0001/line.ts'
import { locks } from './0001/locks.ts'
import { nodes } from './0001/nodes.ts'
import { operations } from './0001/operations.ts'
import { policies } from './0001/policies.ts'
import { tasks } from './0001/tasks.ts'
import { work } from './0001/work.ts'

/** A step from one schema to the next. It is done once, in a transaction, and recorded by its name. */
export interface Migration {
  /** Its number, of four digits. */
  name: string
  /** Tables, indexes, triggers and views are named `triarch_…`: users may have tables of their own in the file (`submitIn`). */
  sql: string
  /**
   * It takes away what code without it needs: such code is refused from then on (STORE_SCHEMA_NEWER). Only for what no code of the
   * release before needs any more.
   */
  contracts?: true
}

/**
 * In the order of their names. Once released, a migration is never changed, only followed by others. Each expands: code without it
 * goes on with the store beside code that has it, and may come back (docs/decisions/0046-expand-and-contract.md).
 */
export const migrations: readonly Migration[] = [
  { name: '0001', sql: [tasks, line, work, locks, nodes, policies, operations].join('\n') },
]
