import { TriarchError } from 'triarch'
import type { NewTask, SubmitOutcome } from 'triarch/store'
import { storeError } from './failure.ts'
import type { Settings } from './options.ts'
import { inSchema } from './schema.ts'
import { submitOutcomes, taskArrays } from './submit.ts'

/** What a client, or a client of a pool, of `pg` has: adapters to query builders need no more. */
interface Queryable {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>
}

const LIST = Array.from({ length: 11 }, (_, index) => `$${index + 1}`).join(', ')
/**
 * In a statement of its own, a transaction begins with it: then there is none to join, and nothing is done. The
 * notification goes out when the caller commits.
 */
const SUBMIT = `
SELECT CASE WHEN joins THEN array_to_string(triarch.insert_tasks(${LIST}), ',', '0') END AS answer,
  CASE WHEN joins AND $12 <> '' THEN pg_notify($12, 'tasks') END
FROM (SELECT transaction_timestamp() < statement_timestamp() AS joins) AS own`

/** Submits inside the caller's transaction: the task exists exactly when the caller's rows do. */
export async function submitVia(via: unknown, task: NewTask, settings: Settings): Promise<SubmitOutcome> {
  const client = via as Partial<Queryable> | null | undefined
  if (typeof client !== 'object' || client === null || typeof client.query !== 'function') {
    throw invalid('`via` is no client of pg')
  }
  try {
    const channel = settings.notify ? `triarch_${settings.schema}` : ''
    const { rows } = await client.query(inSchema(SUBMIT, settings.schema), [...taskArrays([task]), channel])
    const { answer } = rows[0] as { answer: string | null }
    if (answer === null) throw invalid('the client given as `via` has no open transaction')
    return submitOutcomes(answer)[0] as SubmitOutcome
  } catch (error) {
    // No such schema, table or function: it is another database.
    const { code } = error as { code?: string }
    if (code === '3F000' || code === '42P01' || code === '42883') {
      throw invalid('the client given as `via` is on a database without our tables')
    }
    throw storeError(error)
  }
}

function invalid(message: string): TriarchError {
  return new TriarchError('STORE_VIA_INVALID', message)
}
