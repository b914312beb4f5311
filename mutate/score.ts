import { equivalent } from './equivalent.ts'
import { Judge } from './judge.ts'
import type { Mutant } from './mutant.ts'
import { mutantsIn, type Target, targets } from './target.ts'

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
  every: number
  seeds: number
  jobs: number
  /** Whether the suites judge what no seed notices; else they are not run. Default: true. */
  suites?: boolean
}

/** Told of each mutant when it is judged. */
export type Told = (mutant: Mutant, noticed: string | null) => void

/** Throws when the suites fail by themselves. */
export async function score(name: string, bounds: Bounds, told: Told): Promise<Score> {
  const target = targets[name] as Target
  const mutants = chosen(target, bounds)
  const survivors: Mutant[] = []
  const left = [...mutants]
  const failing = bounds.suites === false ? null : await new Judge(target, 0).unmutated()
  if (failing !== null) throw new Error(`the suites fail without any mutant: ${failing}`)
  const work = async () => {
    const judge = new Judge(target, bounds.seeds, bounds.suites)
    for (let mutant = left.shift(); mutant; mutant = left.shift()) {
      const noticed = await judge.judge(mutant)
      if (noticed === null) survivors.push(mutant)
      told(mutant, noticed)
    }
    judge.close()
  }
  await Promise.all(Array.from({ length: bounds.jobs }, work))
  const noticed = mutants.length - survivors.length
  const share = mutants.length === 0 ? 1 : noticed / mutants.length
  return { target: name, judged: mutants.length, noticed, survivors, share, least: target.least }
}

/** Those that are judged: not the equivalent ones, and of the others one of so many. */
export function chosen(target: Target, { only, every }: Pick<Bounds, 'only' | 'every'>): Mutant[] {
  return mutantsIn(target, only)
    .filter(({ key }) => !Object.hasOwn(equivalent, key))
    .filter((_, index) => index % every === every - 1)
}

/** Entries of the list of equivalent mutants of which there is none. */
export function gone(): string[] {
  const known = new Set(Object.values(targets).flatMap((target) => mutantsIn(target).map(({ key }) => key)))
  return Object.keys(equivalent).filter((key) => !known.has(key))
}
