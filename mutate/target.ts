import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mutant } from './mutant.ts'
import { mutantsOf } from './mutator.ts'

/** Code that is mutated as a whole, and what must notice. */
export interface Target {
  /** Folder of its files, from the root. */
  folder: string
  /** Whether the simulation runs this code: seeds are the quickest judges. */
  simulated: boolean
  /** The fast suites that judge what no seed noticed; globs. `without`: these take minutes by themselves. */
  suites: {
    project: string
    files: readonly string[]
    without?: readonly string[]
    /** Whether they need a PostgreSQL server: one is started for all of them. */
    server?: boolean
  }
  /** Share of the mutants that must be noticed. */
  least: number
}

const suites = 'packages/triarch/test'
/** Random courses of events over a store. */
const busy = [`${suites}/model/store.test.ts`, `${suites}/gate/neighbour.test.ts`]

export const targets: Readonly<Record<string, Target>> = {
  kernel: {
    folder: 'packages/triarch/src/kernel',
    simulated: true,
    suites: {
      project: 'engine',
      files: [`${suites}/{engine,plan,gate,model}/*.test.ts`, `${suites}/states.test.ts`],
      without: [`${suites}/engine/{callback,context,loop,retention,roles,thread,waiting}.test.ts`, ...busy],
    },
    least: 0.95,
  },
  sqlite: {
    folder: 'packages/triarch/src/store/sqlite',
    simulated: true,
    suites: {
      project: 'engine',
      files: [`${suites}/{store,gate,engine,tail}/*.test.ts`, `${suites}/{model/store,update/migrate}.test.ts`],
      without: [`${suites}/engine/{context,thread}.test.ts`],
    },
    least: 0.9,
  },
  postgres: {
    folder: 'packages/postgres/src',
    simulated: false,
    suites: {
      project: 'postgres',
      files: ['packages/postgres/test/*.test.ts'],
      // Adapters of others, fleets of nodes, volume.
      without: ['packages/postgres/test/{books,herd,lease,model,outer,rolling}.test.ts'],
      server: true,
    },
    least: 0.9,
  },
}

export const root: string = join(import.meta.dirname, '..')

/** All mutants of a target, in the order of its files. `only`: a part of the file's path. */
export function mutantsIn({ folder }: Target, only = ''): Mutant[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return files
    .filter((file) => file.endsWith('.ts') && `${folder}/${file}`.includes(only))
    .sort()
    .flatMap((file) => mutantsOf(`${folder}/${file}`, readFileSync(join(root, folder, file), 'utf8')))
}

/** The same by file, each with its number among all of the target. */
export function mutantsByFile(target: Target): Map<string, [id: number, mutant: Mutant][]> {
  const files = new Map<string, [number, Mutant][]>()
  for (const [id, mutant] of mutantsIn(target).entries()) {
    const known = files.get(mutant.file)
    if (known) known.push([id, mutant])
    else files.set(mutant.file, [[id, mutant]])
  }
  return files
}
