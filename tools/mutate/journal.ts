import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Mutant } from './mutant.ts'
import { root } from './target.ts'

/** What is known of one mutant: what noticed it, or which judge did not. `code`: digest of the file it is in. */
type Entry = { key: string; code: string } & ({ by: string } | { passed: string })

/** Verdicts on disk as they come: a run that is interrupted goes on where it was. Of changed files none counts. */
export class Journal {
  readonly #path: string | null
  readonly #noticed = new Map<string, string>()
  readonly #passed = new Map<string, Set<string>>()
  readonly #codes = new Map<string, string>()

  /** Null: kept in memory only. `again`: what survived is judged anew. */
  constructor(path: string | null, again: boolean = false) {
    this.#path = path
    if (path === null) return
    mkdirSync(dirname(path), { recursive: true })
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
    for (const line of lines) {
      const entry = JSON.parse(line) as Entry
      const id = `${entry.code} ${entry.key}`
      if ('by' in entry) this.#noticed.set(id, entry.by)
      else if (!again) this.#passedBy(id).add(entry.passed)
    }
  }

  /** What noticed it; null: nothing so far. */
  noticed(mutant: Mutant): string | null {
    return this.#noticed.get(this.#idOf(mutant)) ?? null
  }

  passed(mutant: Mutant, judge: string): boolean {
    return this.#passedBy(this.#idOf(mutant)).has(judge)
  }

  notice(mutant: Mutant, by: string): void {
    this.#noticed.set(this.#idOf(mutant), by)
    this.#write({ key: mutant.key, code: this.#codeOf(mutant.file), by })
  }

  pass(mutant: Mutant, judge: string): void {
    this.#passedBy(this.#idOf(mutant)).add(judge)
    this.#write({ key: mutant.key, code: this.#codeOf(mutant.file), passed: judge })
  }

  #write(entry: Entry): void {
    if (this.#path !== null) appendFileSync(this.#path, `${JSON.stringify(entry)}\n`)
  }

  #passedBy(id: string): Set<string> {
    const known = this.#passed.get(id) ?? new Set()
    this.#passed.set(id, known)
    return known
  }

  #idOf({ key, file }: Mutant): string {
    return `${this.#codeOf(file)} ${key}`
  }

  #codeOf(file: string): string {
    const known =
      this.#codes.get(file) ??
      createHash('sha256')
        .update(readFileSync(join(root, file)))
        .digest('hex')
        .slice(0, 12)
    this.#codes.set(file, known)
    return known
  }
}
