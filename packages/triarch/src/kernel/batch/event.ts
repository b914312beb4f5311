import type { ErrorRecord } from '../json.ts'
import type { BatchMove } from './batch.ts'

export type BatchFact =
  /** Children of a batch ended and others were started; one event for a whole turn. */
  | ({ type: 'batchAdvanced'; id: number } & BatchMove)
  /** No more children are started, because the batch has failed with this error, or because the other children are not needed any more. */
  | { type: 'batchStopping'; id: number; error?: ErrorRecord }
