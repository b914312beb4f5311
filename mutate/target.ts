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
  /** The fast suites that judge what no seed noticed. */
  suites: { project: string; files: readonly string[] }
  /** Share of the mutants that must be noticed. */
  least: number
}

const suites = 'packages/triarch/test'

export const targets: Readonly<Record<string, Target>> = {
  kernel: {
    folder: 'packages/triarch/src/kernel',
    simulated: true,
    suites: {
      project: 'engine',
      files: [...['model/kernel', 'model/found', 'engine/', 'plan/', 'gate/', 'states'].map((it) => `${suites}/${it}`)],
    },
    least: 0.95,
  },
  sqlite: {
    folder: 'packages/triarch/src/store/sqlite',
    simulated: true,
    suites: { project: 'engine', files: [`${suites}/store/`, `${suites}/model/store`] },
    least: 0.9,
  },
  postgres: {
    folder: 'packages/postgres/src',
    simulated: false,
    suites: { project: 'postgres', files: ['packages/postgres/test/'] },
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
