import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TaskEvent } from '../../src/kernel/event.ts'
import { fromFormat1, type StoredEvent, toFormat1 } from '../../src/kernel/format.ts'
import { withFormat } from '../../src/store/formatted.ts'
import type { NewTask, StateStore, Transition } from '../../src/store/port.ts'
import { eventsIn, inFormat1, recordText } from '../../src/store/record.ts'
import { newTask, transition } from './samples.ts'

/** Types and fields of format 1 that have other names now. */
const types = {
  before: [
    'eventReceived',
    'unwinding',
    'rewound',
    'continued',
    'continuedAs',
    'stepParked',
    'withdrawn',
    'unheeded',
    'keysRequested',
    'locked',
    'antecedentStopped',
    'batchMoved',
  ],
  always: [
    'submitted',
    'stepSkipped',
    'stepSuspended',
    'stepSignalled',
    'stepRetried',
    'started',
    'heartbeat',
    'paused',
    'stopped',
    'lockReleased',
    'constructor',
  ],
  now: [
    'signalReceived',
    'closing',
    'reset',
    'continuedAsNew',
    'continueAsNewRequested',
    'plannedStepFailed',
    'waitCancelled',
    'messageIgnored',
    'locksRequested',
    'lockGranted',
    'predecessorStopped',
    'batchAdvanced',
  ],
}
const fields = {
  before: ['pending', 'anew', 'held', 'along', 'alarms', 'wary', 'alarm', 'kept', 'keep', 'event', 'life'],
  always: ['id', 'name', 'payload', 'until', 'attempt', 'error', 'toString'],
  now: [
    'pendingSignals',
    'fromStart',
    'locksHeld',
    'cascade',
    'selfSignals',
    'notifyOnCancel',
    'selfSignalAt',
    'queued',
    'keepSignal',
    'signal',
    'incarnation',
  ],
}
const eventsOf = (type: readonly string[], field: readonly string[]) =>
  fc
    .tuple(
      fc.constantFrom(...type),
      fc.dictionary(fc.constantFrom(...field), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 6 }),
    )
    .map(([type, rest]) => JSON.parse(JSON.stringify({ ...rest, type })) as StoredEvent)

describe('a history record', () => {
  it('says its format, and gives back the events it was made of', () => {
    const events: TaskEvent[] = [{ type: 'started' }, { type: 'timerFired', id: 1 }]
    expect(recordText(events)).toBe('[2,{"type":"started"},{"type":"timerFired","id":1}]')
    expect(eventsIn(recordText(events), 1)).toEqual(events)
    expect(eventsIn(recordText([]), 1)).toEqual([])
  })

  it('of format 1 is read under the names of today', () => {
    const text = JSON.stringify([
      { type: 'eventReceived', name: 'e', payload: 1 },
      { type: 'continued', input: 1, nextId: 3, pending: [], anew: true, held: true },
      { type: 'stepSuspended', id: 1, alarms: [], wary: true },
      { type: 'stepCompleted', id: 1, output: { type: 'locked', along: 1 } },
    ])
    expect(eventsIn(text, 1)).toEqual([
      { type: 'signalReceived', name: 'e', payload: 1 },
      { type: 'continuedAsNew', input: 1, nextId: 3, pendingSignals: [], fromStart: true, locksHeld: true },
      { type: 'stepSuspended', id: 1, selfSignals: [], notifyOnCancel: true },
      { type: 'stepCompleted', id: 1, output: { type: 'locked', along: 1 } },
    ])
  })

  it('tells of an error under the code of today, and to format 1 under the one that it knows', () => {
    const error = (code: string, name = 'TriarchError') => ({ name, code, message: 'no' })
    const stopped = (code: string) => ({ type: 'stopped', result: 'error', error: error(code) })
    const caused = (code: string) => ({ type: 'threw', error: { ...error('E1', 'Error'), cause: error(code) } })
    const others = [
      { type: 'stepFailed', id: 1, error: error('MAILBOX_FULL', 'SmtpError') },
      { type: 'stepCompleted', id: 2, output: { error: error('MAILBOX_FULL') } },
      { type: 'stepFailed', id: 3, error: 'nothing of ours' },
    ]
    const then = [stopped('ANTECEDENT_FAILED'), caused('LETTER_CORRUPT'), ...others]
    const now = [stopped('PREDECESSOR_FAILED'), caused('MESSAGE_CORRUPT'), ...others]
    expect(eventsIn(JSON.stringify(then), 1)).toEqual(now)
    expect(eventsIn(JSON.stringify([2, ...then]), 1)).toEqual(now)
    expect(JSON.parse(inFormat1(JSON.stringify([2, ...now])))).toEqual(then)
  })

  it('of format 1 is the same text again, whatever its events are', () => {
    fc.assert(
      fc.property(
        fc.array(eventsOf([...types.before, ...types.always], [...fields.before, ...fields.always])),
        (events) => {
          const text = JSON.stringify(events)
          expect(inFormat1(recordText(eventsIn(text, 1)))).toBe(text)
          expect(inFormat1(text)).toBe(text)
        },
      ),
    )
  })

  it('loses nothing on its way to format 1 and back', () => {
    fc.assert(
      fc.property(eventsOf([...types.now, ...types.always], [...fields.now, ...fields.always]), (event) => {
        const then = toFormat1(event as TaskEvent)
        expect(types.now).not.toContain(then.type)
        expect(JSON.stringify(fromFormat1(then))).toBe(JSON.stringify(event))
      }),
    )
  })

  it.each(['[4,{"type":"started"}]', '[1]', '[0]', '[2.5]', '[1e9,"x"]'])(
    'of a format nobody knows is said to be one: %s',
    (text) => {
      const found = JSON.parse(text)[0]
      expect(() => eventsIn(text, 7)).toThrow(
        expect.objectContaining({ code: 'HISTORY_FORMAT_UNKNOWN', details: { record: 7, found, known: 3 } }),
      )
    },
  )

  it.each([
    '',
    '{}',
    'null',
    '2',
    '["x"]',
    '[2,1]',
    '[3,{"type":"started"}]',
    '[3,[1]]',
    '[2,{"id":1}]',
    '[null]',
    '[{"type":1}]',
  ])('that is none is said to be unreadable: %s', (text) => {
    const why = { code: 'HISTORY_CORRUPT', details: { record: 7 } }
    expect(() => eventsIn(text, 7)).toThrow(expect.objectContaining(why))
  })
})

describe('a store that is written in format 1', () => {
  const now = recordText([{ type: 'signalReceived', name: 'e', payload: 1 }])
  const then = '[{"type":"eventReceived","name":"e","payload":1}]'
  const task = (events: string): NewTask => ({ ...newTask('t'), events })
  const turn = (events: string): Transition => ({
    ...transition({ key: 1, id: 't', epoch: 1 }),
    events,
    children: [task(events)],
  })
  const calls = (events: string) => ({
    commit: [[turn(events), { ...turn(events), events: null }]],
    submit: [[task(events)], { id: 'a', at: 1 }],
    submitIn: ['transaction', [task(events)]],
    writeSchedule: [{ name: 's', tasks: [task(events)] }],
    quarantine: [{ id: 't', record: { events, pause: null } }],
    terminate: [{ id: 't', events }],
    cut: [{ id: 't', events }],
  })

  it.each([
    [1, then],
    [2, now],
  ] as const)('or in format %i is given all records so, and nothing else is changed', async (format, expected) => {
    const got: Record<string, unknown[]> = {}
    const names = Object.keys(calls(now)) as (keyof ReturnType<typeof calls>)[]
    const stub = Object.fromEntries(
      names.map((name) => [name, (...args: unknown[]) => void Object.assign(got, { [name]: args })]),
    )
    const store = withFormat({ ...stub, open: async () => undefined, format: () => format } as unknown as StateStore)
    await store.open()
    for (const [name, args] of Object.entries(calls(now)))
      (store as unknown as Record<string, (...args: unknown[]) => unknown>)[name]?.(...args)
    expect(got).toEqual(calls(expected))
  })
})
