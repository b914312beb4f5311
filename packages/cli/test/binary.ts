import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

export const main: string = fileURLToPath(new URL('../src/main.ts', import.meta.url))
export const shop: string = fileURLToPath(new URL('shop.ts', import.meta.url))

export interface Ended {
  exit: number | null
  out: string
  err: string
}

/** The command in a process of its own, as a shell runs it: nothing of it is a terminal. */
export async function triarch(args: readonly string[], env: Record<string, string> = {}, input = ''): Promise<Ended> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [main, ...args], { env: { PATH, NODE_COMPILE_CACHE, ...env } })
  child.stdin.end(input)
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { exit: await exit, out, err }
}
