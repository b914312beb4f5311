import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../manifest.ts'

const execute = promisify(execFile)

/** Programs of packaging/node_modules: bundlers, linters and runtimes. */
export const tools: string = join(root, 'packaging/node_modules')

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

export function npm(cwd: string, ...args: string[]): Promise<string> {
  return run(cwd, 'npm', ...args)
}
