/**
 * A terminal of which all is drawn anew: the alternate screen, whose user sees again what was there when it is closed.
 * @example
 * const screen = processTerminal().screen()
 * screen?.close()
 */
export interface Screen {
  /** How many columns and lines it has now. */
  size(): { columns: number; lines: number }
  /** Shows these lines, from the top; what was there is gone. */
  draw(lines: readonly string[]): void
  /** Hears of each key, as the terminal sends it. */
  onKey(heard: (key: string) => void): void
  /** Hears that the size is another one. */
  onResize(heard: () => void): void
  /** Gives the terminal back as it was. */
  close(): void
}

const OPEN = '\u001b[?1049h\u001b[?25l'
const CLOSE = '\u001b[?25h\u001b[?1049l'
/** Home, each line with its rest erased, then all that is below. */
const HOME = '\u001b[H'
const REST = '\u001b[K'
const BELOW = '\u001b[J'

/** The terminal of this process; null where it is none, or cannot be drawn on. */
export function processScreen(): Screen | null {
  const { stdin, stdout, env } = process
  if (!stdin.isTTY || !stdout.isTTY || !env.TERM || env.TERM === 'dumb') return null
  let isOpen = true
  const keys = new Set<(key: string) => void>()
  const sizes = new Set<() => void>()
  const heard = (key: string) => {
    for (const one of keys) one(key)
  }
  const resized = () => {
    for (const one of sizes) one()
  }
  const close = () => {
    if (!isOpen) return
    isOpen = false
    stdin.off('data', heard)
    stdout.off('resize', resized)
    process.off('exit', close)
    stdin.setRawMode(false)
    stdin.pause()
    stdout.write(CLOSE)
  }
  stdout.write(OPEN)
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  stdin.on('data', heard)
  stdin.resume()
  stdout.on('resize', resized)
  // However the process ends: a shell must not be left without an echo.
  process.on('exit', close)
  return {
    size: () => ({ columns: stdout.columns || 80, lines: stdout.rows || 24 }),
    draw: (lines) =>
      void (isOpen && stdout.write(`${HOME}${lines.map((line) => `${line}${REST}`).join('\r\n')}${BELOW}`)),
    onKey: (one) => void keys.add(one),
    onResize: (one) => void sizes.add(one),
    close,
  }
}
