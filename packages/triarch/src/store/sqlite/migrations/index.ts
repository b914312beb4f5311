import type { Migration } from '../../migration.ts'
import { line } from './0001/line.ts'
import { lockTables } from './0001/locks.ts'
import { nodes } from './0001/nodes.ts'
import { operations } from './0001/operations.ts'
import { policies } from './0001/policies.ts'
import { tasks } from './0001/tasks.ts'
import { work } from './0001/work.ts'

/**
 * The migrations, in the order of their names. Once released, a migration is never changed, only followed by others.
 * Each only expands the schema: code without it can use the store beside code that has it, also after a downgrade
 * (docs/decisions/0046-expand-and-contract.md).
 */
export const migrations: readonly Migration[] = [
  { name: '0001', sql: [tasks, line, work, lockTables, nodes, policies, operations].join('\n') },
]
