import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TaskEvent } from '../../src/kernel/event.ts'
import type { Json } from '../../src/kernel/json.ts'
import { Chronicle } from '../../src/scheduler/history.ts'
import { outputAt } from '../../src/store/output.ts'
import { RecordReader } from '../../src/store/reader.ts'
import { eventsIn, outlineIn, recordText } from '../../src/store/record.ts'
import { ValueReferences } from '../../src/store/value-references.ts'

const large = (of: string) => of.repeat(600)
const long = (of: string) => of.repeat(2_048)
const completed = (id: number, output: Json) =>
  ({ type: 'stepCompleted', id, output, attempt: 1, startedAt: 1, endedAt: 2, node: 'n' }) as TaskEvent
const bytes = (texts: readonly string[]) => texts.reduce((sum, text) => sum + text.length, 0)

/** Some of them again and again: texts and objects, small and large, alike but not the same. */
const values: Json[] = [
  null,
  0,
  'small',
  large('a'),
  large('b'),
  long('l'),
  { text: long('l') },
  `${large('a')}!`,
  { text: large('a') },
  { text: large('a'), more: 1 },
  { more: 1, text: large('a') },
  Array.from({ length: 300 }, (_, n) => n),
  JSON.stringify({ text: large('a') }),
  { deep: { deeper: [{ list: Array.from({ length: 80 }, () => 'item') }, ['__proto__', false]] } },
  JSON.parse(`{"__proto__":{"text":"${large('p')}"},"1":[]}`),
]

const one = fc.constantFrom(...values)
const event: fc.Arbitrary<TaskEvent> = fc.oneof(
  one.map((input) => ({ type: 'stepRequested', id: 1, action: null, name: 'input":null', input, policy: {} }) as never),
  one.map((output) => completed(1, output)),
  one.map((output): TaskEvent => ({ type: 'returned', output })),
  one.map((output): TaskEvent => ({ type: 'stopped', result: 'success', output })),
  one.map((payload): TaskEvent => ({ type: 'signalReceived', name: 's', payload })),
  one.map((progress): TaskEvent => ({ type: 'progressed', progress })),
  fc.constant<TaskEvent>({ type: 'stopped', result: 'cancelled' }),
  fc.constant<TaskEvent>({ type: 'timerFired', id: 2 }),
)
const base = one.map((input): TaskEvent => ({ type: 'continuedAsNew', input, nextId: 9, pendingSignals: [] }))
/** Records, of which some begin a run anew, and whether another owner took the task over before each. */
const history = fc.array(
  fc.record({
    events: fc.oneof(
      { weight: 5, arbitrary: fc.array(event, { minLength: 1, maxLength: 6 }) },
      { weight: 1, arbitrary: fc.tuple(event, base, event).map((all): TaskEvent[] => all) },
    ),
    takenOver: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
)

type History = { events: TaskEvent[]; takenOver: boolean }[]

const isBase = ({ type }: TaskEvent) => type === 'continuedAsNew'

/** As its owners write it, each of whom knows what was read. */
function written(records: History): string[] {
  const texts: string[] = []
  let repeats = new ValueReferences()
  for (const [index, { events, takenOver }] of records.entries()) {
    if (takenOver) repeats = new ValueReferences(replayed(texts).before)
    texts.push(repeats.text(events, index + 1, index > 0 && events.some(isBase)))
  }
  return texts
}

/** What is read of it for a replay: the first record, and those from the last new beginning on. */
function replayed(texts: readonly string[]): Chronicle {
  const found = texts.findLastIndex((text, index) => index > 0 && outlineIn(text, index + 1).some(isBase))
  const chronicle = new Chronicle()
  for (const [index, events] of texts.entries())
    if (index === 0 || index >= found) chronicle.add({ seq: index + 1, at: 0, events })
  return chronicle
}

const exactly = (events: readonly unknown[]) => JSON.stringify(events)

describe('a value that a history has already', () => {
  it('is written once: what a step gives, the next is given, and the task returns', () => {
    const repeats = new ValueReferences()
    const requested = (id: number, input: Json) => ({ type: 'stepRequested', id, input }) as TaskEvent
    const [input, first, second] = [large('i'), { text: large('f') }, large('s')]
    const texts = [
      repeats.text([{ type: 'submitted', input } as TaskEvent, { type: 'started' }, requested(1, input)], 1, false),
      repeats.text([completed(1, first), requested(2, { ...first })], 2, false),
      repeats.text(
        [
          completed(2, second),
          { type: 'returned', output: second },
          { type: 'stopped', result: 'success', output: second },
        ],
        3,
        false,
      ),
    ]
    expect(bytes(texts)).toBeLessThan(3 * 600 + 700)
    const reader = new RecordReader()
    expect(texts.flatMap((text, index) => reader.events(text, index + 1))).toMatchObject([
      { input },
      { type: 'started' },
      { input },
      { output: first },
      { input: first },
      { output: second },
      { output: second },
      { output: second },
    ])
  })

  it('is read as it was written, to the order of its keys, whoever owned the task and wherever it began anew', () => {
    fc.assert(
      fc.property(history, (records) => {
        const texts = written(records)
        const reader = new RecordReader()
        for (const [index, { events }] of records.entries())
          expect(exactly(reader.events(texts[index] ?? '', index + 1))).toBe(exactly(events))
        const { base: from, events } = replayed(texts)
        const wanted = records.flatMap(({ events }, index) => (index === 0 || index + 1 >= from ? events : []))
        expect(exactly(events.map((it) => it.event))).toBe(exactly(wanted))
      }),
    )
  })

  it('is there in what is left of a history that lost its end, and what goes on from there may refer to it', () => {
    fc.assert(
      fc.property(history, fc.nat(), (records, cut) => {
        const left = records.slice(0, (cut % records.length) + 1)
        const texts = written(records).slice(0, left.length)
        const again = new ValueReferences(replayed(texts).before)
        const next: TaskEvent[] = [{ type: 'returned', output: left.at(-1)?.events.flatMap(outputs)[0] ?? null }]
        const chronicle = replayed([...texts, again.text(next, left.length + 1, false)])
        expect(exactly(chronicle.events.slice(-1).map(({ event }) => event))).toBe(exactly(next))
      }),
    )
  })

  it('counts towards the bounds of a history as often as it comes', () => {
    const texts = Array.from({ length: 9 }, () => completed(1, large('v')))
    const chronicle = new Chronicle()
    const repeats = new ValueReferences()
    let counted = 0
    for (const [index, event] of texts.entries()) {
      const text = repeats.text([event], index + 1, false)
      counted += text.length + repeats.repeated
      chronicle.add({ seq: index + 1, at: 0, events: text })
    }
    expect(counted).toBeGreaterThan(9 * 600)
    expect(chronicle.size).toBe(counted)
  })

  it('is what was written, whatever became of the object since', () => {
    const repeats = new ValueReferences()
    const output = { list: Array.from({ length: 300 }, () => 1) }
    const first = repeats.text([completed(1, output)], 1, false)
    output.list[0] = 2
    const second = repeats.text([{ type: 'returned', output }], 2, false)
    const reader = new RecordReader()
    expect(reader.events(first, 1)).toMatchObject([{ output: { list: output.list.with(0, 1) } }])
    expect(reader.events(second, 2)).toEqual([{ type: 'returned', output }])
  })

  it('costs nothing where it is small: the record is what it always was', () => {
    const events: TaskEvent[] = [completed(1, 'x'.repeat(500)), { type: 'returned', output: 'x'.repeat(500) }]
    expect(new ValueReferences().text(events, 1, false)).toBe(recordText(events))
  })

  it('is not kept for ever by who writes: the last eight are known', () => {
    const repeats = new ValueReferences()
    const texts = Array.from({ length: 9 }, (_, n) => `${n}${large('v')}`)
    for (const [index, output] of texts.entries()) repeats.text([completed(1, output)], index + 1, false)
    const size = (output = '') => repeats.text([{ type: 'returned', output }], 10, false).length
    expect(size(texts[8])).toBeLessThan(100)
    expect(size(texts[0])).toBeGreaterThan(600)
  })
})

describe('the place of an output, for the row of its task', () => {
  it('has that output, to the order of its keys, in a record that the task still has', () => {
    let places = 0
    fc.assert(
      fc.property(history, (records) => {
        const texts: string[] = []
        let repeats = new ValueReferences()
        let base = 1
        for (const [index, { events, takenOver }] of records.entries()) {
          if (takenOver) repeats = new ValueReferences(replayed(texts).before)
          const rebases = index > 0 && events.some(isBase)
          if (rebases) base = index + 1
          texts.push(repeats.text(events, index + 1, rebases))
          for (const output of events.flatMap(outputs)) {
            const place = repeats.place(output)
            if (place === null) continue
            places++
            const read = (record: number) => {
              expect(record).toBeGreaterThanOrEqual(base)
              return outlineIn(texts[record - 1] ?? '', record)
            }
            expect(outputAt(place, read)).toBe(JSON.stringify(output))
          }
        }
      }),
    )
    expect(places).toBeGreaterThan(10)
  })

  const after = (events: TaskEvent[], output: Json) => {
    const repeats = new ValueReferences()
    repeats.text(events, 1, false)
    return repeats.place(output)
  }

  it('is known of a large one that is written, and of no other', () => {
    expect(
      after(
        [
          { type: 'timerFired', id: 2 },
          { type: 'returned', output: long('o') },
        ],
        long('o'),
      ),
    ).toBe('@1.1.output')
    const numbers = Array.from({ length: 600 }, (_, n) => 1_000 + n)
    expect(after([completed(1, numbers)], numbers)).toBe('@1.0.output')
    expect(after([completed(1, long('o').slice(1))], long('o').slice(1))).toBeNull()
    expect(after([completed(1, long('o'))], long('p'))).toBeNull()
    expect(after([completed(1, JSON.stringify([long('o')]))], [long('o')])).toBeNull()
  })

  it('is not said where it is little of what its record has: whoever reads the row would read all of that', () => {
    const beside = (count: number) => Array.from({ length: count }, (_, n) => completed(n, `${n}${long('b')}`))
    expect(after([...beside(2), completed(9, long('o'))], long('o'))).toBe('@1.2.output')
    expect(after([...beside(4), completed(9, long('o'))], long('o'))).toBeNull()
    // Whoever took the task over knows that as well.
    const chronicle = new Chronicle()
    chronicle.add({ seq: 1, at: 0, events: recordText([...beside(4), completed(9, long('o'))]) })
    chronicle.add({ seq: 2, at: 0, events: recordText([completed(10, long('q'))]) })
    const repeats = new ValueReferences(chronicle.before)
    expect([repeats.place(long('o')), repeats.place(long('q'))]).toEqual([null, '@2.0.output'])
  })
})

describe('a reference', () => {
  const text = (reference: unknown) => `[1,{"type":"returned","output":null},[${JSON.stringify(reference)}]]`

  it.each([
    [[0, 'output', 1, 0, 'output', 9]],
    [[0, 'input', 0, 0, 'output', 9]],
    [[5, 'output', 0, 0, 'output', 9]],
    [[]],
    [['x']],
    [[0, 'output', 0, 0, 'output', 'x']],
  ])('to what is not there is said to be unreadable: %j', (reference) => {
    const why = { code: 'HISTORY_CORRUPT', details: { record: 2 } }
    expect(() => eventsIn(text(reference), 2)).toThrow(expect.objectContaining(why))
  })

  it('into another record is null for who only asks what happened', () => {
    expect(outlineIn(text([0, 'output', 1, 0, 'output', 9]), 2)).toEqual([{ type: 'returned', output: null }])
  })
})

function outputs(event: TaskEvent): Json[] {
  return 'output' in event && event.output !== undefined ? [event.output] : []
}
