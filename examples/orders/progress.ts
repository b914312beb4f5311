// What the terminal shows while the shop is busy: one line that changes, or, where lines cannot change, one now and then.
import { styleText } from 'node:util'

export interface Progress {
  show(line: string): void
  note(line: string): void
  end(): void
}

const PLAIN_EVERY = 2_000

export function progress(out: NodeJS.WriteStream, silent: boolean): Progress {
  if (silent) return { show: () => undefined, note: () => undefined, end: () => undefined }
  return out.isTTY ? live(out) : plain(out)
}

function live(out: NodeJS.WriteStream): Progress {
  let last = ''
  const draw = () => out.write(`\r\x1b[2K${last.slice(0, (out.columns || 80) - 1)}`)
  return {
    show(line) {
      last = line
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
