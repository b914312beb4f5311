import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import type { CommandDeps } from '../command.ts'
import { exitCodes, usage } from '../exit.ts'
import { REPORTS_LOADS } from '../loaded.ts'
import { program } from '../manifest.ts'
import { needsStore, type Shared } from '../place.ts'
import { canServe } from '../serving.ts'
import { Sources } from '../sources.ts'
import type { Terminal } from '../terminal.ts'

/** Longest that running steps keep a changed module waiting. */
const GRACE = '2s'

/** Where the console is, unless somebody is there already. */
const PORT = 7070

/** `start` in a process that stops in good order when a file of the module changes, and is started again. */
export function addDev(commands: Command, means: CommandDeps): void {
  commands
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
      const module = resolve(path)
      if (!existsSync(module)) throw usage(`there is no file "${path}"`)
      const code = await restarted(module, ['start', path, ...options], means.terminal)
      if (code !== 0) means.end(exitCodes.failed)
    })
}

/** Runs it, and runs it again after each change of what it loaded, until this process is told to stop; gives the code that it ended with. */
async function restarted(module: string, args: readonly string[], terminal: Terminal): Promise<number | null> {
  const { env } = terminal
  let child: ChildProcess | null = null
  let restarts = false
  let stops = false
  // Resolved to have a look: something changed while nothing runs, or it is to stop.
  let wake = Promise.withResolvers<void>()
  const changed = (path: string, known: boolean) => {
    // Another source may be the one that was missing.
    if (stops || restarts || (child && !known)) return
    terminal.err(`Restarting: ${relative('', path) || path} has changed\n`)
    restarts = true
    child?.kill('SIGTERM')
    wake.resolve()
  }
  const sources = new Sources(changed)
  sources.add(module)
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      stops = true
      child?.kill(signal)
      wake.resolve()
    })
  try {
    for (;;) {
      const stdio = ['inherit', 'inherit', 'inherit', 'ipc'] as const
      restarts = false
      wake = Promise.withResolvers()
      const started = spawn(process.execPath, [...process.execArgv, program, ...args], { stdio: [...stdio], env: { ...env, [REPORTS_LOADS]: '1' } }) // biome-ignore format: one call
      child = started
      started.on('message', (said: { loaded?: string }) => {
        if (typeof said?.loaded === 'string') sources.add(fileURLToPath(said.loaded))
      })
      const code = await new Promise<number | null>((resolve, reject) => {
        started.once('error', reject)
        started.once('exit', resolve)
      })
      child = null
      // Without a code: it had not begun to listen for the signal.
      if (stops) return code ?? 0
      if (restarts) continue
      terminal.err(`It ended${code === null ? '' : ` with ${code}`}, and is started again when a file changes\n`)
      await wake.promise
      if (stops) return 0
    }
  } finally {
    sources.close()
  }
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
