// node tools/simulation/mutation/main.ts [name …]: each deliberate bug, and the oracle that catches it; one JSON object a line.
import { judge, unjudged } from './judge.ts'
import { mutations } from './mutations.ts'

const asked = process.argv.slice(2)
// A mutated engine may leave promises behind that nobody handles: the oracles judge it, not this process.
process.on('unhandledRejection', () => undefined)
for (const [name, mutation] of Object.entries(mutations)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  // One whose text has moved says so, and the others are judged all the same.
  const verdict = await judge(name, mutation).catch((error: Error) => unjudged(name, error))
  console.log(JSON.stringify(verdict))
}
