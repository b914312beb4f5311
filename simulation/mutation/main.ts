// node simulation/mutation/main.ts [name …]: each deliberate bug, and the oracle that catches it; one JSON object a line.
import { judge } from './judge.ts'
import { mutations } from './mutations.ts'

const asked = process.argv.slice(2)
// A mutated engine may leave promises behind that nobody handles: the oracles judge it, not this process.
process.on('unhandledRejection', () => undefined)
for (const [name, mutation] of Object.entries(mutations)) {
  if (asked.length === 0 || asked.includes(name)) console.log(JSON.stringify(await judge(name, mutation)))
}
