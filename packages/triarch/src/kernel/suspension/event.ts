import type { PageMark } from '../batch/batch.ts'
import type { Json } from '../json.ts'
import type { Remark } from '../remark.ts'
import type { AttemptTrace } from '../step/step.ts'
import type { SelfSignal } from './suspension.ts'

export type SuspensionFact =
  | ({
      type: 'stepSuspended'
      id: number
      until?: number
      selfSignals?: SelfSignal[]
      checkpoint?: Json
      progress?: Json
      notifyOnCancel?: true
      /** Of a batch: its number of children, once the source has reported its end. */
      total?: number
      /** Of a batch: a mark of the page that the source gave, if repeated pages are to be detected. */
      page?: PageMark
    } & AttemptTrace)
  /** A signal for a step. `selfSignalAt`: the instant for which the step requested it; `queued`: it is kept until the step waits again. */
  | ({ type: 'stepSignalled'; id: number; name: string; payload: Json; selfSignalAt?: number; queued?: true } & Remark)
