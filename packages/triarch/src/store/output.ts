import type { TriarchError } from '../error/error.ts'
import type { TaskEvent } from '../kernel/event.ts'
import type { Json } from '../kernel/json.ts'
import { isVeiled, unveil } from '../kernel/veiled.ts'
import { callsOf } from './deadline.ts'
import { legible } from './legible.ts'
import type { StateStore, TaskRow } from './port.ts'
import { outlineIn, type PayloadField, unreadable } from './record.ts'

/**
 * Outputs with at least this many characters of JSON are not stored in the row of their task: from about this size, a
 * database stores a value on pages of its own.
 */
export const LARGE_OUTPUT = 2_048

/** Where a value is written in a history: the record, the event in it, and the field. */
export interface ValueLocation {
  record: number
  event: number
  field: PayloadField
}

/**
 * Returns the text that the row has in place of a large output: where in the history it is written. `@4.0.output` means
 * "record 4 has it in event 0, as its output". JSON never begins with `@`, so a reader that does not know such
 * references reports damage instead of taking it for a value.
 */
export function placeText({ record, event, field }: ValueLocation): string {
  return `@${record}.${event}.${field}`
}

export function isPlace(text: string): boolean {
  return text.startsWith('@')
}

const PLACE = /^@([1-9]\d*)\.(\d+)\.(input|output|payload)$/

/**
 * Wraps the store so that references to outputs are replaced by the outputs. It is outside the codecs, because a record
 * is encoded as a whole.
 */
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

/**
 * Resolves the output of a row. If its record is gone or cannot be read, only this output is affected: the reference
 * stays, which is not JSON.
 */
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

/**
 * If part of the output is secret, returns the row with the value as `output`, and the stored text, which also contains
 * what may be shown, as `veiled`.
 */
function unveiled(row: TaskRow): TaskRow {
  const { output } = row
  const veiled = output !== null && isVeiled(output) ? legible(output) : undefined
  return veiled === undefined
    ? row
    : { ...row, output: JSON.stringify(unveil(veiled as Json).value), veiled: output as string }
}

/** Returns the output at this place, as JSON. Throws HISTORY_CORRUPT, and what reading the record throws. */
export function outputAt(text: string, read: (record: number) => readonly TaskEvent[]): string {
  const [, record, event, field] = PLACE.exec(text) ?? []
  const found = read(Number(record))[Number(event)] as { [F in PayloadField]?: Json } | undefined
  const value = found?.[field as PayloadField]
  if (value === undefined) throw unreadable(Number(record))
  return JSON.stringify(value)
}
