import { describe, expect, it } from 'vitest'
import { inWords } from '../src/schedules/words.ts'

describe('a pattern of cron in plain words', () => {
  it.each([
    ['0 3 * * *', 'At 03:00', 'Um 03:00'],
    ['*/15 9-17 * * 1-5', 'Every 15 minutes, between 09:00 and 17:59, Monday through Friday', 'Alle 15 Minuten, zwischen 09:00 und 17:59, Montag bis Freitag'], // biome-ignore format: a row
    ['0 0 L * *', 'At 00:00, on the last day of the month', 'Um 00:00, am letzten Tag des Monats'],
  ])('%s', (cron, english, german) => {
    expect([inWords(cron, 'en'), inWords(cron, 'de')]).toEqual([english, german])
  })

  it('is left as it is where there are none', () => {
    expect(inWords('61 25 * * nonsense', 'en')).toBeNull()
  })
})
