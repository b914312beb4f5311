import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { embedded } from './embed.ts'
import { mutantsByFile, root, targets } from './target.ts'

/** Tells the suites where it says what they do here: a file with the JSON of an Errand, which is too long for a variable. */
export const VARIABLE = 'TRIARCH_MUTATE'

/** What a run of the suites is asked for. */
export interface Errand {
  target: string
  /** Written to, a line of JSON each; read by nobody but who asked. */
  report: string
  /** Null: which test reaches which mutants is told. Else these mutants are judged. */
  judge: Judged | null
}

export interface Judged {
  /** By the name of a test: how long it takes (ms), how often it comes by mutants, and which it is to judge. */
  tests: Record<string, { ms: number; asked: number; mutants: number[] }>
}

export function errand(): Errand | null {
  const asked = process.env[VARIABLE]
  return asked === undefined ? null : (JSON.parse(readFileSync(asked, 'utf8')) as Errand)
}

/** Loads the files of the target with all their mutants in them; null: none are asked for. */
export function mutantPlugin(): {
  name: string
  enforce: 'pre'
  transform: (code: string, id: string) => string | undefined
} | null {
  const target = targets[errand()?.target ?? '']
  // Functions of a database are changed where they are: in the database (live.ts).
  if (!target || target.sql) return null
  const files = mutantsByFile(target)
  return {
    name: 'mutants',
    enforce: 'pre',
    transform: (code, id) => {
      const mutants = files.get((id.split('?')[0] ?? '').slice(root.length + 1))
      return mutants && embedded(code, mutants)
    },
  }
}

/** The runner that tries each test with each mutant; nothing: the usual one. */
export function mutantRunner(): { runner?: string } {
  return errand() === null ? {} : { runner: join(import.meta.dirname, 'runner.ts') }
}
