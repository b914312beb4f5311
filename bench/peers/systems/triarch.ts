import { oneStep, start, threeSteps } from '../../subject.ts'
import type { Running, System } from '../system.ts'

async function triarch(place: string): Promise<Running> {
  const { engine } = await start(place)
  const run = async (of: typeof oneStep) => (await engine.submit(of, { n: 1 })).result()
  return { job: () => run(oneStep), workflow: () => run(threeSteps) }
}

export const onSqlite: System = {
  name: 'triarch-sqlite',
  title: 'Triarch, SQLite',
  packages: {},
  settings: 'WAL, synchronous=FULL; a job is a task of one step',
  start: ({ folder }) => triarch(`${folder}/triarch.db`),
}

export const onPostgres: System = {
  name: 'triarch-postgres',
  title: 'Triarch, PostgreSQL',
  packages: {},
  settings: 'a job is a task of one step',
  start: async ({ database }) => triarch(await database()),
}
