import { describe, expect, it } from 'vitest'
import { RateReservation } from '../../src/flow/rate-reservation.ts'
import { NEW_RATE, type RateState, reserve } from '../../src/policy/rate.ts'

const rule = { limit: 10_000, per: 1_000, burst: 1_000 }
const LOOK = 50

/** A node under a limit, and the store that it asks. */
function node() {
  let now = 1_000_000
  let state: RateState = NEW_RATE
  const environment = { now: () => now, monotonic: () => now }
  const allowance = new RateReservation({ name: 'bank', agent: 'bank' }, rule, environment, () => 1)
  /** How many instants it reserves. */
  const look = (waiting = 0) => {
    now += LOOK
    allowance.counted(waiting)
    const got = reserve(state, rule, now, allowance.wants(500, LOOK), 1)
    state = got.state
    allowance.reserved(got.runs)
    return got.runs.reduce((sum, { count }) => sum + count, 0)
  }
  const begin = (attempts: number) => {
    let begun = 0
    for (let n = 0; n < attempts; n++) if (allowance.promise()) begun++
    for (let n = 0; n < begun; n++) allowance.use()
    return begun
  }
  return { allowance, look, begin }
}

describe('what a node has of a rate limit that is far away', () => {
  it('is enough for all that begins, also when more comes than before', () => {
    const { allowance, look, begin } = node()
    look(1)
    allowance.use()
    for (const attempts of [3, 10, 30, 30, 60, 120, 60]) {
      look()
      expect(begin(attempts)).toBe(attempts)
    }
  })

  it('tells the store when half of it is used, and not for each one', () => {
    const { allowance, look, begin } = node()
    look(20)
    for (let n = 0; n < 20; n++) allowance.use()
    look()
    let hurried = 0
    allowance.hurry = () => hurried++
    begin(30)
    expect(hurried).toBe(0)
    begin(20)
    expect(hurried).toBe(1)
  })

  it('is nothing a second or so after the last attempt', () => {
    const { allowance, look, begin } = node()
    look(100)
    for (let n = 0; n < 100; n++) allowance.use()
    look()
    begin(100)
    for (let at = 0; at < 1_500; at += LOOK) look()
    expect(allowance.quiet).toBe(true)
    expect(look()).toBe(0)
  })

  it('is for those that wait first: another begins if there is more than they need', () => {
    const { allowance, look, begin } = node()
    look(40)
    expect(allowance.room).toBe(40)
    expect(begin(1)).toBe(0)
    for (let n = 0; n < 40; n++) allowance.use()
    look(20)
    const { room } = allowance
    expect(room).toBeGreaterThan(20)
    expect(begin(room)).toBe(room - 20)
  })
})
