// A process that keeps books in a SQLite file: node books.worker.ts <file>

import type { DatabaseSync } from 'node:sqlite'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { keepBooks } from './books.ts'

await keepBooks(sqlite(process.argv[2] ?? ''), (tx, { task, kind }) =>
  (tx as DatabaseSync).prepare('INSERT INTO entries VALUES (?, ?)').run(task, kind),
)
