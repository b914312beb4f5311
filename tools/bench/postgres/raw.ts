import pg from 'pg'
import { integers, texts } from '../../../packages/postgres/src/arrays.ts'
import { type RawStore, rawId } from '../raw.ts'

const schema = `
CREATE TABLE tasks (
  key bigint PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE, workflow text NOT NULL, version text NOT NULL,
  status text NOT NULL, result text NOT NULL, output text, submitted_at bigint NOT NULL, updated_at bigint NOT NULL
);
CREATE TABLE history (task bigint NOT NULL, seq integer NOT NULL, at bigint NOT NULL, events text NOT NULL, PRIMARY KEY (task, seq))`

const record = `INSERT INTO history SELECT key, $2::integer, $3::bigint, events FROM unnest($1::bigint[], $4::text[]) AS r (key, events)`

/** One statement and round trip for each commit, arrays in. */
const statements = {
  first: `WITH made AS (INSERT INTO tasks SELECT key, id, 'three-steps', '1', 'running', 'pending', NULL, $3, $3
      FROM unnest($1::bigint[], $5::text[]) AS t (key, id)) ${record}`,
  next: record,
  last: `WITH done AS (UPDATE tasks SET status = 'stopped', result = 'success', output = $5, updated_at = $3
      WHERE key = ANY ($1)) ${record}`,
  // A task with one record.
  only: `WITH made AS (INSERT INTO tasks SELECT key, id, 'three-steps', '1', 'stopped', 'success', '{"n":4}', $3, $3
      FROM unnest($1::bigint[], $5::text[]) AS t (key, id)) ${record}`,
}

export class RawPostgres implements RawStore {
  readonly #client: pg.Client
  #tasks = 0

  constructor(url: string) {
    this.#client = new pg.Client({ connectionString: url, options: '-c synchronous_commit=on -c jit=off' })
  }

  async open(): Promise<this> {
    await this.#client.connect()
    await this.#client.query(schema)
    return this
  }

  async write(records: readonly string[], tasks: number, inFlight: number): Promise<number[]> {
    const all: number[] = []
    for (let done = 0; done < tasks; done += inFlight) {
      const keys = Array.from({ length: Math.min(inFlight, tasks - done) }, () => ++this.#tasks)
      for (const [index, events] of records.entries()) {
        const name = kindOf(index, records.length)
        const values: unknown[] = [integers(keys), index + 1, Date.now(), texts(keys.map(() => events))]
        if (name === 'first' || name === 'only') values.push(texts(keys.map(rawId)))
        if (name === 'last') values.push('{"n":4}')
        await this.#client.query({ name, text: statements[name], values })
      }
      all.push(...keys)
    }
    return all
  }

  async read(key: number): Promise<unknown[]> {
    const { rows } = await this.#client.query<{ events: string }>({
      name: 'read',
      text: 'SELECT seq, at, events FROM history WHERE task = $1 ORDER BY seq',
      values: [key],
    })
    return rows.flatMap(({ events }) => JSON.parse(events) as unknown[])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#client.end()
  }
}

function kindOf(index: number, count: number): keyof typeof statements {
  if (count === 1) return 'only'
  if (index === 0) return 'first'
  return index === count - 1 ? 'last' : 'next'
}
