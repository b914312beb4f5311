import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/environment/random.ts'
import { AdaptiveConcurrency } from '../../src/flow/adaptive-concurrency.ts'

interface Settings {
  /** What the service does at a time; beyond it, what is asked waits in it. */
  capacity: number
  /** What an attempt takes that does not wait (ms). */
  takes: number
  /** How widely that scatters: 0 to 1. */
  scatter: number
}

/** A service that is asked for as much as the limits of these processes allow, in time of its own. */
function world(given: Partial<Settings> = {}) {
  const service: Settings = { capacity: 16, takes: 100, scatter: 0, ...given }
  const random = seededRandom(7)
  const environment = { now: () => at, monotonic: () => at }
  const rule = { least: 1, most: 200 }
  const attempts: { end: number; began: number; of: Process }[] = []
  interface Process {
    limit: AdaptiveConcurrency
    running: number
    leaves: boolean
  }
  let processes: Process[] = []
  let at = 1_000_000
  const fill = () => {
    for (const of of processes) {
      while (!of.leaves && of.running < of.limit.limit) {
        of.running++
        const queue = Math.max(1, (attempts.length + 1) / service.capacity)
        const ms = service.takes * queue * (1 + service.scatter * (2 * random() - 1))
        attempts.push({ began: at, end: at + ms, of })
      }
    }
  }
  return {
    service,
    begin(knows: AdaptiveConcurrency | null = null): void {
      const limit = new AdaptiveConcurrency(environment, rule)
      if (knows) limit.know(knows.usual)
      processes.push({ limit, running: 0, leaves: false })
    },
    /** The oldest process stops; one begins that knows what the others do. */
    restart(): void {
      const [oldest] = processes
      if (oldest) oldest.leaves = true
      processes = processes.slice(1)
      this.begin(processes[0]?.limit)
    },
    /** How many ran at a time on average in the last half of this time (ms). */
    run(span: number): number {
      const [half, until] = [at + span / 2, at + span]
      let area = 0
      for (;;) {
        fill()
        let next = attempts[0]
        for (const attempt of attempts) if (next === undefined || attempt.end < next.end) next = attempt
        if (next === undefined || next.end > until) break
        if (next.end > half) area += attempts.length * (next.end - Math.max(at, half))
        at = Math.max(at, next.end)
        attempts.splice(attempts.indexOf(next), 1)
        const { of, began } = next
        of.limit.ended('run', { kind: 'done', output: null }, at - began, of.running--)
      }
      area += attempts.length * (until - Math.max(at, half))
      at = until
      return area / (span / 2)
    },
  }
}

const MINUTE = 60_000

describe('adaptive limits', () => {
  it.each([
    [1, 0],
    [1, 0.8],
    [2, 0.5],
    [4, 0],
  ])('settle at what the service is well with and not far above: %i processes, scatter %d', (count, scatter) => {
    const it = world({ scatter })
    for (let n = 0; n < count; n++) it.begin()
    for (let minute = 0; minute < 30; minute++) {
      const level = it.run(MINUTE)
      if (minute < 3) continue
      expect(level).toBeGreaterThan(14)
      expect(level).toBeLessThan(22)
    }
  })

  it('run as many in all after each restart of a process as before', () => {
    const it = world({ scatter: 0.3 })
    it.begin()
    it.begin()
    it.run(5 * MINUTE)
    for (let restarts = 0; restarts < 12; restarts++) {
      it.restart()
      const level = it.run(2 * MINUTE)
      expect(level).toBeGreaterThan(14)
      expect(level).toBeLessThan(22)
    }
  })

  it('find the same number again when a process that knew nothing took the queue of others for usual', () => {
    const it = world({ scatter: 0.3 })
    it.begin()
    it.run(5 * MINUTE)
    it.begin()
    expect(it.run(20 * MINUTE)).toBeLessThan(24)
  })

  it('follow a service that answers more slowly for good within a quarter of an hour, and one that answers faster at once', () => {
    const it = world({ scatter: 0.3 })
    it.begin()
    it.run(3 * MINUTE)
    it.service.takes = 300
    it.run(15 * MINUTE)
    const slower = it.run(2 * MINUTE)
    expect(slower).toBeGreaterThan(12)
    expect(slower).toBeLessThan(22)
    it.service.takes = 50
    it.run(MINUTE)
    const faster = it.run(2 * MINUTE)
    expect(faster).toBeGreaterThan(14)
    expect(faster).toBeLessThan(26)
  })

  it('take nothing from a service whose capacity is beyond the most', () => {
    const it = world({ capacity: 1_000, takes: 1_000, scatter: 0.5 })
    it.begin()
    it.run(MINUTE)
    expect(it.run(2 * MINUTE)).toBeGreaterThan(170)
  })
})
