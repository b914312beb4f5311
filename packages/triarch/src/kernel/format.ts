import type { TaskEvent } from './event.ts'

/** How the events of a record are written: 1 as the first releases did, 2 under the names that they have in the code. */
export type Format = 1 | 2

/** What format 1 calls the types of events that had other names then. No name means something else today. */
const types = {
  antecedentStopped: 'predecessorStopped',
  batchMoved: 'batchAdvanced',
  continued: 'continuedAsNew',
  continuedAs: 'continueAsNewRequested',
  eventReceived: 'signalReceived',
  keysRequested: 'locksRequested',
  locked: 'lockGranted',
  rewound: 'reset',
  stepParked: 'plannedStepFailed',
  unheeded: 'messageIgnored',
  unwinding: 'closing',
  withdrawn: 'waitCancelled',
} as const satisfies Record<string, TaskEvent['type']> & { readonly [T in TaskEvent['type']]?: never }

/** What it calls their fields, by the types of today. */
const fields = {
  continuedAsNew: { pending: 'pendingSignals', anew: 'fromStart', held: 'locksHeld' },
  stepRetried: { keep: 'keepSignal' },
  stepSignalled: { alarm: 'selfSignalAt', kept: 'queued' },
  stepSkipped: { along: 'cascade' },
  stepSuspended: { alarms: 'selfSignals', wary: 'notifyOnCancel' },
  submitted: { life: 'incarnation' },
  waitCancelled: { event: 'signal' },
} as const satisfies {
  readonly [E in TaskEvent as E['type']]?: Record<string, Exclude<keyof E, 'type'>> & {
    readonly [F in keyof E]?: never
  }
}

type Names = ReadonlyMap<string, string>

/** An event as it is stored, in whatever format. */
export type StoredEvent = { readonly type: string }

const typeNow: Names = new Map(Object.entries(types))
const typeThen: Names = inverse(typeNow)
const fieldsNow: ReadonlyMap<string, Names> = new Map(
  Object.entries(fields).map(([type, names]) => [type, new Map(Object.entries(names))]),
)
const fieldsThen: ReadonlyMap<string, Names> = new Map([...fieldsNow].map(([type, names]) => [type, inverse(names)]))

/** The event of a record of format 1, as the code knows it. */
export function fromFormat1(event: StoredEvent): TaskEvent {
  const type = typeNow.get(event.type) ?? event.type
  return renamed(event, type, fieldsNow.get(type)) as TaskEvent
}

/** The same event for a record of format 1. */
export function toFormat1(event: TaskEvent): StoredEvent {
  return renamed(event, typeThen.get(event.type) ?? event.type, fieldsThen.get(event.type))
}

/** In the order that it has: what is written must not differ from what the code of that format writes. */
function renamed(event: StoredEvent, type: string, names: Names | undefined): StoredEvent {
  if (!names) return type === event.type ? event : { ...event, type }
  const entries = Object.entries(event).map(([name, value]) => [names.get(name) ?? name, value])
  return { ...Object.fromEntries(entries), type }
}

function inverse(names: Names): Names {
  return new Map([...names].map(([then, now]) => [now, then]))
}
