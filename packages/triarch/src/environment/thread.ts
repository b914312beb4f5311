/**
 * The options with which an engine thread is started: those of this process, unless they contain `--input-type` (used with `--eval`), which
 * a thread would apply to its own text, or for which it would refuse to start from a file.
 */
export function threadArguments(): { execArgv?: string[] } {
  return process.execArgv.some((argument) => argument.startsWith('--input-type')) ? { execArgv: [] } : {}
}
