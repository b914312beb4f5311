import { textOf } from './text.ts'

/** A step from one schema to the next; done once. */
export interface Migration {
  name: string
  sql: string
}

/** Each migration is a folder of SQL files, run in this order; `triarch.` in them stands for the user's schema. */
const folders: readonly [folder: string, files: readonly string[]][] = [
  ['0001', ['tables', 'ledger', 'deliver', 'submit', 'work', 'commit', 'claim', 'sweep']],
  ['0002', ['effects']],
  ['0003', ['gate']],
  ['0004', ['prune']],
  ['0005', ['node', 'schedule']],
  ['0006', ['gate']],
  ['0007', ['quarantine', 'claim', 'prune']],
  ['0008', ['origin']],
  ['0009', ['pulse']],
  ['0010', ['post']],
  ['0011', ['beat', 'commit', 'ledger', 'works']],
  ['0012', ['deliver', 'look', 'sweep', 'beat']],
]

/** In order of their names. Only ever append, and only expand: nodes of the version before go on beside us. */
export const migrations: readonly Migration[] = folders.map(([name, files]) => ({
  name,
  sql: files.map((file) => textOf(`${name}/${file}.sql`)).join('\n'),
}))

/**
 * What the table `schema_version` says: the oldest code that may still work on this store, by the number of its last
 * migration. One that took away or changed what such code needs would raise it.
 */
export const FORMAT = 5
