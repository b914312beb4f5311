import {
  type Action,
  type Agent,
  agent,
  type CacheOptions,
  type StepContext,
} from '../../packages/triarch/src/index.ts'
import { quick } from '../../packages/triarch/test/crash/workload.ts'

export interface Question {
  key: number
}

/** When it was asked for, and when the answer was there, in true time. */
export interface Answer extends Question {
  asked: number
  answered: number
}

export interface Bank {
  agent: Agent
  /** Answers may be given again. */
  quote: Action<Question, Answer>
}

/** By which a question is declared wrong together with others. */
export const tagOf = (key: number): string => `parity ${key % 2}`

/** How long an attempt may take (ms). */
export const WITHIN = 6_000

/** A service that is asked the same again and again. */
export function bank(
  cache: Pick<CacheOptions, 'ttl' | 'staleWhileRevalidate' | 'negative' | 'scope'>,
  ask: (question: Question, step: StepContext) => Promise<Answer>,
): Bank {
  const own = agent('bank', { concurrency: 3 })
  return {
    agent: own,
    quote: own.action('quote', {
      retry: quick,
      attemptWithin: WITHIN,
      cache: { ...cache, jitter: 0, tags: ({ key }: Question) => [tagOf(key)] },
      run: ask,
    }) as Action<Question, Answer>,
  }
}
