import { TriarchError } from 'triarch'
import type { NewTask, SubmitOutcome } from 'triarch/store'
import { literal } from './arrays.ts'
import { sqlStateOf, storeError } from './failure.ts'
import type { Settings } from './options.ts'
import { inSchema } from './schema.ts'
import { gatesOfTasks, submitOutcomes, tagsText } from './submit.ts'

/** The part of a client or a pool client of `pg` that is needed. Adapters to other drivers and query builders need only `query`. */
interface Queryable {
  query(text: string, values: (string | null)[]): Promise<{ rows: unknown[] }>
  /** Only `pg` has it: `T` inside a transaction. */
  getTransactionStatus?(): string | null
}

/**
 * All parameters and answers are texts, because drivers differ in how they treat arrays, large numbers and `void`. The
 * notification is sent when the caller commits.
 */
const COLUMNS = ['', '', '', '::bigint[]', '', '::bigint[]', '::bigint[]', '::bigint[]', '', '', '']
const LISTS = COLUMNS.map((cast, index) => `$${index + 1}::text::text[]${cast}`).join(', ')
const SUBMIT = `
WITH c AS MATERIALIZED (SELECT array_to_string(triarch.insert_tasks(${LISTS}), ',', '0') AS answer)
SELECT c.answer, g.refused, CASE WHEN $12::text <> '' THEN pg_notify($12::text, $14::text)::text END AS told
FROM c, LATERAL triarch.gate(true, c.answer, $13::text) g`

const FIRST = `
SELECT h.task::text AS task, h.events FROM triarch.history h WHERE h.task = ANY ($1::text::bigint[]) AND h.seq = 1`

/** Submits inside the caller's transaction: the tasks exist exactly when the caller's rows do. */
export async function submitIn(
  transaction: unknown,
  tasks: readonly NewTask[],
  settings: Settings,
  words: () => Promise<{ channel: string; payload: string } | null>,
): Promise<SubmitOutcome[]> {
  const client = transaction as Partial<Queryable> | null | undefined
  if (typeof client !== 'object' || client === null || typeof client.query !== 'function') {
    throw invalid('`transaction` is no client of pg')
  }
  try {
    // Read before the check, so that nothing comes between the check and the statement.
    const told = settings.notify ? await words() : null
    await checkOpen(client as Queryable)
    const { rows } = await client.query(inSchema(SUBMIT, settings.schema), [
      ...taskLists(tasks),
      told?.channel ?? '',
      gatesOfTasks(tasks),
      told?.payload ?? '',
    ])
    const { answer, refused } = rows[0] as { answer: string; refused: string | null }
    const outcomes = submitOutcomes(answer, refused)
    const known = outcomes.filter(({ created, key }) => !created && key !== 0).map(({ key }) => String(key))
    if (known.length === 0) return outcomes
    const found = await client.query(inSchema(FIRST, settings.schema), [literal(known)])
    const first = new Map((found.rows as { task: string; events: string }[]).map(({ task, events }) => [task, events]))
    return outcomes.map((outcome) => {
      const events = outcome.created ? undefined : first.get(String(outcome.key))
      return events === undefined ? outcome : { ...outcome, first: events }
    })
  } catch (error) {
    const code = sqlStateOf(error)
    if (code === '25P01' || code === '25P02') throw invalid('the client given as `transaction` has no open transaction')
    // The schema, table or function does not exist: it is another database.
    if (code === '3F000' || code === '42P01' || code === '42883') {
      throw invalid('the client given as `transaction` is on a database without the tables of Triarch')
    }
    throw storeError(error)
  }
}

/** The parameters of `triarch.insert_tasks`, in its order. */
function taskLists(tasks: readonly NewTask[]): string[] {
  const rows = tasks.map((task) => {
    const { id, workflow, version, priority, status, at, startAt, deadline, parent, events } = task
    return [id, workflow, version, priority, status, at, startAt, deadline, parent, tagsText(task), events]
  })
  return COLUMNS.map((_, column) => literal(rows.map((row) => row[column] ?? null)))
}

/** Throws if no transaction is open: a savepoint can only be made inside one. */
async function checkOpen(client: Queryable): Promise<void> {
  const status = client.getTransactionStatus?.() ?? null
  if (status === 'T') return
  await client.query('SAVEPOINT triarch_submit', [])
  await client.query('RELEASE SAVEPOINT triarch_submit', [])
}

function invalid(message: string): TriarchError {
  return new TriarchError('STORE_TRANSACTION_INVALID', message)
}
