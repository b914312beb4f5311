/** A step on the time line: where its bar begins and how long it is, as shares of the whole. */
export interface Bar {
  id: number
  from: number
  size: number
  /** How long it took, or takes until now (ms). */
  ms: number
  isOpen: boolean
}

/** Time in which nothing is under way is drawn as at most this share of the whole. */
const IDLE = 0.04

interface Span {
  id: number
  requestedAt?: string | undefined
  endedAt?: string | undefined
}

/**
 * Lays out steps along their time. Long idle stretches, such as a task that sleeps for weeks between two steps, are cut short, so
 * that what ran can be seen.
 */
export function timelineOf(steps: readonly Span[], now: number): Bar[] {
  const spans = steps.flatMap(({ id, requestedAt, endedAt }) => {
    if (requestedAt === undefined) return []
    const from = Date.parse(requestedAt)
    const to = endedAt === undefined ? now : Date.parse(endedAt)
    return [{ id, from, to: Math.max(to, from), isOpen: endedAt === undefined }]
  })
  const sorted = spans.toSorted((a, b) => a.from - b.from)
  const [first] = sorted
  if (!first) return []
  // Stretches in which something is under way, one after the other.
  const busy: { from: number; to: number }[] = []
  for (const { from, to } of sorted) {
    const last = busy.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else busy.push({ from, to })
  }
  const work = busy.reduce((sum, { from, to }) => sum + to - from, 0)
  const longest = Math.max(work * IDLE, 1)
  // Where each busy stretch begins once idle time is cut.
  let at = 0
  let end = first.from
  const cut = busy.map(({ from, to }) => {
    at += Math.min(from - end, longest)
    const begins = at
    at += to - from
    end = to
    return { from, to, begins }
  })
  const whole = Math.max(at, 1)
  return spans.map(({ id, from, to, isOpen }) => {
    const stretch = cut.find((it) => from >= it.from && from <= it.to) as (typeof cut)[number]
    return {
      id,
      from: (stretch.begins + from - stretch.from) / whole,
      size: (to - from) / whole,
      ms: to - from,
      isOpen,
    }
  })
}
