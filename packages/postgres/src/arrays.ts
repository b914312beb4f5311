import { TriarchError } from 'triarch'

// Arrays in PostgreSQL's binary form: nothing has to be escaped here or parsed by the server. A header (number of
// dimensions, whether there are nulls, type of the elements, length, first index), then each element after its length.

const HEADER = 20
const NULL = -1
const [BOOL, INT8, TEXT] = [16, 20, 25]
const EMPTY = { bool: empty(BOOL), int8: empty(INT8), text: empty(TEXT) }

/** Encodes a number of each item. The loops count because an iterator allocates an object for each element. */
export function integers(values: readonly (number | null | undefined)[]): Buffer
export function integers<T>(items: readonly T[], of: (item: T) => number | null | undefined): Buffer
export function integers<T>(items: readonly T[], of: (item: T) => unknown = (it) => it): Buffer {
  if (items.length === 0) return EMPTY.int8
  const buffer = Buffer.allocUnsafe(HEADER + items.length * 12)
  let at = writeHeader(buffer, INT8, items.length)
  for (let index = 0; index < items.length; index++) {
    const value = of(items[index] as T)
    if (value === null || value === undefined) {
      at = buffer.writeInt32BE(NULL, at)
      continue
    }
    if (!isWhole(value)) throw new TriarchError('STORE_FAILED', `${value} is no whole number`)
    at = buffer.writeInt32BE(8, at)
    at = buffer.writeInt32BE(Math.floor(value / 0x1_0000_0000), at)
    at = buffer.writeUInt32BE(value >>> 0, at)
  }
  return buffer.subarray(0, at)
}

/** Encodes a string of each item. */
export function texts(values: readonly (string | null | undefined)[]): Buffer
export function texts<T>(items: readonly T[], of: (item: T) => string | null | undefined): Buffer
export function texts<T>(items: readonly T[], of?: (item: T) => string | null | undefined): Buffer {
  if (items.length === 0) return EMPTY.text
  const values = of ? items.map(of) : (items as readonly unknown[] as readonly string[])
  let size = HEADER + values.length * 4
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    if (typeof value === 'string') size += Buffer.byteLength(value)
  }
  const buffer = Buffer.allocUnsafe(size)
  let at = writeHeader(buffer, TEXT, values.length)
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    if (value === null || value === undefined) at = buffer.writeInt32BE(NULL, at)
    else {
      const written = buffer.write(value, at + 4)
      buffer.writeInt32BE(written, at)
      at += 4 + written
    }
  }
  return buffer
}

/** Encodes a boolean of each item. */
export function booleans(values: readonly boolean[]): Buffer
export function booleans<T>(items: readonly T[], of: (item: T) => boolean): Buffer
export function booleans<T>(items: readonly T[], of: (item: T) => unknown = (it) => it): Buffer {
  if (items.length === 0) return EMPTY.bool
  const buffer = Buffer.allocUnsafe(HEADER + items.length * 5)
  let at = writeHeader(buffer, BOOL, items.length)
  for (let index = 0; index < items.length; index++) {
    at = buffer.writeInt32BE(1, at)
    at = buffer.writeUInt8(of(items[index] as T) ? 1 : 0, at)
  }
  return buffer
}

/** Returns an array in text form, for elements of any type. */
export function literal(values: readonly (string | number | null)[]): string {
  const elements = values.map((it) => (it === null ? 'NULL' : `"${String(it).replace(/[\\"]/g, '\\$&')}"`))
  return `{${elements.join()}}`
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function empty(type: number): Buffer {
  const buffer = Buffer.alloc(12)
  writeHeader(buffer, type, 0)
  return buffer
}

function writeHeader(buffer: Buffer, type: number, length: number): number {
  let at = buffer.writeInt32BE(length === 0 ? 0 : 1, 0)
  at = buffer.writeInt32BE(1, at) // there may be nulls
  at = buffer.writeInt32BE(type, at)
  if (length === 0) return at
  at = buffer.writeInt32BE(length, at)
  return buffer.writeInt32BE(1, at)
}
