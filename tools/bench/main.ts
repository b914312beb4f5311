// npm run bench [-- plan batch] [--store postgres] [--only steps,tasks] [--quick] [--json] [--profile] [--folder path]
// [--stored 10000000] [--minutes 60]
// npm run bench -- --peers [restate bullmq] [--only restate,bullmq] [--quick] [--json] [--folder path]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { FLAGS, machine, newFolder } from './machine.ts'
import type { Outcome, Sizes, StoreName } from './measure.ts'
import { measures } from './measures/index.ts'
import { report as reportPeers } from './peers/report.ts'
import { take as takePeers } from './peers/rounds.ts'
import { systems } from './peers/systems/index.ts'
import { type Serving, serve } from './postgres/server.ts'
import { hottest } from './profile.ts'
import { disturbance, machineLine, table } from './report.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    store: { type: 'string', default: 'sqlite' },
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
    only: { type: 'string' },
    folder: { type: 'string' },
    stored: { type: 'string' },
    minutes: { type: 'string' },
  },
})
if (!(options.store in measures)) throw new Error(`--store: "${options.store}" is neither sqlite nor postgres`)
const store = options.store as StoreName
const sizes: Sizes = { quick: options.quick, ...number('stored'), ...number('minutes') }
const known: readonly string[] = options.peers ? systems.map(({ name }) => name) : measures[store]
const names = [...positionals, ...(options.only?.split(',') ?? (positionals.length > 0 ? [] : known))]
for (const name of names) if (!known.includes(name)) throw new Error(`"${name}" is none of ${known.join(', ')}`)

const folder = newFolder(options.folder)
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
let server: Serving | null = null
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void Promise.resolve(server?.stop()).finally(() => process.exit(1)))
}

if (store === 'postgres' || options.peers) server = await serve(options.folder, options.quick)
try {
  const found = machine(server?.folder ?? folder, server?.version)
  if (options.peers) await besidePeers(found, server?.url ?? '')
  else await report(found)
} finally {
  await server?.stop()
}

async function report(found: ReturnType<typeof machine>): Promise<void> {
  const outcomes: Outcome[] = []
  for (const name of names) {
    if (process.stderr.isTTY) process.stderr.write(`${name} …\r`)
    const outcome = await take(name)
    if (outcome) outcomes.push(outcome)
    else process.exitCode = 1
  }
  if (options.json) console.log(JSON.stringify({ machine: found, quick: options.quick, measures: outcomes }, null, 2))
  else console.log(`${machineLine(found)}\n\n${table(outcomes)}\n\n${disturbance(outcomes)}`.trimEnd())
}

async function besidePeers(about: ReturnType<typeof machine>, url: string): Promise<void> {
  const chosen = systems.filter(({ name }) => names.includes(name))
  const found = await takePeers(chosen, { folder, url }, options.quick)
  console.log(
    options.json
      ? JSON.stringify({ machine: about, quick: options.quick, peers: found }, null, 2)
      : reportPeers(found, about),
  )
}

/** Null: it failed, and has said why. */
async function take(name: string): Promise<Outcome | null> {
  const profile = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${folder}/profile-${name}`] : []
  const script = fileURLToPath(new URL('run.ts', import.meta.url))
  const args = [...FLAGS, ...profile, script, name, folder, JSON.stringify(sizes), server?.url ?? '']
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (code !== 0) return null
  if (options.profile) process.stderr.write(`${name}, self time:\n${hottest(`${folder}/profile-${name}`)}\n\n`)
  return JSON.parse(output) as Outcome
}

function number(option: 'stored' | 'minutes'): Partial<Sizes> {
  const given = options[option]
  if (given === undefined) return {}
  if (!/^[1-9]\d*$/.test(given)) throw new Error(`--${option}: "${given}" is no number`)
  return { [option]: Number(given) }
}
