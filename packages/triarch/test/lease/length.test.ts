import { describe, expect, it } from 'vitest'
import { Lease } from '../../src/node/lease.ts'
import type { NodeHeartbeat } from '../../src/store/port.ts'
import { telemetryOf } from '../../src/telemetry/outlet.ts'
import { handClock, turn } from '../store/clock.ts'

/** A lease of 10 s that this process renews by itself, and what the store answers to each renewal. */
async function leased() {
  const clock = handClock()
  const beats: { lease: number; answer: (alive: boolean) => void; lose: (error: Error) => void }[] = []
  let lost = 0
  const beat = ({ lease }: NodeHeartbeat) =>
    new Promise<boolean>((answer, lose) => void beats.push({ lease, answer, lose }))
  const lease = new Lease({
    ...{ environment: clock, wall: () => clock.now(), store: { heartbeat: beat } as never, stall: 0, quiet: true },
    node: { id: 'n', roles: [], lease: 10_000 },
    ...{ renewed: () => undefined, blocked: () => undefined, failed: () => undefined },
    lost: () => lost++,
    telemetry: telemetryOf({}, () => undefined, null),
  })
  const start = lease.start()
  beats[0]?.answer(true)
  await start
  const left = () => lease.until - clock.monotonic()
  return { clock, beats, lease, left, lost: () => lost }
}

describe('a lease of which the length is changed', () => {
  it('is shorter at once, and is said to be', async () => {
    const { clock, beats, lease, left } = await leased()
    lease.resize(3_000)
    expect(left()).toBe(3_000)
    expect(beats[1]?.lease).toBe(3_000)
    beats[1]?.answer(true)
    await turn()
    clock.advance(1_000)
    // By its new pace.
    expect(beats[2]?.lease).toBe(3_000)
  })

  it('is longer once that was acknowledged, and nothing is under way any more that says otherwise', async () => {
    const { clock, beats, lease, left } = await leased()
    clock.advance(3_334)
    expect(beats[1]?.lease).toBe(10_000)
    lease.resize(60_000)
    expect(beats[2]?.lease).toBe(60_000)
    beats[2]?.answer(true)
    await turn()
    // The one before may yet be done, and the store would grant 10 s again.
    expect(left()).toBe(10_000)
    beats[1]?.answer(true)
    await turn()
    clock.advance(3_334)
    expect(beats[3]?.lease).toBe(60_000)
    beats[3]?.answer(true)
    await turn()
    expect(left()).toBe(60_000)
  })

  it('is not longer while a renewal was left unanswered that may be done late', async () => {
    const { clock, beats, lease, left, lost } = await leased()
    clock.advance(3_334)
    beats[1]?.lose(new Error('cut'))
    await turn()
    lease.resize(60_000)
    for (let n = 2; n < 20; n++) {
      beats[n]?.answer(true)
      await turn()
      expect(left()).toBe(10_000)
      clock.advance(3_334)
    }
    beats[20]?.answer(true)
    await turn()
    expect([left(), lost()]).toEqual([60_000, 0])
  })
})
