import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { editions, read, recorded } from '../../../tools/recordings/recording.ts'
import { outlineIn } from '../../triarch/src/store/record.ts'
import { historyEvent } from '../../triarch/src/view/history.ts'
import { Event } from '../src/wire/history.ts'

const recordings = editions().flatMap((edition) => recorded(edition).map((name) => [edition, name] as const))

/** Words of histories that the API says otherwise. */
const stored = ['result', 'note', 'foreign', 'again', 'completeWithin', 'expiresIn', 'notifyOnCancel', 'incarnation']

describe('what the server says of a history', () => {
  it('has a schema for each event that was ever recorded, with each of its fields', () => {
    const types = new Set<string>()
    for (const [edition, name] of recordings)
      for (const { records = [] } of read(edition, name).commits)
        for (const record of records)
          for (const event of outlineIn(record.events, record.seq)) {
            const shown = JSON.parse(JSON.stringify(historyEvent(event)))
            expect(Event.parse(shown), `${edition}/${name}`).toEqual(shown)
            expect(stored.filter((word) => word in shown)).toEqual([])
            types.add(shown.type)
          }
    const known = (z.toJSONSchema(Event, { io: 'input', unrepresentable: 'any' }).oneOf ?? []) as {
      properties: { type: { const: string } }
    }[]
    expect([...types].sort()).toEqual(known.map(({ properties }) => properties.type.const).sort())
  })
})
