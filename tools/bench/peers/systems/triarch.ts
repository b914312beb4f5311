import type { Workflow } from 'triarch'
import { oneStep, start, threeSteps, wide } from '../../subject.ts'
import type { Ground, Running, System } from '../system.ts'

async function triarch(place: string): Promise<Running> {
  const { engine } = await start(place)
  const run = async (of: Workflow<{ n: number }, unknown>, n = 1) => (await engine.submit(of, { n })).result()
  return { job: () => run(oneStep), workflow: () => run(threeSteps), wide: (width) => run(wide, width) }
}

async function across(place: string, { worker }: Ground): Promise<Pick<Running, 'job'>> {
  const { engine } = await start(place, { roles: [], notices: false })
  await worker(place)
  return { job: async () => (await engine.submit(oneStep, { n: 1 })).result() }
}

export const onSqlite: System = {
  name: 'triarch-sqlite',
  title: 'Triarch, SQLite',
  packages: {},
  settings: 'WAL, synchronous=FULL; a job is a task of one step',
  start: ({ folder }) => triarch(`${folder}/triarch.db`),
  across: (ground) => across(`${ground.folder}/triarch.db`, ground),
  work: (place) => start(place),
}

export const onPostgres: System = {
  name: 'triarch-postgres',
  title: 'Triarch, PostgreSQL',
  packages: {},
  settings: 'a job is a task of one step',
  start: async ({ database }) => triarch(await database()),
  across: async (ground) => across(await ground.database(), ground),
  work: (place) => start(place),
}
