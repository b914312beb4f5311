import type { NodeHeartbeats } from '../store/port.ts'

/** Consecutive looks in which a node's heartbeat must be unchanged, at least, before the node counts as dead. */
const LEAST_LOOKS = 2

/** Once the store accepts writes again, every node gets at least this share of its lease to send a heartbeat. */
const CHANCE = 1 / 3

/** A smaller difference between the clocks is not a leap (ms). */
const LEAST_LEAP = 1_000

interface HeartbeatRecord {
  mark: string
  lease: number
  /** How long the node has certainly sent no heartbeat (ms), and how many looks showed that. */
  silence: number
  looks: number
}

/**
 * Detects dead nodes from repeated looks at their heartbeats, by this process's monotonic clock alone: a step of a wall clock, here or in
 * the store, makes no node look silent. The time between two looks counts only up to a limit, because this process itself may have been
 * blocked. Time in which the store accepted no writes does not count at all, even if it could be read: a heartbeat is a write.
 */
export class FailureDetector {
  #heard = new Map<string, HeartbeatRecord>()
  /** The last look, with the store's clock reading. `writable`: as far as known, the store has accepted writes ever since. */
  #last: { asked: number; answered: number; now: number; writable: boolean } | null = null

  /**
   * Takes a look that was sent and answered at these times (monotonic clock). The time since the last look counts for at most `most` ms.
   * Returns how far the store's clock has leapt ahead since the last look (ms).
   */
  look({ now, nodes }: NodeHeartbeats, asked: number, answered: number, most: number): number {
    const last = this.#last
    // The heartbeats in the first look may be as recent as its answer; later looks are compared by when they were sent.
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

  /**
   * A write of this process had to wait or failed, so perhaps no node could send a heartbeat since the last look. Silent nodes get a
   * chance to send one.
   */
  unwritable(): void {
    if (this.#last) this.#last.writable = false
    for (const heard of this.#heard.values()) heard.silence = Math.min(heard.silence, heard.lease * (1 - CHANCE))
  }

  /** The nodes that have sent no heartbeat for as long as their lease. */
  get dead(): { id: string; mark: string; silence: number }[] {
    return [...this.#heard]
      .filter(([, { silence, looks, lease }]) => looks >= LEAST_LOOKS && silence >= lease)
      .map(([id, { mark, silence }]) => ({ id, mark, silence }))
  }
}
