import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mutant } from './mutant.ts'
import { mutantsOf } from './mutator.ts'
import { functionsIn, mutantsOfFunction, type SqlFunction } from './sql.ts'

/** Code that is mutated as a whole, and what must notice. */
export interface Target {
  /** Folder of its files, from the root. */
  folder: string
  /** Those of its files that are meant; all. */
  files?: RegExp
  /** Its files are migrations in SQL: what is mutated are the functions that are left once all have run. */
  sql?: boolean
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
const LONG = '**/*.long.test.ts'
/** Random courses of events over a store. */
const busy = [`${suites}/model/store.test.ts`, `${suites}/gate/neighbour.test.ts`]

export const targets: Readonly<Record<string, Target>> = {
  kernel: {
    folder: 'packages/triarch/src/kernel',
    simulated: true,
    suites: {
      project: 'engine',
      files: [`${suites}/{engine,plan,gate,model}/*.test.ts`, `${suites}/states.test.ts`],
      without: [`${suites}/engine/{context,retention,roles,thread,waiting}.test.ts`, LONG, ...busy],
    },
    least: 0.95,
  },
  sqlite: {
    folder: 'packages/triarch/src/store/sqlite',
    simulated: true,
    suites: {
      project: 'engine',
      files: [`${suites}/{store,gate,engine,tail}/*.test.ts`, `${suites}/{model/store,update/migrate}.test.ts`],
      without: [`${suites}/engine/{context,thread}.test.ts`, LONG],
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
      without: ['packages/postgres/test/outer.test.ts', LONG],
      server: true,
    },
    least: 0.9,
  },
  sql: {
    folder: 'packages/postgres/src/migrations',
    sql: true,
    simulated: false,
    suites: {
      project: 'postgres',
      files: ['packages/postgres/test/*.test.ts'],
      // Processes of their own do not see what is changed, and others take minutes.
      without: ['packages/postgres/test/{flight,lead,outer,prober,migrate,cli,doctor}.test.ts', LONG],
      server: true,
    },
    least: 0.95,
  },
  policies: {
    folder: 'packages/triarch/src/policy',
    simulated: true,
    suites: {
      project: 'engine',
      files: [`${suites}/{policy,engine,alert,value,flow}/*.test.ts`],
      without: [`${suites}/engine/{context,retention,roles,thread,waiting}.test.ts`, LONG],
    },
    least: 0.95,
  },
  statistics: {
    folder: 'packages/triarch/src/statistics',
    simulated: true,
    suites: {
      project: 'engine',
      files: [`${suites}/{statistics,engine,store}/*.test.ts`, `${suites}/model/store.test.ts`],
      without: [`${suites}/engine/{context,retention,roles,thread,waiting}.test.ts`, LONG],
    },
    least: 0.95,
  },
  schedules: {
    folder: 'packages/triarch/src',
    files: /^(?:definition\/schedule|value\/(?:cron|recurrence))\.ts$/,
    simulated: true,
    suites: {
      project: 'engine',
      files: [`${suites}/{definition,value,store}/*.test.ts`, `${suites}/gate/schedule.test.ts`],
    },
    least: 0.95,
  },
  rights: {
    folder: 'packages/server/src',
    files: /^(?:request\/(?:right|guard|key|origin)|route\/.*|app)\.ts$/,
    simulated: false,
    suites: { project: 'engine', files: ['packages/server/test/*.test.ts'] },
    least: 0.95,
  },
}

export const root: string = join(import.meta.dirname, '../..')

/** All mutants of a target, in the order of its files. `only`: a part of the file's path. */
export function mutantsIn(target: Target, only = ''): Mutant[] {
  const { folder, files = /\.ts$/ } = target
  const read = (file: string) => readFileSync(join(root, folder, file), 'utf8')
  const isMeant = (file: string) => `${folder}/${file}`.includes(only)
  if (target.sql) return mutantsOfSql(target).flatMap(({ mutants }) => mutants).filter(({ file }) => file.includes(only)) // biome-ignore format: one line
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && files.test(file) && isMeant(file))
    .sort()
    .flatMap((file) => mutantsOf(`${folder}/${file}`, read(file)))
}

/** Each function that is left of the migrations, with its mutants. */
export function mutantsOfSql({ folder }: Target): { of: SqlFunction; mutants: Mutant[] }[] {
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  // Which files there are, in their order.
  const listed = [...read(`${folder}/index.ts`).matchAll(/\['(\d{4})', \[([^\]]*)\]\]/g)]
  const files = listed.flatMap(([, name, files = '']) => [...files.matchAll(/\w+/g)].map(([file]) => `${folder}/${name}/${file}.sql`)) // biome-ignore format: one line
  return functionsIn(files.map((file) => [file, read(file)])).map((of) => ({
    of,
    mutants: mutantsOfFunction(read(of.file), of),
  }))
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
