/** The command `triarch`, for programs that call it without a process of its own. */

export { type ExitCode, exitCodes } from './exit.ts'
export { run } from './run.ts'
export type { Screen } from './screen.ts'
export { processTerminal, type Terminal } from './terminal.ts'
