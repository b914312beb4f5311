import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import type { Means } from '../command.ts'
import { exitCodes } from '../exit.ts'
import { needsStore, type Shared } from '../place.ts'
import { canServe } from '../serving.ts'

/** As it is run from its sources, and as it is built. */
const main = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../main.ts' : '../main.js', import.meta.url))

/** Longest that running steps keep a changed module waiting. */
const GRACE = '2s'

/** Where the console is, unless somebody is there already. */
const PORT = 7070

/** `start` under Node's own watch: it stops in good order when a file of the module changes, and starts anew. */
export function addDev(program: Command, means: Means): void {
  program
    .command('dev')
    .description('start, and start anew whenever a file of the module changes; tasks go on where they were')
    .argument('<module>', 'the module that exports workflows and agents')
    .option(
      '--port <n>',
      `serve tasks and the console over HTTP on loopback; ${PORT}, or any port that is free, where @triarch/server is installed`,
    )
    .action(async (path: string, _, command: Command) => {
      const { store, schema, port, profile, url } = command.optsWithGlobals<Shared & { port?: string }>()
      if (url !== undefined) throw needsStore('dev')
      const { env } = means.terminal
      const known =
        store !== undefined ||
        profile !== undefined ||
        env.TRIARCH_STORE !== undefined ||
        env.TRIARCH_STORE_FILE !== undefined
      const serves = port === undefined && canServe()
      const given = {
        '--store': known ? store : 'triarch.db',
        '--profile': profile,
        '--schema': schema,
        '--port': port ?? (serves ? `${await portFor(PORT)}` : undefined),
        '--grace': GRACE,
      }
      const options = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name, value]))
      // Another that starts just now may have found the same port free.
      if (serves) options.push('--next-port')
      const node = [...process.execArgv, '--watch', '--watch-preserve-output']
      const child = spawn(process.execPath, [...node, main, 'start', path, ...options], { stdio: 'inherit', env })
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void child.kill(signal))
      const code = await new Promise<number | null>((resolve, reject) => {
        child.once('error', reject)
        child.once('exit', resolve)
      })
      if (code !== 0) means.end(exitCodes.failed)
    })
}

/** This port, or any that is free where somebody has it: the same for all that starts anew. */
async function portFor(wanted: number): Promise<number> {
  const probe = createServer()
  probe.listen(wanted, '127.0.0.1')
  try {
    await once(probe, 'listening')
    return (probe.address() as AddressInfo).port
  } catch {
    return portFor(0)
  } finally {
    probe.close()
  }
}
