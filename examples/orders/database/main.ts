// A PostgreSQL for the shop, from npm, with its data below the directory given; full durability, as in production.
//   node main.ts DIR
import { DatabaseServer } from './server.ts'

const server = await DatabaseServer.create(process.argv[2] ?? '.')

let ended = false
const end = async (mode: 'fast' | 'immediate') => {
  if (ended) return
  ended = true
  await server.stop(mode)
  process.exit()
}
// Asked to go, it ends in order. Standard input is a pipe from the parent: when it ends, nobody is left to wait for that.
process.once('SIGTERM', () => void end('fast'))
process.stdin.resume().once('close', () => void end('immediate'))
console.log(JSON.stringify({ url: server.url() }))
