import type { FairShare } from '../kernel/task/order.ts'
import type { QueueHead } from '../store/port.ts'

/** Shares of one rank: virtual time counts in requests. */
interface Level {
  /** The start of whoever is next. */
  present: number
  /** Where the next of each begins that had something, if that is not the present. */
  readonly ends: Map<string, number>
}

/** A queue that is looked at, as far as something of it may still be next. */
interface VisibleQueue {
  readonly queue: string
  readonly heads: readonly QueueHead[]
  readonly most: number
  given: number
}

/** How often something of a queue is next. */
export interface QueueTurn {
  queue: string
  count: number
}

/**
 * Whose turn it is where the requests of one agent wait in several queues. Each queue has its order already, as if it were the only one; between
 * queues it is decided where something is taken, for which of them may give something now is known there alone: start-time fair queueing (Goyal, Vin and
 * Cheng 1996) of the shares, whatever queues theirs are in. A queue is as early as the earliest whose request is in sight there, so that nobody
 * waits for all queues that what is before it could come from. Where nobody shares, each queue has a share of its own.
 */
export class FairOrder {
  readonly #levels = new Map<number, Level>()

  /** Of what comes next in these queues, the first `most`, and of each no more than it has room for. `round`: equals come in another order each time. */
  of(
    heads: readonly QueueHead[],
    { most, room, round }: { most: number; room: (queue: string) => number; round: number },
  ): QueueTurn[] {
    const lines = linesOf(heads, room, round)
    this.#keep(new Set(heads.map(({ rank }) => rank)))
    // What is given may be taken by others first: only what was taken counts.
    const levels = new Map([...this.#levels].map(([rank, level]) => [rank, copyOf(level)]))
    for (let count = 0; count < most; count++) {
      const first = earliest(lines, levels)
      if (!first) break
      const { line, start } = first
      const head = line.heads[line.given++] as QueueHead
      const level = levelOf(levels, head.rank)
      level.present = Math.max(level.present, start)
      charge(level, head)
      if (count > 0) continue
      this.#begin(head.rank, start)
    }
    const given = lines.filter((line) => line.given > 0)
    return given.map((line) => ({ queue: line.queue, count: line.given }))
  }

  /** One was taken. */
  took(head: QueueHead): void {
    charge(levelOf(this.#levels, head.rank), head)
  }

  /** The present is no earlier than who is next; those who would not begin later than anybody new say nothing any more. */
  #begin(rank: number, start: number): void {
    const level = levelOf(this.#levels, rank)
    level.present = Math.max(level.present, start)
    for (const [share, end] of level.ends) if (end <= level.present) level.ends.delete(share)
  }

  /** Where nobody waits, whoever had more than others so far took it from nobody. */
  #keep(ranks: ReadonlySet<number>): void {
    for (const rank of this.#levels.keys()) if (!ranks.has(rank)) this.#levels.delete(rank)
  }
}

function linesOf(heads: readonly QueueHead[], room: (queue: string) => number, round: number): VisibleQueue[] {
  const queues = Map.groupBy(heads, ({ agent }) => agent)
  const lines = [...queues].map(([queue, its]): VisibleQueue => ({ queue, heads: its, most: room(queue), given: 0 }))
  const first = lines.length === 0 ? 0 : round % lines.length
  return [...lines.slice(first), ...lines.slice(0, first)]
}

/** The line that is next, and the virtual start of that: of equals, whose request is nearer to the head of its queue. */
function earliest(
  lines: readonly VisibleQueue[],
  levels: Map<number, Level>,
): { line: VisibleQueue; start: number } | null {
  let best: { line: VisibleQueue; start: number; rank: number; behind: number } | null = null
  for (const line of lines) {
    const rank = line.heads[line.given]?.rank
    if (rank === undefined || line.given >= line.most || (best && rank < best.rank)) continue
    const { start, behind } = inSight(line, levelOf(levels, rank), rank)
    if (!best || rank > best.rank || start < best.start || (start === best.start && behind < best.behind))
      best = { line, start, rank, behind }
  }
  return best
}

function inSight({ heads, given }: VisibleQueue, level: Level, rank: number): { start: number; behind: number } {
  let [start, behind] = [Number.POSITIVE_INFINITY, 0]
  for (let at = given; at < heads.length; at++) {
    const head = heads[at] as QueueHead
    if (head.rank !== rank) break
    const its = startOf(level, keyOf(head))
    if (its < start) [start, behind] = [its, at - given]
    if (start === level.present) break
  }
  return { start, behind }
}

function startOf({ present, ends }: Level, key: string): number {
  return Math.max(present, ends.get(key) ?? present)
}

function charge(level: Level, head: QueueHead): void {
  const key = keyOf(head)
  level.ends.set(key, startOf(level, key) + 1 / weightOf(head.share))
}

function keyOf({ agent, share }: QueueHead): string {
  return share ? share.key : `\n${agent}`
}

function weightOf(share: FairShare | null): number {
  return share ? share.weight : 1
}

function levelOf(levels: Map<number, Level>, rank: number): Level {
  const known = levels.get(rank)
  if (known) return known
  const level = { present: 0, ends: new Map<string, number>() }
  levels.set(rank, level)
  return level
}

function copyOf({ present, ends }: Level): Level {
  return { present, ends: new Map(ends) }
}
