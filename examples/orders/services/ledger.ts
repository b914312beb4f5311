// A service's own durable memory, and the evidence for the judge: what was asked of it and what it did.
// It shares nothing with the engine's store; that is the whole difficulty the engine is there to solve.
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Something that took place. An undo is an effect as well, one that names the effect it takes back. */
export interface Effect {
  key: string
  kind: string
  orderId: string
  id: string
  undoes: string | null
  at: number
  input: Record<string, unknown>
  output: Record<string, unknown>
}

/** A request received, whatever became of it. A status of null: it was left without an answer. */
export interface Receipt {
  kind: string
  key: string
  orderId: string | null
  attempt: number | null
  at: number
  fault: string | null
  status: number | null
  violation: string | null
}

/** The whole ledger as `GET /ledger` shows it. */
export interface LedgerRows {
  service: string
  receipts: Receipt[]
  effects: Effect[]
}

// The constraints are the promise: one effect per key, one undo per effect, no undo without an effect.
const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA foreign_keys = ON;
  CREATE TABLE IF NOT EXISTS effects (
    key TEXT PRIMARY KEY, kind TEXT NOT NULL, orderId TEXT NOT NULL, id TEXT NOT NULL UNIQUE,
    undoes TEXT UNIQUE REFERENCES effects (id), at INTEGER NOT NULL, input TEXT NOT NULL, output TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS receipts (
    seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, orderId TEXT, attempt INTEGER,
    at INTEGER NOT NULL, fault TEXT, status INTEGER, violation TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS receipts_by_key ON receipts (key, kind);
`
const columns = 'key, kind, orderId, id, undoes, at, input, output'

export class Ledger {
  readonly #db: DatabaseSync
  readonly #statements

  constructor(file: string, { synchronous = 'FULL' }: { synchronous?: 'FULL' | 'NORMAL' } = {}) {
    mkdirSync(dirname(file), { recursive: true })
    this.#db = new DatabaseSync(file)
    this.#db.exec(`PRAGMA synchronous = ${synchronous}; ${schema}`)
    this.#statements = {
      byKey: this.#db.prepare(`SELECT ${columns} FROM effects WHERE key = ?`),
      byId: this.#db.prepare(`SELECT ${columns} FROM effects WHERE id = ? AND undoes IS NULL`),
      undone: this.#db.prepare('SELECT 1 FROM effects WHERE undoes = ?'),
      apply: this.#db.prepare(`INSERT INTO effects (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`),
      count: this.#db.prepare('SELECT count(*) AS count FROM receipts WHERE key = ? AND kind = ?'),
      receive: this.#db.prepare(
        `INSERT INTO receipts (kind, key, orderId, attempt, at, fault, status, violation) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
    }
  }

  /** All of the work is durable, or none of it. */
  transaction<T>(work: () => T): T {
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.#db.exec('COMMIT')
      return result
    } catch (error) {
      this.#db.exec('ROLLBACK')
      throw error
    }
  }

  effectByKey(key: string): Effect | undefined {
    return parse(this.#statements.byKey.get(key))
  }

  /** The effect with this id, undos left out. */
  effectById(id: string): Effect | undefined {
    return parse(this.#statements.byId.get(id))
  }

  isUndone(id: string): boolean {
    return this.#statements.undone.get(id) !== undefined
  }

  apply(effect: Omit<Effect, 'at'>): void {
    const { key, kind, orderId, id, undoes, input, output } = effect
    const texts = [JSON.stringify(input), JSON.stringify(output)]
    this.#statements.apply.run(key, kind, orderId, id, undoes, Date.now(), ...texts)
  }

  /** How often this request has come so far. */
  count(key: string, kind: string): number {
    return Number(this.#statements.count.get(key, kind)?.count)
  }

  receive(receipt: Omit<Receipt, 'at'>): void {
    const { kind, key, orderId, attempt, fault, status, violation } = receipt
    this.#statements.receive.run(kind, key, orderId, attempt, Date.now(), fault, status, violation)
  }

  rows(service: string): LedgerRows {
    const effects = this.#db.prepare(`SELECT ${columns} FROM effects ORDER BY rowid`).all()
    const receipts = this.#db.prepare('SELECT * FROM receipts ORDER BY seq').all()
    return { service, receipts: receipts as unknown as Receipt[], effects: effects.map((row) => parse(row) as Effect) }
  }

  close(): void {
    this.#db.close()
  }
}

function parse(row: Record<string, unknown> | undefined): Effect | undefined {
  if (!row) return undefined
  return { ...row, input: JSON.parse(String(row.input)), output: JSON.parse(String(row.output)) } as Effect
}
