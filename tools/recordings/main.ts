// npm run record: writes the recordings that are missing. `-- 0.3`: those that differ from the newest, into a new edition.
// `-- check`: every recording, cut off at every place.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { SharedStore } from '../../packages/triarch/src/testing/shared.ts'
import { features } from './features/index.ts'
import { endOf, takenOver } from './judge.ts'
import { record } from './record.ts'
import { editions, fileOf, newest, read, recorded, textOf } from './recording.ts'

const [word] = process.argv.slice(2)
const problems = word === 'check' ? await check() : await write(word)
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0

async function write(version: string | undefined): Promise<string[]> {
  if (version !== undefined && !/^\d+\.\d+$/.test(version))
    return [`an edition is named by a version such as 0.2, not by ${version}`]
  const store = new SharedStore()
  const changed: string[] = []
  const into = version ?? editions().at(-1) ?? '0.1'
  for (const feature of features) {
    const text = textOf(await record(feature, store))
    const before = newest(feature.name)
    if (before !== undefined && text === textOf(read(before, feature.name))) continue
    const file = fileOf(into, feature.name)
    // What a version has written is written: what changes is of a version that comes after it.
    if (before !== undefined && (version === undefined || existsSync(file))) {
      changed.push(`${feature.name} differs from its recording in ${before}`)
      continue
    }
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    console.log(`recorded ${into}/${feature.name}`)
  }
  const advice =
    'Recordings never change: npm run record -- <a later version> writes new ones beside them (CONTRIBUTING.md).'
  return changed.length > 0 ? [...changed, advice] : []
}

/** Ends that differ from those recorded, over all places at which a process may have died. */
async function check(): Promise<string[]> {
  const store = new SharedStore()
  const problems: string[] = []
  let places = 0
  for (const edition of editions())
    for (const name of recorded(edition)) {
      const recording = read(edition, name)
      const feature = features.find((one) => one.name === name)
      if (!feature) problems.push(`${edition}/${name}: its code is gone`)
      for (let count = 1; feature && count <= recording.commits.length; count++, places++) {
        const ends = await takenOver(store, feature, recording, count)
        for (const [index, wanted] of recording.tasks.map(endOf).entries())
          if (!isDeepStrictEqual(ends[index], wanted))
            problems.push(`${edition}/${name} cut off after ${count}: ${JSON.stringify(ends[index])}, not ${JSON.stringify(wanted)}`) // biome-ignore format: one line
      }
    }
  console.log(`✓ ${places - problems.length} of ${places} takeovers of recorded histories came to the recorded end`)
  return problems
}
