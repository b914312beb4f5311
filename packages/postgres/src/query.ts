import type pg from 'pg'
import { TriarchError } from 'triarch'

export type Row = readonly (string | number | boolean | null)[]

export interface Question {
  /** Prepared under it, once a connection; absent: it is parsed each time. */
  name?: string
  /** Without values and name it may be several statements. */
  text: string
  values?: readonly unknown[]
}

type Told = (error: Error | null, rows?: Row[]) => void
type Read = (text: string) => string | number | boolean

const asText: Read = (text) => text
const asNumber: Read = Number
const asTruth: Read = (text) => text === 't'

/** Wire formats we ask for: whole numbers are numbers, truth is true, all else is text. */
export function readerOf(type: number): Read {
  return type === 20 || type === 23 ? asNumber : type === 16 ? asTruth : asText
}

/** How the columns of each prepared statement's answer are read. */
const known = new WeakMap<pg.Connection, Map<string, readonly Read[]>>()

/**
 * A question as the driver takes them from others than itself (`pg-cursor` is another). Its own copies what it is given property by property,
 * has the answer described each time, and makes an object of its columns: as much work as the call itself. The answer to what is prepared
 * is the same each time, so it is described once a connection. Source: PostgreSQL, frontend/backend protocol, "Extended Query".
 */
export class Query implements pg.Submittable {
  readonly name: string
  readonly text: string
  /** The driver puts another in its place, for the `query_timeout` of a connection. */
  callback: Told
  readonly #values: readonly (string | Buffer | null)[]
  readonly #rows: Row[] = []
  #columns: readonly Read[] = []
  /** What is described of it is kept there. */
  #describes: Map<string, readonly Read[]> | null = null

  /** Throws STORE_FAILED for a value that has no form of its own. */
  constructor({ name = '', text, values = [] }: Question, told: Told) {
    this.name = name
    this.text = text
    this.callback = told
    this.#values = values.map(wired)
  }

  submit(connection: pg.Connection): void {
    const { stream } = connection
    // One packet, and one wake of the server.
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
    // How many rows it is about nobody asks.
  }
}

/** What the driver's types leave out. */
type Extended = pg.Connection & {
  /** Under which name which text is prepared, and which is on its way there. The driver clears what came to nothing. */
  parsedStatements: Record<string, string | undefined>
  submittedNamedStatements: Record<string, string | undefined>
  parse(message: { name: string; text: string }): void
  bind(message: { statement: string; values: readonly (string | Buffer | null)[] }): void
  describe(message: { type: 'P' }): void
  execute(): void
}

function columnsOf(connection: pg.Connection): Map<string, readonly Read[]> {
  const columns = known.get(connection) ?? new Map<string, readonly Read[]>()
  known.set(connection, columns)
  return columns
}

/** As it goes over the wire: what is bytes as such, all else as text. */
function wired(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || value instanceof Buffer) return value
  if (typeof value === 'object' || typeof value === 'function' || typeof value === 'symbol')
    throw new TriarchError('STORE_FAILED', `a parameter is no text, number or truth, but ${typeof value}`)
  return String(value)
}
