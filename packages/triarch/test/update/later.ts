import type { Migration } from '../../src/store/migration.ts'
import { migrations } from '../../src/store/sqlite/migrations/index.ts'

/**
 * The migration that the code of a later version knows besides: another column in each table. So code of before must name the columns
 * that it reads and writes.
 */
const name = '9001'

const tables = migrations.flatMap(({ sql }) => [...sql.matchAll(/CREATE TABLE (\w+)/g)].map(([, table]) => table))

export const ofSqlite: Migration = {
  name,
  sql: tables.map((table) => `ALTER TABLE ${table} ADD COLUMN later TEXT;`).join('\n'),
}

export const ofPostgres: Migration = {
  name,
  sql: `DO $$ DECLARE one regclass; BEGIN
    FOR one IN SELECT oid FROM pg_class WHERE relkind = 'r'
      AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'triarch.tasks'::regclass) LOOP
      EXECUTE format('ALTER TABLE %s ADD COLUMN later text', one);
    END LOOP;
  END $$`,
}
