import type { TaskEvent } from '../kernel/event.ts'
import type { Json } from '../kernel/json.ts'
import { LARGE_OUTPUT, placeText, type ValueLocation } from './output.ts'
import type { RecordReader } from './reader.ts'
import { type PayloadField, type PayloadReference, recordText } from './record.ts'

/** A large value of a history, and where it is written. */
interface WrittenValue extends ValueLocation {
  /** The value as it was written, a text or JSON: actions may change the object afterwards. */
  text: string
  isText: boolean
  /** Characters of the record that contains it. */
  within: number
}

/** The fields in which events keep the inputs and outputs of steps and tasks. */
const fields: { readonly [T in TaskEvent['type']]?: PayloadField } = {
  submitted: 'input',
  stepRequested: 'input',
  stepRetried: 'input',
  reset: 'input',
  continueAsNewRequested: 'input',
  continuedAsNew: 'input',
  stepCarried: 'output',
  stepCompleted: 'output',
  stepSkipped: 'output',
  childStopped: 'output',
  returned: 'output',
  stopped: 'output',
  signalReceived: 'payload',
  stepSignalled: 'payload',
}

/** Values with at least this many characters of JSON are not written twice. */
const LARGE = 512
/**
 * The row of a task refers to its output only if the record has at most this many characters for each of the output: a
 * reader of the row has to read that record.
 */
const MOST_AROUND = 4
/** How many values are remembered, those written or referred to last: an output is usually passed on to what comes next. */
const MOST = 8

/**
 * Writes the records of one history. A large value that is written in it already becomes a reference: the output of a
 * step is often the input of the next one, or the output of the task.
 */
export class ValueReferences {
  /** How many characters the references of the last record save. */
  repeated = 0
  /** Ordered by use, the latest at the end. */
  #known: WrittenValue[] = []

  /** `before`: the reader of the records that may be referred to. */
  constructor(before?: RecordReader) {
    if (!before) return
    for (const [record, events] of [...before.before].reverse()) {
      for (const value of largeIn(events, record).reverse()) {
        if (this.#find(value)) continue
        const { place, within } = before.origin(value)
        this.#known.unshift({ ...value, ...place, within })
      }
      if (this.#known.length >= MOST) break
    }
    this.#known = this.#known.slice(-MOST)
  }

  /** Returns the text of a record. `base`: replay begins with this record, and those before it may be dropped. */
  text(events: readonly TaskEvent[], record: number, base: boolean): string {
    if (base) this.#known = []
    this.repeated = 0
    const large = largeIn(events, record)
    if (large.length === 0) return recordText(events)
    const references: PayloadReference[] = []
    for (const value of large) {
      const known = this.#find(value)
      this.#use(known ?? value)
      if (!known) continue
      const from = known.record === record ? 0 : known.record
      this.repeated += value.text.length
      references.push([value.event, value.field, from, known.event, known.field, value.text.length])
    }
    const text = recordText(events, references)
    for (const value of large) value.within = text.length
    return text
  }

  /**
   * Returns where the task's output is written after the last record, for its row to refer to; null if the output is
   * not large, is not written, or is only a small part of its record.
   */
  place(output: Json): string | null {
    if (!isLarge(output)) return null
    const isText = typeof output === 'string'
    const text = isText ? output : JSON.stringify(output)
    const known = text.length < LARGE_OUTPUT ? undefined : this.#find({ text, isText })
    if (!known || known.within > MOST_AROUND * text.length) return null
    return placeText(known)
  }

  #find({ text, isText }: Pick<WrittenValue, 'text' | 'isText'>): WrittenValue | undefined {
    return this.#known.find((known) => known.text === text && known.isText === isText)
  }

  #use(value: WrittenValue): void {
    this.#known = [...this.#known.filter((one) => one !== value), value].slice(-MOST)
  }
}

const NONE: WrittenValue[] = []

function largeIn(events: readonly TaskEvent[], record: number): WrittenValue[] {
  let found: WrittenValue[] | null = null
  let event = -1
  for (const it of events) {
    event++
    const field = fields[it.type]
    if (field === undefined) continue
    const value = (it as { readonly [F in PayloadField]?: Json })[field]
    if (value === undefined || !isLarge(value)) continue
    const isText = typeof value === 'string'
    const text = isText ? value : JSON.stringify(value)
    if (text.length < LARGE) continue
    found ??= []
    found.push({ record, event, field, text, isText, within: 0 })
  }
  return found ?? NONE
}

function isLarge(value: Json): boolean {
  if (typeof value === 'string') return value.length >= LARGE
  return typeof value === 'object' && value !== null && atLeast(value, LARGE) >= LARGE
}

/**
 * Returns a lower bound of the characters of the value's JSON; stops counting at `enough`. Every small value passes
 * here, so it allocates nothing.
 */
function atLeast(value: Json, enough: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 1
  let size = 1
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && size < enough; index++)
      size += 1 + atLeast(value[index] ?? null, enough - size)
    return size
  }
  for (const key in value) {
    if (size >= enough) break
    size += key.length + 4 + atLeast(value[key] ?? null, enough - size)
  }
  return size
}
