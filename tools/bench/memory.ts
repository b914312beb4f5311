import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export interface Memory {
  /** Bytes. */
  rss: number
  heap: number
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** What this process holds once its garbage is gone. */
export function memory(): Memory {
  collect()
  collect()
  const { rss, heapUsed: heap } = process.memoryUsage()
  return { rss, heap }
}
