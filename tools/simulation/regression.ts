import { readFileSync } from 'node:fs'
import type { Plan } from './plan.ts'

/** A line of `regressions.jsonl`. */
interface Regression {
  /** What broke a rule in this plan. */
  name: string
  /** How, where the plan alone does not show it. */
  note?: string
  plan: Plan
}

const text = readFileSync(new URL('regressions.jsonl', import.meta.url), 'utf8')
const all = text.trimEnd().split('\n').map((line) => JSON.parse(line) as Regression) // biome-ignore format: one line

/** Plans that once broke a rule, made small: what was found is not lost when seeds come to mean other programs. By name. */
export const regressions: Readonly<Record<string, Plan>> = Object.fromEntries(all.map(({ name, plan }) => [name, plan]))

if (Object.keys(regressions).length < all.length) throw new Error('two lines of regressions.jsonl have one name')
