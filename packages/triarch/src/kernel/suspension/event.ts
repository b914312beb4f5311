import type { Json } from '../json.ts'
import type { AttemptTrace } from '../step/step.ts'
import type { Alarm } from './suspension.ts'

export type SuspensionFact =
  | ({
      type: 'stepSuspended'
      id: number
      until?: number
      alarms?: Alarm[]
      checkpoint?: Json
      progress?: Json
      wary?: true
      /** Of a batch: how many children it has, once its source says that there are no more. */
      total?: number
    } & AttemptTrace)
  /** An event for a step; `alarm`: the instant for which the step asked for it; `kept`: until it waits again. */
  | { type: 'stepSignalled'; id: number; name: string; payload: Json; alarm?: number; kept?: true }
