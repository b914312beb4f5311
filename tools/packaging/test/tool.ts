import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { root } from '../manifest.ts'

const execute = promisify(execFile)

/** Programs of tools/packaging/node_modules: bundlers, linters and runtimes. */
export const tools: string = join(root, 'tools/packaging/node_modules')

/** As in a shell of its own: without what an npm around us says of its workspace to whatever it runs. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_(?!config_(?:cache|registry)$)/i.test(name)),
)

/** What the program printed; it fails with all that it said. */
export async function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await execute(program, args, { cwd, env, maxBuffer: 64 << 20 })
    return stdout.trim()
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`${[program, ...args].join(' ')} failed:\n${stdout}\n${stderr}`)
  }
}

/** A program that runs on until it is disposed of, which ends its input, and the first line that it printed. */
export async function started(cwd: string, program: string, ...args: string[]) {
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), exited])
  if (typeof line !== 'string') throw new Error(`${[program, ...args].join(' ')} ended before it said anything`)
  return {
    line,
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await exited
    },
  }
}

export function npm(cwd: string, ...args: string[]): Promise<string> {
  return run(cwd, 'npm', ...args)
}
