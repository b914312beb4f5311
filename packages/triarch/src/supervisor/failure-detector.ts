import type { NodeHeartbeats } from '../store/port.ts'

/** Looks in a row that must have found a node's beats unchanged, before it may be dead. */
const LEAST_LOOKS = 2

/** Once the store takes writes again after it took none, every node has at least this share of its lease to beat. */
const CHANCE = 1 / 3

/** A difference between the clocks that is less than this is no leap (ms). */
const LEAST_LEAP = 1_000

interface Heard {
  mark: string
  lease: number
  /** How long it surely gave no beat (ms), and how many looks showed that. */
  silence: number
  looks: number
}

/**
 * Tells from repeated looks at the nodes' beats who is dead, by this process's monotonic clock alone: no step of a wall
 * clock, here or in the store, makes anybody seem silent. A look counts for at most so much time: when the one who looks
 * stood still himself, that was nobody's silence. Nor is time in which the store took no write, though it could be read: a beat is a
 * write.
 */
export class FailureDetector {
  #heard = new Map<string, Heard>()
  /** The last look, and the store's clock in it. `writable`: all the time since then the store took writes, as far as is known. */
  #last: { asked: number; answered: number; now: number; writable: boolean } | null = null

  /**
   * A look that was asked for and answered at these instants of the monotonic clock, and counts for at most `most` ms. How
   * far the store's clock leapt ahead since the last.
   */
  look({ now, nodes }: NodeHeartbeats, asked: number, answered: number, most: number): number {
    const last = this.#last
    // What the first look saw may be as new as its answer; from then on each look is as late as the next.
    const since = (first: boolean) => (first ? last?.answered : last?.asked) ?? asked
    const counted = (first: boolean) =>
      last?.writable === false ? 0 : Math.min(Math.max(0, asked - since(first)), most)
    this.#heard = new Map(
      nodes.map(({ id, mark, lease }) => {
        const before = this.#heard.get(id)
        if (before?.mark !== mark) return [id, { mark, lease, silence: 0, looks: 0 }]
        return [id, { mark, lease, silence: before.silence + counted(before.looks === 0), looks: before.looks + 1 }]
      }),
    )
    this.#last = { asked, answered, now, writable: true }
    const leap = last === null ? 0 : now - last.now - (answered - last.answered)
    return leap >= LEAST_LEAP ? Math.floor(leap) : 0
  }

  /** A write of this process had to wait, or failed: since the last look perhaps nobody could beat, and who is silent gets a chance to. */
  unwritable(): void {
    if (this.#last) this.#last.writable = false
    for (const heard of this.#heard.values()) heard.silence = Math.min(heard.silence, heard.lease * (1 - CHANCE))
  }

  /** Those that gave no beat for as long as their lease. */
  get dead(): { id: string; mark: string; silence: number }[] {
    return [...this.#heard]
      .filter(([, { silence, looks, lease }]) => looks >= LEAST_LOOKS && silence >= lease)
      .map(([id, { mark, silence }]) => ({ id, mark, silence }))
  }
}
