import type { Migration } from 'triarch/store'
import { textOf } from './text.ts'

/** Each migration is a folder of SQL files by subject, run in this order; `triarch.` in them stands for the user's schema. */
const folders: readonly [folder: string, files: readonly string[]][] = [
  // biome-ignore format: by subject
  ['0001', [
    'tables', 'call', 'inbox', 'submit', 'commit', 'claim', 'quarantine', 'share', 'work', 'reply', 'lock', 'effect', 'node', 'sweep', 'prune',
    'schedule', 'log', 'breaker', 'setting', 'cache', 'audit', 'alert', 'key', 'probe', 'secret', 'statistics',
  ]],
]

/**
 * The migrations, in the order of their names. Once released, a migration is never changed, only followed by others.
 * Each only expands the schema: code without it can use the store beside code that has it, also after a downgrade
 * (docs/decisions/0046-expand-and-contract.md).
 */
export const migrations: readonly Migration[] = folders.map(([name, files]) => ({
  name,
  sql: files.map((file) => textOf(`${name}/${file}.sql`)).join('\n'),
}))
