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
      /** Of a batch: how many children it has, once its source says that there are no more. */
      total?: number
      /** Of a batch: the page that its source gave, if it is to be recognised. */
      page?: PageMark
    } & AttemptTrace)
  /** A signal for a step; `selfSignalAt`: the instant for which the step asked for it; `queued`: until it waits again. */
  | ({ type: 'stepSignalled'; id: number; name: string; payload: Json; selfSignalAt?: number; queued?: true } & Remark)
