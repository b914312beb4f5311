import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { unpack } from '../../packaging/unpacked.ts'
import type { First, Round } from '../child/cold.ts'
import { type Bench, type Figure, type Measure, median } from '../measure.ts'

/** As it is written here, and as the processes run it: without types, which take time and memory to strip. */
const source = new URL('../child/cold.ts', import.meta.url)
const program = 'cold.mjs'

export const cold: Measure = {
  name: 'cold',
  about:
    'a fresh process with the packages as they are installed, no flags: until its first result, and until it is quick',
  async run(bench) {
    const folder = mkdtempSync(join(tmpdir(), 'triarch-cold-'))
    try {
      const packages = bench.store === 'postgres' ? ['triarch', 'postgres'] : ['triarch']
      const sizes = await unpack(folder, packages)
      writeFileSync(join(folder, program), stripTypeScriptTypes(readFileSync(source, 'utf8')))
      const unpacked = Object.entries(sizes).map(([name, bytes]): Figure => {
        return { what: `${name}, unpacked`, value: bytes / 1e6, unit: 'MB', better: 'lower', target: 4 }
      })
      return [...(await firsts(bench, folder)), ...(await loads(bench, folder)), ...unpacked]
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** Medians of fresh processes that run one task each, on a store that exists. */
async function firsts(bench: Bench, folder: string): Promise<Figure[]> {
  const place = await bench.place('first')
  await run(bench, folder, place)
  const found: First[] = []
  for (let i = 0; i < (bench.quick ? 1 : 15); i++) found.push((await run(bench, folder, place)).first)
  const middle = (of: (it: First) => number) => median(found.map(of))
  return [
    { what: 'import', value: middle((it) => it.importing), unit: 'ms', better: 'lower', target: 60 },
    { what: 'start', value: middle((it) => it.started - it.imported), unit: 'ms', better: 'lower' },
    { what: 'first task', value: middle((it) => it.result - it.started), unit: 'ms', better: 'lower' },
    { what: 'first result', value: middle((it) => it.result), unit: 'ms', better: 'lower', target: 120, note: 'from the start of the process' }, // biome-ignore format: one row
    { what: 'resident memory', value: middle((it) => it.rss) / 1e6, unit: 'MB', better: 'lower', target: 70 },
  ]
}

async function loads(bench: Bench, folder: string): Promise<Figure[]> {
  const { rounds } = await run(bench, folder, await bench.place('load'), bench.quick ? 10 : 2_000)
  return Object.entries(rounds ?? {}).flatMap(([steps, taken]) => {
    const names = ['first', 'next', 'then', 'hot']
    return taken.map(({ tasks, speed, spent }, i): Figure => {
      const what = `tasks of ${steps} step${steps === 'one' ? '' : 's'}, ${names[i]} ${tasks}`
      return { what, value: speed, unit: 'tasks/s', better: 'higher', note: `${spent.toFixed(3)} ms CPU each` }
    })
  })
}

async function run(
  { store }: Bench,
  folder: string,
  place: string,
  tasks = 0,
): Promise<{ first: First; rounds?: Record<string, Round[]> }> {
  const args = [join(folder, program), store, place, String(tasks)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const [first = '', rounds] = stdout.trim().split('\n')
  return { first: JSON.parse(first), ...(rounds !== undefined && { rounds: JSON.parse(rounds) }) }
}
