// Sees to it that nothing is left behind, even when the harness is killed: see process/warden.ts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Warden {
  /** This process is to end with the harness. */
  watch(pid: number | undefined, signal?: NodeJS.Signals): void
  /** It has ended. */
  forget(pid: number | undefined): void
  /** This directory is to go with the harness. */
  remove(directory: string): void
  /** Everything has ended that was to end. */
  dismiss(): Promise<void>
}

export function appointWarden(): Warden {
  const file = fileURLToPath(new URL('process/warden.ts', import.meta.url))
  // In a session of its own: what is typed at the harness's terminal must not reach it.
  const child = spawn(process.execPath, [file], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  child.stdin.on('error', () => undefined)
  const tell = (line: string) => void child.stdin.write(`${line}\n`)
  return {
    watch: (pid, signal = 'SIGKILL') => pid !== undefined && tell(`+${pid} ${signal}`),
    forget: (pid) => pid !== undefined && tell(`-${pid}`),
    remove: (directory) => tell(`rm ${directory}`),
    async dismiss() {
      const exit = once(child, 'exit')
      child.stdin.end()
      await exit
    },
  }
}
