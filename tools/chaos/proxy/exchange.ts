// What a client asks for up to a point of synchronisation, what the server answers, and whether that made something durable.
import { type Frame, textsOf } from './frame.ts'

export interface Statement {
  /** Of a prepared statement; may be empty. */
  name: string
  sql: string
}

/** Idle, in a transaction, in a failed one: as the server says it. */
export type Status = 'I' | 'T' | 'E'

export interface Exchange {
  /** How the connection stood when the server began to answer. */
  before: Status
  statements: Statement[]
  tags: string[]
  failed: boolean
}

/** Reads along one connection: which statements each exchange holds, and how it ends. */
export class Conversation {
  readonly #prepared = new Map<string, string>()
  #asking: Statement[] = []
  /** Asked and not fully answered, oldest first. Being let in is the first. */
  readonly #open: Exchange[] = [exchange([])]
  #status: Status = 'I'

  asks({ type, body }: Frame): void {
    if (type === 'Q') this.#open.push(exchange([{ name: '', sql: textsOf(body, 1)[0] ?? '' }]))
    if (type === 'P') {
      const [name = '', sql = ''] = textsOf(body, 2)
      this.#prepared.set(name, sql)
    }
    if (type === 'B') {
      const [, name = ''] = textsOf(body, 2)
      this.#asking.push({ name, sql: this.#prepared.get(name) ?? '' })
    }
    if (type === 'S') this.#open.push(exchange(this.#asking.splice(0)))
  }

  /** The exchange a message of the server's belongs to. */
  get current(): Exchange | undefined {
    const first = this.#open[0]
    if (first) first.before = this.#status
    return first
  }

  /** The exchange that this message of the server's ends, or null. */
  answers({ type, body }: Frame): { exchange: Exchange; after: Status } | null {
    const current = this.current
    if (!current) return null
    if (type === 'C') current.tags.push(textsOf(body, 1)[0] ?? '')
    if (type === 'E') current.failed = true
    if (type !== 'Z') return null
    this.#open.shift()
    this.#status = body.toString('latin1', 0, 1) as Status
    return { exchange: current, after: this.#status }
  }
}

function exchange(statements: Statement[]): Exchange {
  return { before: 'I', statements, tags: [], failed: false }
}

/** Names of functions that write, so that calling them is writing: `schema.name`. */
export type Writers = ReadonlySet<string>

/** Whether the answer may turn out to be that of a commit. */
export function mayCommit({ before, statements }: Exchange, writers: Writers): boolean {
  return statements.some(({ sql }) => ends(sql) || (before === 'I' && writes(sql, writers)))
}

/** The statement that made something durable, once the server has answered; null: none did. */
export function committed(exchange: Exchange, after: Status, writers: Writers): Statement | null {
  const { before, statements, tags, failed } = exchange
  if (failed || after !== 'I') return null
  // A COMMIT of a transaction that had failed is answered with ROLLBACK.
  if (tags.includes('COMMIT')) return statements.find(({ sql }) => ends(sql)) ?? null
  // A function that found nothing to do, and so answered nothing, wrote nothing.
  if (before !== 'I' || tags.every((tag) => tag === 'SELECT 0')) return null
  return statements.find(({ sql }) => writes(sql, writers)) ?? null
}

function ends(sql: string): boolean {
  return /(?:^|;)\s*(?:commit|end)\b/i.test(bare(sql))
}

/** A statement on its own is a transaction of its own: if it writes, its end is a commit. */
function writes(sql: string, writers: Writers): boolean {
  const text = bare(sql).replace(/\bfor\s+(?:no\s+key\s+)?update\b/gi, '')
  const verb = /\b(?:insert\s+into|update|delete\s+from|merge\s+into|create|alter|drop|truncate)\b/i
  return verb.test(text) || calls(text).some((name) => writers.has(name))
}

function calls(sql: string): string[] {
  return [...sql.matchAll(/"?(\w+)"?\.(\w+)\s*\(/g)].map(([, schema, name]) => `${schema}.${name}`)
}

function bare(sql: string): string {
  return sql
    .replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')
    .replace(/'(?:[^']|'')*'/g, "''")
    .trim()
}
