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
  ['0014', ['breaker']],
  ['0015', ['reply']],
  ['0016', ['share']],
  ['0017', ['log']],
  ['0018', ['setting']],
  ['0019', ['cache']],
  ['0020', ['seat']],
  ['0021', ['audit']],
  ['0022', ['statistics']],
  ['0023', ['alert']],
  ['0024', ['recount']],
  ['0025', ['fair']],
  ['0026', ['pool']],
  ['0027', ['key']],
  ['0028', ['portion']],
  ['0029', ['age']],
  ['0030', ['probe']],
  ['0031', ['submitted']],
  ['0032', ['place']],
  ['0033', ['ledger', 'submit', 'commit', 'claim', 'one']],
  ['0034', ['claim', 'work', 'reply', 'one']],
  ['0035', ['aloud']],
  ['0036', ['letters', 'reply']],
  ['0037', ['ahead']],
  ['0038', ['secret']],
]

/** In order of their names. Only ever append, and only expand: nodes of the version before go on beside us. */
export const migrations: readonly Migration[] = folders.map(([name, files]) => ({
  name,
  sql: files.map((file) => textOf(`${name}/${file}.sql`)).join('\n'),
}))

/** What the table `schema_version` says: the oldest code that may still work on this store, by the number of its last migration. */
export const OLDEST_CODE = { format1: 5, format2: 13 } as const
