import { equivalent } from './equivalent.ts'
import type { Journal } from './journal.ts'
import type { Mutant } from './mutant.ts'
import { Simulation } from './simulation.ts'
import { type Span, Suites } from './suites.ts'
import { mutantsIn, type Target, targets } from './target.ts'

/** Tests that judge before the simulation does, and after (ms). Still longer ones are about volume. */
const QUICK: Span = [0, 150]
const SLOW: Span = [150, 2_500]

/** What became of the mutants of one target. */
export interface Score {
  target: string
  judged: number
  noticed: number
  survivors: Mutant[]
  /** Share that was noticed. */
  share: number
  least: number
}

export interface Bounds {
  only: string
  /** The n-th of so many parts; the mutants are dealt out among them. */
  shard: { n: number; of: number }
  seeds: number
  /** Part of the path of the tests that judge; null: the simulation alone does. */
  by: string | null
  /** So many tests of a file judge a mutant at most. All that come by it when not given. */
  tests?: number
}

/** Told of each mutant when it is noticed. */
export type Told = (mutant: Mutant, by: string) => void

export async function score(name: string, bounds: Bounds, journal: Journal, told: Told): Promise<Score> {
  const target = targets[name] as Target
  const all = mutantsIn(target)
  const ids = new Map(all.map((mutant, id) => [mutant.key, id]))
  const idOf = ({ key }: Mutant) => ids.get(key) as number
  const suites =
    bounds.by === null ? null : new Suites(name, target, bounds.by, bounds.tests ?? Number.POSITIVE_INFINITY)
  const none = (await suites?.none()) ?? new Set<number>()
  const mutants = chosen(target, bounds).filter((mutant) => !none.has(idOf(mutant)))
  const notice = (mutant: Mutant, by: string) => {
    journal.notice(mutant, by)
    told(mutant, by)
  }
  const left = (judge: string) =>
    mutants.filter((mutant) => journal.noticed(mutant) === null && !journal.passed(mutant, judge))

  const bySuites = async (span: Span) => {
    for (const file of suites?.filesOf(span) ?? []) {
      const judge = `${file} ${span[1]} ms`
      const open = left(judge)
      const judged = await suites?.judge(file, span, open.map(idOf), (id, by) => notice(all[id] as Mutant, by))
      for (const mutant of open)
        if (judged?.has(idOf(mutant)) && journal.noticed(mutant) === null) journal.pass(mutant, judge)
    }
  }
  const bySimulation = async () => {
    const judge = `${bounds.seeds} seeds`
    const simulation = new Simulation(name, bounds.seeds)
    for (const mutant of left(judge)) {
      const by = await simulation.judge(idOf(mutant))
      if (by === null) journal.pass(mutant, judge)
      else notice(mutant, by)
    }
    simulation.close()
  }
  // Those first that judge the most mutants in the same time.
  const isOpen = left('').length > 0
  for (const test of (isOpen && (await suites?.record())) || [])
    console.warn(`judges nothing, for it fails by itself: ${test}`)
  await bySuites(QUICK)
  if (target.simulated && bounds.seeds > 0) await bySimulation()
  await bySuites(SLOW)
  await suites?.close()
  const survivors = mutants.filter((mutant) => journal.noticed(mutant) === null)
  const noticed = mutants.length - survivors.length
  const share = mutants.length === 0 ? 1 : noticed / mutants.length
  return { target: name, judged: mutants.length, noticed, survivors, share, least: target.least }
}

/** Those that are judged: not the equivalent ones, and of the others those of this part. */
export function chosen(target: Target, { only, shard }: Pick<Bounds, 'only' | 'shard'>): Mutant[] {
  return mutantsIn(target, only)
    .filter(({ key }) => !Object.hasOwn(equivalent, key))
    .filter((_, index) => index % shard.of === shard.n - 1)
}

/** Entries of the list of equivalent mutants of which there is none. */
export function gone(): string[] {
  const known = new Set(Object.values(targets).flatMap((target) => mutantsIn(target).map(({ key }) => key)))
  return Object.keys(equivalent).filter((key) => !known.has(key))
}
