import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { setTimeout as later } from 'node:timers/promises'

/** Starts a server that ends with this process, and waits until it answers. */
export async function serving(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  answers: () => Promise<unknown>,
): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, ...env } })
  process.once('exit', () => child.kill('SIGKILL'))
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${program} ended (${code})`)))
  ended.catch(() => undefined) // at the end nobody waits for it any more
  const ready = async () => {
    for (;;) {
      try {
        return await answers()
      } catch {
        await later(50)
      }
    }
  }
  await Promise.race([ready(), ended])
}

/** Nobody listened on it a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
