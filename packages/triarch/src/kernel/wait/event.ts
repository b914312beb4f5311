import type { Json } from '../json.ts'
import type { Remark } from '../remark.ts'

export type WaitDecision =
  | { type: 'timerStarted'; id: number; until: number }
  | { type: 'waitStarted'; id: number; name: string; until: number | null }

export type WaitFact =
  | { type: 'timerFired'; id: number }
  | ({ type: 'signalReceived'; name: string; payload: Json } & Remark)
  | { type: 'waitTimedOut'; id: number }
