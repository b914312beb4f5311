import { type Api, get } from '../api/client.ts'
import type { Outcome } from '../part/asking.tsx'

/** So often it is looked whether somebody has taken it up, and at this distance (ms). */
const [LOOKS, DISTANCE] = [20, 500]

/** The last record of a task's history; 0: nobody can say. */
export async function lastOf(path: string): Promise<number> {
  return get<Api['Moment']>(`${path}/moment`).then(
    ({ last }) => last,
    () => 0,
  )
}

/** What came of what was asked of a task under a key, after a record of its history; null: nobody has taken it up in ten seconds. */
export async function outcomeOf(path: string, key: string, last: number): Promise<Outcome | null> {
  let after = last
  for (let look = 0; look < LOOKS; look++) {
    const { records, next } = await get<Api['History']>(`${path}/history?after=${after}`)
    for (const { seq, events } of records) {
      after = seq
      const at = events.findIndex((event) => event.type === 'requestReceived' && event.request.endsWith(` ${key}`))
      if (at < 0) continue
      // What came to nothing says so right behind it.
      const behind = events[at + 1]
      return { record: seq, ignored: behind?.type === 'messageIgnored' ? behind.cause : null }
    }
    if (next === undefined) await new Promise((resolve) => setTimeout(resolve, DISTANCE))
  }
  return null
}
