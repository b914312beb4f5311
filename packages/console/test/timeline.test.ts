import { describe, expect, it } from 'vitest'
import { extractOf, moved, scaleOf, timelineOf } from '../src/task/timeline.ts'

const at = (ms: number) => new Date(ms).toISOString()

describe('the time line of steps', () => {
  it('is laid out in shares of the whole, and what runs ends now', () => {
    const steps = [
      { id: 1, requestedAt: at(0), endedAt: at(100) },
      { id: 2, requestedAt: at(100) },
    ]
    expect(timelineOf(steps, 400)).toEqual([
      { id: 1, from: 0, size: 0.25, ms: 100, isOpen: false },
      { id: 2, from: 0.25, size: 0.75, ms: 300, isOpen: true },
    ])
  })

  it('cuts idle time short, so that steps around a month of sleep can be seen', () => {
    const month = 30 * 86_400_000
    const steps = [
      { id: 1, requestedAt: at(0), endedAt: at(100) },
      { id: 2, requestedAt: at(month), endedAt: at(month + 100) },
    ]
    const [first, second] = timelineOf(steps, 0)
    expect(first?.size).toBeGreaterThan(0.45)
    expect(second?.size).toBeGreaterThan(0.45)
    expect(second?.from).toBeGreaterThan(0.5)
    expect((second?.from ?? 0) + (second?.size ?? 0)).toBeCloseTo(1)
  })

  it('has no bar for what was not requested, and is empty without steps', () => {
    expect(timelineOf([{ id: 1 }], 0)).toEqual([])
    expect(timelineOf([], 0)).toEqual([])
  })

  it('says what it has cut, and draws idle time in full to who wants that', () => {
    const day = 86_400_000
    const steps = [
      { id: 1, requestedAt: at(0), endedAt: at(day) },
      { id: 2, requestedAt: at(9 * day), endedAt: at(10 * day) },
    ]
    expect(scaleOf(steps, 0).cuts).toEqual([{ at: expect.closeTo(1.08 / 2.08), ms: 8 * day }])
    const full = scaleOf(steps, 0, false)
    expect([full.cuts, full.shareOf(5 * day), full.shareOf(9 * day)]).toEqual([[], 0.1, 0.9])
  })

  it('says when that was: each instant is where it is drawn, and idle time that is cut is none', () => {
    const day = 86_400_000
    const steps = [
      { id: 1, requestedAt: at(0), endedAt: at(day) },
      { id: 2, requestedAt: at(9 * day), endedAt: at(10 * day) },
    ]
    for (const isCut of [true, false]) {
      const scale = scaleOf(steps, 0, isCut)
      for (const instant of [0, day / 2, day, 9 * day, 9.5 * day, 10 * day])
        expect(scale.instantAt(scale.shareOf(instant)), `${instant} ${isCut}`).toBeCloseTo(instant, -3)
    }
    expect(scaleOf(steps, 0).instantAt(0.5)).toBe(9 * day)
  })

  it('is looked at in parts: halves and doubles, and never leaves its ends', () => {
    const all = { from: 0, to: 1 }
    expect(moved(all, 'larger')).toEqual({ from: 0.25, to: 0.75 })
    expect(moved({ from: 0, to: 0.5 }, 'left')).toEqual({ from: 0, to: 0.5 })
    expect(moved({ from: 0, to: 0.5 }, 'right')).toEqual({ from: 0.25, to: 0.75 })
    expect(moved({ from: 0.25, to: 0.75 }, 'smaller')).toBeNull()
    expect(extractOf('0.25-0.75')).toEqual({ from: 0.25, to: 0.75 })
    for (const said of [null, '', 'x', '0.5-0.2', '-1-2', '0.5-0.5000001']) expect(extractOf(said)).toEqual(all)
  })
})
