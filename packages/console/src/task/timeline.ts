/** A step on the time line: where its bar begins and how long it is, as shares of the whole. */
export interface Bar {
  id: number
  from: number
  size: number
  /** How long it took, or takes until now (ms). */
  ms: number
  isOpen: boolean
}

/** How instants stand on the time line. */
export interface Scale {
  /** Where an instant is, as a share of the whole. */
  shareOf: (instant: number) => number
  /** The other way: the instant at a share; of an idle stretch that is cut, its end. */
  instantAt: (share: number) => number
  /** Idle stretches that are cut short: where each ends, and how long it was (ms). */
  cuts: readonly { at: number; ms: number }[]
}

/** What is seen of the time line, as shares of the whole. */
export interface Extract {
  from: number
  to: number
}

/** Time in which nothing is under way is drawn as at most this share of the whole. */
const IDLE = 0.04
/** No smaller part of the time line is looked at. */
const SMALLEST = 0.001

interface Span {
  id: number
  requestedAt?: string | undefined
  endedAt?: string | undefined
}

/**
 * Lays out steps along their time. Long idle stretches, such as a task that sleeps for weeks between two steps, are cut short, so
 * that what ran can be seen.
 */
export function timelineOf(steps: readonly Span[], now: number, scale: Scale = scaleOf(steps, now)): Bar[] {
  return spansOf(steps, now).map(({ id, from, to, isOpen }) => {
    const begins = scale.shareOf(from)
    return { id, from: begins, size: scale.shareOf(to) - begins, ms: to - from, isOpen }
  })
}

/** `isCut`: idle stretches are cut short. */
export function scaleOf(steps: readonly Span[], now: number, isCut = true): Scale {
  const sorted = spansOf(steps, now).toSorted((a, b) => a.from - b.from)
  const [first] = sorted
  if (!first) return { shareOf: () => 0, instantAt: () => now, cuts: [] }
  // Stretches in which something is under way, one after the other.
  const busy: { from: number; to: number }[] = []
  for (const { from, to } of sorted) {
    const last = busy.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else busy.push({ from, to })
  }
  const work = busy.reduce((sum, { from, to }) => sum + to - from, 0)
  const longest = isCut ? Math.max(work * IDLE, 1) : Number.POSITIVE_INFINITY
  // Where each busy stretch begins once idle time is cut.
  let at = 0
  let end = first.from
  const cuts: { at: number; ms: number }[] = []
  const drawn = busy.map(({ from, to }) => {
    at += Math.min(from - end, longest)
    if (from - end > longest) cuts.push({ at, ms: from - end })
    const begins = at
    at += to - from
    end = to
    return { from, to, begins }
  })
  const whole = Math.max(at, 1)
  const shareOf = (instant: number) => {
    const stretch = drawn.findLast(({ from }) => from <= instant) ?? drawn[0]
    if (!stretch) return 0
    return (stretch.begins + Math.min(Math.max(instant, stretch.from), stretch.to) - stretch.from) / whole
  }
  const instantAt = (share: number) => {
    const stretch = drawn.findLast(({ begins }) => begins <= share * whole) ?? drawn[0]
    if (!stretch) return now
    const behind = share * whole - stretch.begins - (stretch.to - stretch.from)
    const next = drawn[drawn.indexOf(stretch) + 1]
    if (behind <= 0) return stretch.to + behind
    // Idle time that is cut is no time of the line.
    return next && next.from - stretch.to > longest ? next.from : stretch.to + behind
  }
  return { shareOf, instantAt, cuts: cuts.map(({ at, ms }) => ({ at: at / whole, ms })) }
}

/** What the address says; all of it, where that is nothing that can be seen. */
export function extractOf(said: string | null): Extract {
  const [from, to] = (said ?? '').split('-').map(Number)
  const isGood = from !== undefined && to !== undefined && from >= 0 && to <= 1 && to - from >= SMALLEST
  return isGood ? { from, to } : { from: 0, to: 1 }
}

/** Half or twice as much of it, or the part to the left or right; null: all of it. */
export function moved({ from, to }: Extract, way: 'larger' | 'smaller' | 'left' | 'right'): Extract | null {
  const size = to - from
  const next = Math.min(1, way === 'larger' ? Math.max(size / 2, SMALLEST) : way === 'smaller' ? size * 2 : size)
  if (next === 1) return null
  const middle = (from + to) / 2 + (way === 'left' ? -size / 2 : way === 'right' ? size / 2 : 0)
  const begins = Math.min(Math.max(middle - next / 2, 0), 1 - next)
  return { from: begins, to: begins + next }
}

function spansOf(steps: readonly Span[], now: number) {
  return steps.flatMap(({ id, requestedAt, endedAt }) => {
    if (requestedAt === undefined) return []
    const from = Date.parse(requestedAt)
    const to = endedAt === undefined ? now : Date.parse(endedAt)
    return [{ id, from, to: Math.max(to, from), isOpen: endedAt === undefined }]
  })
}
