import type pg from 'pg'
import { TriarchError } from 'triarch'

export type Row = readonly (string | number | boolean | null)[]

export interface Question {
  /** The statement is prepared under this name once a connection; without one it is parsed each time. */
  name?: string
  /** May hold several statements if it has neither values nor a name. */
  text: string
  values?: unknown[]
}

type QueryCallback = (error: Error | null, rows?: Row[]) => void
type ColumnReader = (text: string) => string | number | boolean

const asText: ColumnReader = (text) => text
const asNumber: ColumnReader = Number
const asTruth: ColumnReader = (text) => text === 't'

/** How a column of this type is read: int4 and int8 as numbers, bool as a boolean, all others as text. */
export function readerOf(type: number): ColumnReader {
  return type === 20 || type === 23 ? asNumber : type === 16 ? asTruth : asText
}

/** For each connection, the readers of the columns of its prepared statements, by name. */
const readersOfConnection = new WeakMap<pg.Connection, Map<string, readonly ColumnReader[]>>()

/**
 * A query that sends the messages of the extended protocol itself, as `pg-cursor` does, and requests the description of
 * a prepared statement's answer once per connection. The driver's own query requests it for each answer, makes an
 * object of its columns and copies its settings property by property: with it a round trip across processes takes a
 * third longer (docs/performance.md).
 * Source: PostgreSQL, frontend/backend protocol, "Extended Query".
 */
export class Query implements pg.Submittable {
  readonly name: string
  readonly text: string
  /** The driver replaces it if the connection has a `query_timeout`. */
  callback: QueryCallback
  readonly #values: readonly (string | Buffer | null)[]
  readonly #rows: Row[] = []
  #columns: readonly ColumnReader[] = []
  /** The map in which the description of the answer is kept; null: it is not kept. */
  #describes: Map<string, readonly ColumnReader[]> | null = null

  /** Throws STORE_FAILED for a value that has no wire form. */
  constructor({ name = '', text, values = [] }: Question, callback: QueryCallback) {
    this.name = name
    this.text = text
    this.callback = callback
    this.#values = values.map(wired)
  }

  submit(connection: pg.Connection): void {
    const { stream } = connection
    // All messages leave in one packet, and wake the server once.
    stream.cork()
    if (this.name === '' && this.#values.length === 0) connection.query(this.text)
    else this.#ask(connection as Extended)
    stream.uncork()
  }

  #ask(connection: Extended): void {
    const { name, text } = this
    const { parsedStatements: parsed, submittedNamedStatements: sent } = connection
    if (name === '' || (parsed[name] === undefined && sent[name] === undefined)) {
      connection.parse({ name, text })
      if (name !== '') sent[name] = text
    }
    connection.bind({ statement: name, values: this.#values })
    const columns = name === '' ? undefined : columnsOf(connection).get(name)
    if (columns) this.#columns = columns
    else {
      if (name !== '') this.#describes = columnsOf(connection)
      connection.describe({ type: 'P' })
    }
    connection.execute()
    connection.sync()
  }

  handleRowDescription({ fields }: { fields: readonly { dataTypeID: number }[] }): void {
    this.#columns = fields.map(({ dataTypeID }) => readerOf(dataTypeID))
    this.#describes?.set(this.name, this.#columns)
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const row: (string | number | boolean | null)[] = fields
    for (let at = 0; at < fields.length; at++) {
      const text = fields[at]
      if (typeof text === 'string') row[at] = (this.#columns[at] ?? asText)(text)
    }
    this.#rows.push(row)
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#rows)
  }

  handleError(error: Error): void {
    this.callback(error)
  }

  handleCommandComplete(): void {
    // The number of rows is not used.
  }
}

/** Members of the driver's connection that its types do not declare. */
type Extended = pg.Connection & {
  /** Statement texts by name: prepared ones, and those sent to be prepared. The driver removes a name whose statement failed. */
  parsedStatements: Record<string, string | undefined>
  submittedNamedStatements: Record<string, string | undefined>
  parse(message: { name: string; text: string }): void
  bind(message: { statement: string; values: readonly (string | Buffer | null)[] }): void
  describe(message: { type: 'P' }): void
  execute(): void
}

function columnsOf(connection: pg.Connection): Map<string, readonly ColumnReader[]> {
  const columns = readersOfConnection.get(connection) ?? new Map<string, readonly ColumnReader[]>()
  readersOfConnection.set(connection, columns)
  return columns
}

/** The wire form of a parameter: bytes as they are, all others as text. */
function wired(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || value instanceof Buffer) return value
  if (typeof value === 'object' || typeof value === 'function' || typeof value === 'symbol')
    throw new TriarchError('STORE_FAILED', `a parameter is neither text, number nor boolean, but ${typeof value}`)
  return String(value)
}
