// A process that keeps books in PostgreSQL: node books.worker.ts <url> <schema>

import type pg from 'pg'
import { keepBooks } from '../../triarch/test/crash/books.ts'
import { postgres } from '../src/index.ts'

const [url = '', schema = ''] = process.argv.slice(2)
await keepBooks(postgres({ url, schema }), (tx, { task, kind }) =>
  (tx as pg.ClientBase).query(`INSERT INTO "${schema}".entries VALUES ($1, $2)`, [task, kind]),
)
