import type { Shared } from './place.ts'
import { during, type Measure } from './progress.ts'
import { type Column, dataOf, fieldsOf, tableOf } from './table.ts'
import type { Terminal } from './terminal.ts'

/** Says what a command found: for people, or as data. */
export class Report {
  readonly #terminal: Terminal
  readonly #shared: Shared

  constructor(terminal: Terminal, shared: Shared) {
    this.#terminal = terminal
    this.#shared = shared
  }

  get isData(): boolean {
    return this.#shared.json === true || this.#shared.jsonl === true
  }

  /** Shows people how far something is that takes long; programs are told nothing of it. */
  async during<T>(label: string, work: Promise<T>, measure?: () => Promise<Measure | null>): Promise<T> {
    return this.isData ? work : during(this.#terminal, label, work, measure)
  }

  /** Many of a kind. */
  rows<R>(columns: readonly Column<R>[], rows: readonly R[], none: string): void {
    if (this.#shared.jsonl) for (const row of rows) this.#data(row)
    else if (this.#shared.json) this.#data(rows)
    else if (rows.length === 0) this.say(none)
    else this.#terminal.out(`${tableOf(columns, rows, this.#terminal)}\n`)
  }

  /** One thing; `fields`: what people are shown of it. */
  one(data: unknown, fields: Readonly<Record<string, unknown>>): void {
    if (this.isData) this.#data(data)
    else this.#terminal.out(`${fieldsOf(fields, this.#terminal)}\n`)
  }

  /** Of several things that come one after the other. */
  next(data: unknown, line: string): void {
    this.#terminal.out(`${this.isData ? dataOf(data) : line}\n`)
  }

  /** What people are told, and programs know by the exit code. */
  say(line: string): void {
    if (!this.isData) this.#terminal.out(`${line}\n`)
  }

  #data(data: unknown): void {
    this.#terminal.out(`${dataOf(data, this.#shared.jsonl ? 0 : 2)}\n`)
  }
}
