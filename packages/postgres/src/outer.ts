import { TriarchError } from 'triarch'
import type { NewTask, SubmitOutcome } from 'triarch/store'
import { sqlStateOf, storeError } from './failure.ts'
import type { Settings } from './options.ts'
import { inSchema } from './schema.ts'
import { gatesOfTasks, submitOutcomes, tagsText } from './submit.ts'

/** What a client, or a client of a pool, of `pg` has. Adapters to other drivers and query builders need no more than `query`. */
interface Queryable {
  query(text: string, values: (string | null)[]): Promise<{ rows: unknown[] }>
  /** Of `pg` itself: `T` inside of a transaction. */
  getTransactionStatus?(): string | null
}

/**
 * All parameters and answers are texts: what other drivers make of arrays, large numbers and `void` is up to them.
 * The notification goes out when the caller commits.
 */
const COLUMNS = ['', '', '', '::bigint', '', '::bigint', '::bigint', '::bigint', '', '', '']
const LIST = COLUMNS.map((cast, index) => `ARRAY[$${index + 1}::text${cast}]`).join(', ')
const SUBMIT = `
WITH c AS MATERIALIZED (SELECT array_to_string(triarch.insert_tasks(${LIST}), ',', '0') AS answer)
SELECT c.answer, g.refused, CASE WHEN $12::text <> '' THEN pg_notify($12::text, $14::text)::text END AS told
FROM c, LATERAL triarch.gate(true, c.answer, $13::text) g`

const FIRST = 'SELECT h.events FROM triarch.history h WHERE h.task = $1::text::bigint AND h.seq = 1'

/** Submits inside the caller's transaction: the task exists exactly when the caller's rows do. */
export async function submitIn(
  transaction: unknown,
  task: NewTask,
  settings: Settings,
  words: () => Promise<{ channel: string; payload: string } | null>,
): Promise<SubmitOutcome> {
  const client = transaction as Partial<Queryable> | null | undefined
  if (typeof client !== 'object' || client === null || typeof client.query !== 'function') {
    throw invalid('`transaction` is no client of pg')
  }
  try {
    await checkOpen(client as Queryable)
    const told = settings.notify ? await words() : null
    const { rows } = await client.query(inSchema(SUBMIT, settings.schema), [
      ...taskTexts(task),
      told?.channel ?? '',
      gatesOfTasks([task]),
      told?.payload ?? '',
    ])
    const { answer, refused } = rows[0] as { answer: string; refused: string | null }
    const outcome = submitOutcomes(answer, refused)[0] as SubmitOutcome
    if (outcome.created || outcome.key === 0) return outcome
    const found = await client.query(inSchema(FIRST, settings.schema), [String(outcome.key)])
    const first = (found.rows[0] as { events: string } | undefined)?.events
    return { ...outcome, ...(first !== undefined && { first }) }
  } catch (error) {
    const code = sqlStateOf(error)
    if (code === '25P01' || code === '25P02') throw invalid('the client given as `transaction` has no open transaction')
    // No such schema, table or function: it is another database.
    if (code === '3F000' || code === '42P01' || code === '42883') {
      throw invalid('the client given as `transaction` is on a database without the tables of Triarch')
    }
    throw storeError(error)
  }
}

/** The parameters of `triarch.insert_tasks`, in its order. */
function taskTexts(task: NewTask): (string | null)[] {
  const { id, workflow, version, priority, status, at, startAt, deadline, parent, events } = task
  const all = [id, workflow, version, priority, status, at, startAt, deadline, parent, tagsText(task), events]
  return all.map((it) => (it === null ? null : String(it)))
}

/** A savepoint can be made in a transaction only. */
async function checkOpen(client: Queryable): Promise<void> {
  const status = client.getTransactionStatus?.() ?? null
  if (status === 'T') return
  await client.query('SAVEPOINT triarch_submit', [])
  await client.query('RELEASE SAVEPOINT triarch_submit', [])
}

function invalid(message: string): TriarchError {
  return new TriarchError('STORE_TRANSACTION_INVALID', message)
}
