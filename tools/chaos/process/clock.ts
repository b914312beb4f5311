// A clock that somebody sets: what the process takes for the time is off by what it was last told on a line of its input,
// "clock MILLISECONDS". Returns the true time.
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

export function steppable(input: Readable): () => number {
  const truly = Date.now
  let offset = 0
  createInterface({ input }).on('line', (line) => {
    const [word, ms] = line.split(' ')
    if (word === 'clock') offset = Number(ms)
  })
  Date.now = () => truly() + offset
  return truly
}
