// What the terminal shows while the shop is busy: one line that changes, or, where lines cannot change, one now and then.
import { styleText } from 'node:util'

export interface Progress {
  /** What is shown until the next. `done`: how much of the whole, 0 to 1; a bar, where there is room for one. */
  show(line: string, done?: number): void
  note(line: string): void
  end(): void
}

const PLAIN_EVERY = 2_000
const LONGEST_BAR = 30

export function progress(out: NodeJS.WriteStream, silent: boolean): Progress {
  if (silent) return { show: () => undefined, note: () => undefined, end: () => undefined }
  return out.isTTY ? live(out) : plain(out)
}

/** A bar and what it is about, in so many columns. */
export function barred(line: string, done: number, columns: number): string {
  const room = Math.min(LONGEST_BAR, columns - line.length - 1)
  if (room < 5) return line.slice(0, columns)
  const full = Math.floor(room * Math.min(1, Math.max(0, done)))
  return `${'█'.repeat(full)}${'░'.repeat(room - full)} ${line}`
}

function live(out: NodeJS.WriteStream): Progress {
  let last: [line: string, done?: number | undefined] = ['']
  const draw = () => {
    const columns = (out.columns || 80) - 1
    const [line, done] = last
    out.write(`\r\x1b[2K${done === undefined ? line.slice(0, columns) : barred(line, done, columns)}`)
  }
  return {
    show(...shown) {
      last = shown
      draw()
    },
    note(line) {
      out.write(`\r\x1b[2K${styleText('dim', line)}\n`)
      draw()
    },
    end() {
      out.write('\r\x1b[2K')
    },
  }
}

function plain(out: NodeJS.WriteStream): Progress {
  let shownAt = 0
  let last = ''
  return {
    show(line) {
      if (line === last || Date.now() - shownAt < PLAIN_EVERY) return
      last = line
      shownAt = Date.now()
      out.write(`${line}\n`)
    },
    note: (line) => void out.write(`${line}\n`),
    end: () => undefined,
  }
}
