import { join } from 'node:path'
import { type Mutant, mutate } from './mutant.ts'

/** Tells the suites which mutant to load; JSON. */
export const VARIABLE = 'TRIARCH_MUTANT'

/** Loads the mutant in the place of its file; null: none is asked for. */
export function mutantPlugin(): {
  name: string
  enforce: 'pre'
  transform: (code: string, id: string) => string | undefined
} | null {
  const asked = process.env[VARIABLE]
  if (asked === undefined) return null
  const mutant = JSON.parse(asked) as Mutant
  const path = join(import.meta.dirname, '..', mutant.file)
  return {
    name: 'mutant',
    enforce: 'pre',
    transform: (code, id) => (id.split('?')[0] === path ? mutate(code, mutant) : undefined),
  }
}
