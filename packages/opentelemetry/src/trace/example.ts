import type { Examples } from '../metric/recorder.ts'
import { isSampled, type Places } from './place.ts'

/** The spans that numbers are examples of, as far as they are kept. */
export function examplesOf(places: Places): Examples {
  const sampled = (span: ReturnType<Places['task']>) => (isSampled(span) ? span : null)
  return {
    task: (event) => sampled(places.task(event)),
    step: (event) => sampled(places.step(event, event.step)),
    attempt: (event) => {
      const { step, operation, attempt } = event
      return sampled(places.attempt(event, step, operation, attempt) ?? places.root(event))
    },
  }
}
