import type { TriarchError } from '../error/error.ts'
import type { TaskEvent } from '../kernel/event.ts'
import type { Json } from '../kernel/json.ts'
import { isVeiled, unveil } from '../kernel/veiled.ts'
import { callsOf } from './deadline.ts'
import { legible } from './legible.ts'
import type { StateStore, TaskRow } from './port.ts'
import { outlineIn, type PayloadField, unreadable } from './record.ts'

/** Characters of JSON from which on an output is not in the row of its task: about there, a database has pages of their own for it. */
export const LARGE_OUTPUT = 2_048

/** Where a value stands in a history: in which record, at which of its events, in which field. */
export interface Place {
  record: number
  event: number
  field: PayloadField
}

/**
 * What the row says in place of a large output: where in the history it stands. `@4.0.output` is "record 4 has it in event 0, as
 * its output". No JSON begins so: whoever does not know of places takes it for damage, and never for a value.
 */
export function placeText({ record, event, field }: Place): string {
  return `@${record}.${event}.${field}`
}

export function isPlace(text: string): boolean {
  return text.startsWith('@')
}

const PLACE = /^@([1-9]\d*)\.(\d+)\.(input|output|payload)$/

/** The store, with rows whose outputs are all there, for whoever reads them. Around the codecs: a record is encoded as a whole. */
export function withOutputs(store: StateStore): StateStore {
  return {
    ...callsOf(store),
    async task(id) {
      const row = await store.task(id)
      return row && whole(row)
    },
    async list(query) {
      const { rows, looked } = await store.list(query)
      return { rows: rows.map(query.brief ? unveiled : whole), looked }
    },
  }
}

/** One whose record is gone or cannot be read costs nothing but its own output: what it says stays, and is no JSON. */
function whole(row: TaskRow): TaskRow {
  const { outputIn, ...rest } = row
  const { output } = row
  if (output === null || !isPlace(output)) return unveiled(rest)
  try {
    return { ...rest, output: outputAt(output, (record) => (outputIn ? outlineIn(outputIn, record) : [])) }
  } catch (error) {
    return { undecoded: error as TriarchError, ...rest }
  }
}

/** The row with its output, and what of that may be shown beside it, where something of it is secret. */
function unveiled(row: TaskRow): TaskRow {
  const { output } = row
  const veiled = output !== null && isVeiled(output) ? legible(output) : undefined
  return veiled === undefined
    ? row
    : { ...row, output: JSON.stringify(unveil(veiled as Json).value), veiled: output as string }
}

/** The output that stands there, as JSON. Throws HISTORY_CORRUPT, and what reading the record throws. */
export function outputAt(text: string, read: (record: number) => readonly TaskEvent[]): string {
  const [, record, event, field] = PLACE.exec(text) ?? []
  const found = read(Number(record))[Number(event)] as { [F in PayloadField]?: Json } | undefined
  const value = found?.[field as PayloadField]
  if (value === undefined) throw unreadable(Number(record))
  return JSON.stringify(value)
}
