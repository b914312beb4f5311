import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { processScreen, type Screen } from './screen.ts'

/**
 * Where a command reads from and writes to.
 * @example const terminal: Terminal = { ...processTerminal(), env: { TRIARCH_STORE: 'shop.db' } }
 */
export interface Terminal {
  /** Writes to the standard output. */
  out(text: string): void
  /** Writes to the standard error. */
  err(text: string): void
  /** All of the standard input. */
  read(): Promise<string>
  /** What a person answers; null: nobody is there to ask. */
  ask(question: string): Promise<string | null>
  /** What a person answers without its being shown; null: nobody is there to ask. */
  secret(question: string): Promise<string | null>
  /** How wide the terminal is; null: it is none, and nothing is cut. */
  width: number | null
  /** How wide the terminal of the standard error is; null: it is none, or cannot be drawn on. */
  errWidth: number | null
  /** Takes the terminal over, to draw on all of it; null: it is none, or cannot be drawn on. */
  screen(): Screen | null
  /** Whether to colour what is written. */
  colour: boolean
  /** The environment variables. */
  env: Readonly<Record<string, string | undefined>>
}

/**
 * The terminal of this process.
 * @example process.exitCode = await run(['task', 'list'], processTerminal())
 */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process
  const people = stdin.isTTY && stderr.isTTY
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    read: () => text(stdin),
    async ask(question) {
      if (!people) return null
      const lines = createInterface({ input: stdin, output: stderr })
      try {
        return await lines.question(question)
      } finally {
        lines.close()
      }
    },
    async secret(question) {
      if (!people) return null
      const nowhere = new Writable({ write: (_, __, done) => done() })
      const lines = createInterface({ input: stdin, output: nowhere, terminal: true })
      // Whoever sees the question may answer at once: nothing is echoed any more by then.
      stderr.write(question)
      try {
        return await lines.question('')
      } finally {
        lines.close()
        stderr.write('\n')
      }
    },
    width: stdout.isTTY ? stdout.columns : null,
    errWidth: stderr.isTTY && env.TERM !== 'dumb' ? stderr.columns : null,
    screen: processScreen,
    colour: stdout.isTTY && !env.NO_COLOR && env.TERM !== 'dumb',
    env,
  }
}
