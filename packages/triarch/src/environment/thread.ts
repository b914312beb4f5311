/**
 * With what a thread of ours is started: as this process was, unless that was told what its own text is (`--input-type`, given with
 * `--eval`), for a thread would take it for its own text, or refuse to start from a file.
 */
export function threadArguments(): { execArgv?: string[] } {
  return process.execArgv.some((argument) => argument.startsWith('--input-type')) ? { execArgv: [] } : {}
}
