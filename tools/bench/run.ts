// Takes one measure in a process of its own, so that none inherits the heap and the compiled code of another.
import { mkdirSync, rmSync } from 'node:fs'
import './child/parent.ts'
import { onPostgres, onSqlite } from './bench.ts'
import type { Bench, Measure, Outcome, Sizes } from './measure.ts'
import { measureOf, measures } from './measures/index.ts'
import { watchOthers } from './others.ts'

const [name, root = '', given = '{}', url = ''] = process.argv.slice(2)
const sizes = JSON.parse(given) as Sizes
const known = measures[url === '' ? 'sqlite' : 'postgres'].find((known) => known === name)
if (!known) throw new Error(`there is no measure "${name}"`)
const measure = await measureOf(known)
const folder = `${root}/${measure.name}`
mkdirSync(folder, { recursive: true })
try {
  if (url === '') console.log(JSON.stringify(await take(measure, onSqlite(folder, sizes))))
  else {
    await using bench = await onPostgres(url, measure.name, sizes)
    console.log(JSON.stringify(await take(measure, bench)))
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function take({ name, about, run }: Measure, bench: Bench): Promise<Outcome> {
  const begin = performance.now()
  const others = await watchOthers(bench)
  const figures = await run(bench)
  const seconds = (performance.now() - begin) / 1_000
  return { name, about, seconds, others: await others(), figures }
}
