import type { Report } from './report.ts'

interface Page<R> {
  rows: readonly R[]
  next: string | undefined
}

/** All rows, a page at a time; whoever waits for them sees how many there are so far. */
export async function everyPage<R>(
  report: Report,
  read: (page: { cursor?: string }) => Promise<Page<R>>,
): Promise<R[]> {
  const found: R[] = []
  const all = async () => {
    let cursor: string | undefined
    do {
      const { rows, next } = await read(cursor === undefined ? {} : { cursor })
      found.push(...rows)
      cursor = next
    } while (cursor !== undefined)
  }
  await report.during('looking', all(), async () => ({ done: found.length, total: null }))
  return found
}
