import type { HandClock } from '../../triarch/test/store/clock.ts'

export type Counting = HandClock & { readonly waiting: number }

/** Knows how many callbacks wait for their time or turn. */
export function counting(clock: HandClock): Counting {
  const waiting = new Set<object>()
  return Object.create(clock, {
    waiting: { get: () => waiting.size },
    timer: {
      value: (ms: number, callback: () => void) => {
        const it = {}
        waiting.add(it)
        const timer = clock.timer(ms, () => {
          waiting.delete(it)
          callback()
        })
        return {
          cancel: () => {
            waiting.delete(it)
            timer.cancel()
          },
        }
      },
    },
    soon: {
      value: (callback: () => void) => {
        const it = {}
        waiting.add(it)
        clock.soon(() => {
          waiting.delete(it)
          callback()
        })
      },
    },
  })
}
