import { TriarchError } from 'triarch'
import type { NewTask, SubmitOutcome } from 'triarch/store'
import { sqlStateOf, storeError } from './failure.ts'
import type { Settings } from './options.ts'
import { inSchema } from './schema.ts'
import { gatesOfTasks, submitOutcomes, taskArrays } from './submit.ts'

/** What a client, or a client of a pool, of `pg` has. Adapters to query builders need no more than `query`. */
interface Queryable {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>
  /** Of `pg` itself: `T` inside of a transaction. */
  getTransactionStatus?(): string | null
}

const LIST = Array.from({ length: 11 }, (_, index) => `$${index + 1}`).join(', ')
/** The notification goes out when the caller commits. */
const SUBMIT = `
WITH c AS MATERIALIZED (SELECT array_to_string(triarch.insert_tasks(${LIST}), ',', '0') AS answer)
SELECT c.answer, g.refused, CASE WHEN $12 <> '' THEN pg_notify($12, $14) END
FROM c, LATERAL triarch.gate(true, c.answer, $13) g`

const FIRST = 'SELECT h.events FROM triarch.history h WHERE h.task = $1 AND h.seq = 1'

/** Submits inside the caller's transaction: the task exists exactly when the caller's rows do. */
export async function submitVia(
  via: unknown,
  task: NewTask,
  settings: Settings,
  words: () => Promise<{ channel: string; payload: string } | null>,
): Promise<SubmitOutcome> {
  const client = via as Partial<Queryable> | null | undefined
  if (typeof client !== 'object' || client === null || typeof client.query !== 'function') {
    throw invalid('`via` is no client of pg')
  }
  try {
    await checkOpen(client as Queryable)
    const told = settings.notify ? await words() : null
    const { rows } = await client.query(inSchema(SUBMIT, settings.schema), [
      ...taskArrays([task]),
      told?.channel ?? '',
      gatesOfTasks([task]),
      told?.payload ?? '',
    ])
    const { answer, refused } = rows[0] as { answer: string; refused: string | null }
    const outcome = submitOutcomes(answer, refused)[0] as SubmitOutcome
    if (outcome.created || outcome.key === 0) return outcome
    const found = await client.query(inSchema(FIRST, settings.schema), [outcome.key])
    const first = (found.rows[0] as { events: string } | undefined)?.events
    return { ...outcome, ...(first !== undefined && { first }) }
  } catch (error) {
    const code = sqlStateOf(error)
    if (code === '25P01' || code === '25P02') throw invalid('the client given as `via` has no open transaction')
    // No such schema, table or function: it is another database.
    if (code === '3F000' || code === '42P01' || code === '42883') {
      throw invalid('the client given as `via` is on a database without our tables')
    }
    throw storeError(error)
  }
}

/** A savepoint can be made in a transaction only. */
async function checkOpen(client: Queryable): Promise<void> {
  const status = client.getTransactionStatus?.() ?? null
  if (status === 'T') return
  await client.query('SAVEPOINT triarch_submit', [])
  await client.query('RELEASE SAVEPOINT triarch_submit', [])
}

function invalid(message: string): TriarchError {
  return new TriarchError('STORE_VIA_INVALID', message)
}
