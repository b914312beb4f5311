import type { TaskEvent } from '../kernel/event.ts'
import type { Json } from '../kernel/json.ts'
import { LARGE_OUTPUT, type Place, placeText } from './output.ts'
import type { RecordReader } from './reader.ts'
import { type PayloadField, type Reference, recordText } from './record.ts'

/** A large value of a history, and where it stands. */
interface Written extends Place {
  /** As it was written, be it a text or JSON: actions may do to the object what they like. */
  text: string
  isText: boolean
  /** Characters of the whole record. */
  within: number
}

/** Where events keep what steps and tasks hand on. */
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

/** Characters of JSON from which on a value is not written again. */
const LARGE = 512
/** Characters of a record, for each of an output in it: whoever reads a row has to read no more than that instead. */
const MOST_AROUND = 4
/** So many values are known again, those that were written or referred to last: an output is handed on to what comes next. */
const MOST = 8

/**
 * Writes the records of one history. A large value that stands in it already is referred to: what a step gave is what the next one
 * is given, or what the task returns.
 */
export class ValueReferences {
  /** Characters that the last record would have more if it had all values itself. */
  repeated = 0
  /** The one used last at the end. */
  #known: Written[] = []

  /** `before`: who has read the records that may be referred to. */
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

  /** `base`: replay begins with this record, and what is before it may be dropped. */
  text(events: readonly TaskEvent[], record: number, base: boolean): string {
    if (base) this.#known = []
    this.repeated = 0
    const large = largeIn(events, record)
    if (large.length === 0) return recordText(events)
    const references: Reference[] = []
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
   * Where the output stands that the task has after the last record, for its row to say that instead; null: it is not large, or is nowhere,
   * or is little of what is written there.
   */
  place(output: Json): string | null {
    if (!isLarge(output)) return null
    const isText = typeof output === 'string'
    const text = isText ? output : JSON.stringify(output)
    const known = text.length < LARGE_OUTPUT ? undefined : this.#find({ text, isText })
    if (!known || known.within > MOST_AROUND * text.length) return null
    return placeText(known)
  }

  #find({ text, isText }: Pick<Written, 'text' | 'isText'>): Written | undefined {
    return this.#known.find((known) => known.text === text && known.isText === isText)
  }

  #use(value: Written): void {
    this.#known = [...this.#known.filter((one) => one !== value), value].slice(-MOST)
  }
}

const NONE: Written[] = []

function largeIn(events: readonly TaskEvent[], record: number): Written[] {
  let found: Written[] | null = null
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

/** Characters that the JSON of the value has at least; it is looked no further once there are so many. Each small value passes here: nothing is allocated. */
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
