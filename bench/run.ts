// Takes one measure in a process of its own, so that none inherits the heap and the compiled code of another.
import { mkdirSync, rmSync } from 'node:fs'
import './child/parent.ts'
import type { Outcome } from './measure.ts'
import { measures } from './measures/index.ts'
import { watchOthers } from './others.ts'

const [name, root = '', size] = process.argv.slice(2)
const measure = measures.find((measure) => measure.name === name)
if (!measure) throw new Error(`there is no measure "${name}"`)
const folder = `${root}/${measure.name}`
mkdirSync(folder, { recursive: true })
try {
  const begin = performance.now()
  const others = watchOthers()
  const figures = await measure.run({ quick: size === 'quick', folder })
  const seconds = (performance.now() - begin) / 1_000
  const outcome: Outcome = { name: measure.name, about: measure.about, seconds, others: others(), figures }
  console.log(JSON.stringify(outcome))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
