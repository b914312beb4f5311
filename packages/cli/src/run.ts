import { type ExitCode, endOf } from './exit.ts'
import { programOf } from './program.ts'
import { cell } from './table.ts'
import type { Terminal } from './terminal.ts'

/**
 * Runs one command: `args` as they are typed after `triarch`. Never rejects: what goes wrong is one line on the standard error, and the
 * exit code.
 * @example process.exitCode = await run(['task', 'list', '--store', 'shop.db'], processTerminal())
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const ended: { exit: ExitCode } = { exit: 0 }
  try {
    await programOf(terminal, (exit) => {
      ended.exit = exit
    }).parseAsync([...args], { from: 'user' })
    return ended.exit
  } catch (error) {
    const { exit, line } = endOf(error)
    if (line !== null) terminal.err(`triarch: ${cell(line)}\n`)
    return exit
  }
}
