import { describe, expect, it } from 'vitest'
import { type GatheringOptions, gathered, type PendingNotification } from '../../src/alert/gathering.ts'
import { type Quiet, quietOf, quietUntil } from '../../src/alert/quiet.ts'
import type { StoredPost } from '../../src/alert/stored.ts'

const post = (
  id: string,
  subject: string,
  { dueAt = 0, rule = 'check', ...given }: Partial<StoredPost> & { dueAt?: number } = {},
): PendingNotification => {
  const about = { rule, subject, name: `${rule}:${subject}`, opening: `o-${subject}`, message: `${subject} is ill` }
  const said = { ...about, news: 'raised', severity: 'warning', since: 1, at: 1, tries: 0, ...given } as const
  return { id, dueAt, said: { format: 1, ...said } }
}
const means: GatheringOptions = { now: 100, next: 115, isGrouping: true, quiet: null, said: new Map() }
const look = (waiting: PendingNotification[], given: Partial<GatheringOptions> = {}) => {
  const { messages, held, over } = gathered(waiting, { ...means, ...given })
  const told = messages.map(({ id, said: { news, group }, taken }) => ({ id, news, count: group?.count ?? 1, taken }))
  return { told, held: held.map(({ id, dueAt }) => [id, dueAt]), over: [...over].sort() }
}

describe('what is of one rule', () => {
  it('waits until its first is due before the next look, and then is one message', () => {
    const all = [post('1', 'a', { dueAt: 116 }), post('2', 'b', { dueAt: 120 })]
    expect(look(all).told).toEqual([])
    expect(look([...all, post('3', 'c', { dueAt: 130, at: 2 })], { now: 102, next: 117 }).told).toEqual([
      { id: '1', news: 'raised', count: 3, taken: ['2', '3'] },
    ])
    const [message] = gathered([post('1', 'a'), post('2', 'b', { severity: 'critical' })], means).messages
    expect(message?.said).toMatchObject({ name: 'check:*', subject: '*', opening: '1', severity: 'critical' })
    expect(message?.said.message).toBe('2 alerts of check: a, b')
    expect(message?.said.group?.alerts.map(({ name }) => name)).toEqual(['check:a', 'check:b'])
  })

  it('is a message for each rule and each news, and one by itself stays as it is', () => {
    const all = [post('1', 'a'), post('2', 'b', { rule: 'stuck' }), post('3', 'c', { news: 'ended', at: 2 })]
    expect(look(all).told).toEqual([
      { id: '1', news: 'raised', count: 1, taken: [] },
      { id: '2', news: 'raised', count: 1, taken: [] },
      { id: '3', news: 'ended', count: 1, taken: [] },
    ])
  })

  it('keeps the order of what is said of one alert', () => {
    const said = ['raised a', 'ended b', 'ended a', 'raised b'] as const
    const all = said.map((words, at) => {
      const [news, subject = ''] = words.split(' ')
      return post(`${at}`, subject, { at, news: news as 'raised' })
    })
    expect(look(all).told.map(({ id, news }) => `${news} ${id}`)).toEqual([
      'raised 0',
      'ended 1',
      'ended 2',
      'raised 3',
    ])
  })

  it('names fifty at most, and says how many they are', () => {
    const all = Array.from({ length: 80 }, (_, index) => post(`${index}`, `${'x'.repeat(300)}${index}`))
    const [message] = gathered(all, means).messages
    expect([message?.said.group?.count, message?.said.group?.alerts.length, message?.taken.length]).toEqual([
      80, 50, 79,
    ])
    expect(message?.said.message).toMatch(/ and 70 more$/)
    expect(message?.said.message.length).toBeLessThan(1_200)
  })

  it('that was tried already, or became one already, is told as it is, and what it took in is not told again', () => {
    const one = {
      ...post('1', '*'),
      said: { ...post('1', '*').said, taken: ['2', '9'], group: { count: 2, alerts: [] } },
    }
    const all = [one, post('2', 'b'), post('3', 'c', { tries: 2 }), post('4', 'd', { tries: 1, dueAt: 110 })]
    const { told, over } = look(all)
    expect(told.map(({ id }) => id)).toEqual(['1', '3'])
    expect(over).toEqual(['2', '9'])
  })

  it('is told each by itself where nobody groups', () => {
    expect(look([post('1', 'a'), post('2', 'b')], { isGrouping: false }).told.length).toBe(2)
    expect(look([post('1', 'a', { dueAt: 101 })], { isGrouping: false }).told).toEqual([])
  })
})

describe('what comes in quiet hours', () => {
  const quiet = { until: 1_000, except: null }
  it('is held until they are over, but for what may not wait', () => {
    const all = [post('1', 'a'), post('2', 'b', { severity: 'critical' }), post('3', 'c', { dueAt: 1_000 })]
    expect(look(all, { quiet })).toEqual({ told: [], held: [['1', 1_000], ['2', 1_000]], over: [] }) // biome-ignore format: a row
    const { told, held } = look(all, { quiet: { ...quiet, except: 'critical' } })
    expect([told.map(({ id }) => id), held]).toEqual([['2'], [['1', 1_000]]])
  })

  it('is told after them unless it has ended, once', () => {
    const held = true
    const all = [
      post('1', 'began and ended', { held }),
      post('2', 'began and ended', { held, news: 'ended' }),
      post('3', 'began', { held }),
      post('4', 'began', { held, news: 'repeated' }),
      post('5', 'goes on', { held, news: 'repeated', at: 1 }),
      post('6', 'goes on', { held, news: 'repeated', at: 2 }),
      post('7', 'was known, and ended', { held, news: 'repeated' }),
      post('8', 'was known, and ended', { news: 'ended' }),
      post('9', 'may have been told', { held, tries: 1 }),
      post('A', 'may have been told', { held, news: 'ended' }),
    ]
    const { told, over } = look(all, { isGrouping: false })
    expect(told.map(({ id }) => id).sort()).toEqual(['3', '6', '8', '9', 'A'])
    expect(over).toEqual(['1', '2', '4', '5', '7'])
  })

  it('is not told while an operator wants it silent, and not again where somebody has it in hand', () => {
    const held = true
    const all = [
      post('1', 'silent', { held }),
      post('2', 'silent and over', { held }),
      post('3', 'silent and over', { held, news: 'ended' }),
      post('4', 'owned', { held, news: 'repeated' }),
      post('5', 'new to them', { held }),
    ]
    const said = new Map([
      ...(['o-silent', 'o-silent and over'] as const).map((opening) => [opening, 'silenced'] as const),
      ...(['o-owned', 'o-new to them'] as const).map((opening) => [opening, 'owned'] as const),
    ])
    const { told, held: later, over } = look(all, { isGrouping: false, said })
    expect([told.map(({ id }) => id), later, over]).toEqual([['5'], [], ['2', '3', '4']])
  })

  it('is by the clock on the wall, over midnight, and in each time zone', () => {
    const at = (text: string) => Date.parse(text)
    const night = { from: '22:00', to: '07:00', timeZone: 'Europe/Vienna' }
    const until = (text: string, given: Quiet) => {
      const found = quietUntil(given, at(text))
      return found === null ? null : new Date(found).toISOString()
    }
    const vienna = quietOf('test', night)
    expect(until('2026-01-10T20:59:59Z', vienna)).toBe(null)
    expect(until('2026-01-10T21:00:00Z', vienna)).toBe('2026-01-11T06:00:00.000Z')
    expect(until('2026-01-11T05:59:59Z', vienna)).toBe('2026-01-11T06:00:00.000Z')
    expect(until('2026-01-11T06:00:00Z', vienna)).toBe(null)
    // The night in which the clock goes forward is an hour shorter.
    expect(until('2026-03-28T21:00:00Z', vienna)).toBe('2026-03-29T05:00:00.000Z')
    expect(until('2026-07-10T20:00:00Z', vienna)).toBe('2026-07-11T05:00:00.000Z')
    const noon = quietOf('test', { from: '12:00', to: '13:30' })
    expect([until('2026-01-10T12:00:00Z', noon), until('2026-01-10T13:30:00Z', noon)]).toEqual([
      '2026-01-10T13:30:00.000Z',
      null,
    ])
  })

  it.each([
    { from: '22:00', to: '22:00' },
    { from: '24:00', to: '07:00' },
    { from: '22:00' },
    { from: '22:00', to: '7:00' },
    { from: '22:00', to: '07:00', timeZone: 'Moon/Base' },
    { from: '22:00', to: '07:00', except: 'warning' },
    { from: '22:00', to: '07:00', days: 'all' },
    null,
  ])('%o is refused', (given) => {
    expect(() => quietOf('test', given as never)).toThrow(/test/)
  })
})
