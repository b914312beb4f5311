import { readFileSync } from 'node:fs'

/** Each migration is a folder of SQL files, run in this order; `triarch.` in them stands for the user's schema. */
const folders: readonly [folder: string, files: readonly string[]][] = [
  ['0001', ['tables', 'ledger', 'deliver', 'submit', 'work', 'commit', 'claim', 'sweep']],
  ['0002', ['effects']],
  ['0003', ['gate']],
  ['0004', ['prune']],
  ['0005', ['node', 'schedule']],
  ['0009', ['pulse']],
]

export const migrations: readonly string[] = folders.map(([folder, files]) =>
  files.map((file) => readFileSync(new URL(`./${folder}/${file}.sql`, import.meta.url), 'utf8')).join('\n'),
)
