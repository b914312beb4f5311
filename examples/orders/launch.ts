// Processes of our own: started, waited for until they say they are ready, and ended, gently or not.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

export interface Launched<Ready> {
  child: ChildProcess
  /** What the process said of itself: the first line it printed, a JSON value. */
  ready: Ready
  /** Ends it and waits until it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>
}

/**
 * Starts a script, named relative to this example, with the Node that runs us. It should end when its standard input closes.
 * What it complains of goes to the file descriptor given, or to where ours goes.
 */
export async function launch<Ready>(
  script: string | URL,
  args: string[],
  stderr: number | 'inherit' = 'inherit',
): Promise<Launched<Ready>> {
  const file = fileURLToPath(new URL(script, import.meta.url))
  return launchProgram(process.execPath, [file, ...args], stderr)
}

/** The same for any program. */
export async function launchProgram<Ready>(
  program: string,
  args: string[],
  stderr: number | 'inherit' = 'inherit',
): Promise<Launched<Ready>> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', stderr] })
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const kill = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    await gone
  }
  const lines = createInterface({ input: child.stdout as Readable })
  const failed = gone.then(() => {
    throw new Error(`${[program, ...args].join(' ')} ended before it was ready (${child.exitCode ?? child.signalCode})`)
  })
  const broken = once(child, 'error').then(([error]) => Promise.reject(error))
  const [line] = await Promise.race([once(lines, 'line'), broken, failed])
  return { child, ready: JSON.parse(line), kill }
}

export type ServiceName = 'payment' | 'stock' | 'shipping' | 'mail'

export interface ServiceOptions {
  dir: string
  seed?: number
  port?: number
  faults?: boolean
}

export interface LaunchedService extends Launched<{ service: string; port: number }> {
  url: string
}

export async function launchService(name: ServiceName, options: ServiceOptions): Promise<LaunchedService> {
  const { dir, seed = 1, port = 0, faults = true } = options
  const args = [name, '--port', `${port}`, '--data', dir, '--seed', `${seed}`, '--faults', faults ? 'on' : 'off']
  const launched = await launch<{ service: string; port: number }>('services/main.ts', args)
  return { ...launched, url: `http://127.0.0.1:${launched.ready.port}` }
}
