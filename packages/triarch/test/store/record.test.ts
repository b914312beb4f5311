import { describe, expect, it } from 'vitest'
import type { TaskEvent } from '../../src/kernel/event.ts'
import { eventsIn, recordText } from '../../src/store/record.ts'

describe('a history record', () => {
  it('says its format, and gives back the events it was made of', () => {
    const events: TaskEvent[] = [{ type: 'started' }, { type: 'timerFired', id: 1 }]
    expect(recordText(events)).toBe('[1,{"type":"started"},{"type":"timerFired","id":1}]')
    expect(eventsIn(recordText(events), 1)).toEqual(events)
    expect(eventsIn(recordText([]), 1)).toEqual([])
  })

  it('has the same format number when it refers to values, and the list of references as its last element', () => {
    const events: TaskEvent[] = [
      { type: 'returned', output: 'o' },
      { type: 'stopped', result: 'success', output: 'o' },
    ]
    const text = recordText(events, [[1, 'output', 0, 0, 'output', 3]])
    expect(text).toBe(
      '[1,{"type":"returned","output":"o"},{"type":"stopped","result":"success","output":null},[[1,"output",0,0,"output",3]]]',
    )
    expect(eventsIn(text, 1)).toEqual(events)
  })

  it.each(['[2,{"type":"started"}]', '[3,{"type":"started"},[]]', '[2]', '[0]', '[1.5]', '[1e9,"x"]'])(
    'of a format that this version does not know is refused with its number: %s',
    (text) => {
      const found = JSON.parse(text)[0]
      expect(() => eventsIn(text, 7)).toThrow(
        expect.objectContaining({ code: 'HISTORY_FORMAT_UNKNOWN', details: { record: 7, found, known: 1 } }),
      )
    },
  )

  it.each([
    '',
    '{}',
    'null',
    '1',
    '["x"]',
    '[1,1]',
    '[1,{"type":"started"},[1]]',
    '[1,[1]]',
    '[1,[],{"type":"started"}]',
    '[1,{"id":1}]',
    '[1,null]',
    '[null]',
    '[{"type":"started"}]',
  ])('that is none is said to be unreadable: %s', (text) => {
    const why = { code: 'HISTORY_CORRUPT', details: { record: 7 } }
    expect(() => eventsIn(text, 7)).toThrow(expect.objectContaining(why))
  })
})
