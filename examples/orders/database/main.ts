// A PostgreSQL for the shop, from npm, with its data below the directory given, where they may be already; full durability, as in production, unless the
// server's settings say otherwise.
//   node main.ts DIR [--set NAME=VALUE]... [--standby]
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DatabaseServer } from './server.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { set: { type: 'string', multiple: true, default: [] }, standby: { type: 'boolean', default: false } },
})
const settings = Object.fromEntries(values.set.map((one) => one.split(/=(.*)/s).slice(0, 2)))
const [dir = '.'] = positionals
const server = existsSync(join(dir, 'postgres'))
  ? await DatabaseServer.reopen(dir)
  : await DatabaseServer.create(dir, { settings, standby: values.standby })

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
console.log(JSON.stringify({ url: server.url(), data: server.data }))
