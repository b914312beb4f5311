import type { ErrorRecord } from '../json.ts'
import type { BatchMove } from './batch.ts'

export type BatchFact =
  /** Children of a batch ended and others were started, all of one turn at once. */
  | ({ type: 'batchAdvanced'; id: number } & BatchMove)
  /** No more children are started, for the batch has failed with this error, or nobody wants the others any more. */
  | { type: 'batchStopping'; id: number; error?: ErrorRecord }
