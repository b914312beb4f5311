import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../manifest.ts'

const execute = promisify(execFile)

/** Programs of packaging/node_modules: bundlers, linters and runtimes. */
export const tools: string = join(root, 'packaging/node_modules')

/** What the program printed; it fails with all that it said. */
export async function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await execute(program, args, { cwd, maxBuffer: 64 << 20 })
    return stdout.trim()
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`${[program, ...args].join(' ')} failed:\n${stdout}\n${stderr}`)
  }
}

/** npm as in a shell of its own: without the settings that an npm around us gave by the environment. */
export async function npm(cwd: string, ...args: string[]): Promise<string> {
  const entries = Object.entries(process.env).filter(([name]) => !/^npm_(?!config_(cache|registry)$)/i.test(name))
  const { stdout } = await execute('npm', args, { cwd, env: Object.fromEntries(entries), maxBuffer: 64 << 20 })
  return stdout.trim()
}
