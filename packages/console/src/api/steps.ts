import { type Api, get } from './client.ts'

/** Steps of a task that are read: the server gives no more than 1,000, and no more than 1 MiB, at a time. */
const MOST = 5_000

/** An answer with steps, page after page of them; `next` is left in it where there are still more. Throws ApiError. */
export async function getSteps<T extends Api['Steps'] | Api['Moment']>(path: string, signal?: AbortSignal): Promise<T> {
  const first = await get<T>(path, signal)
  const steps = [...first.steps]
  // The last record may be another by the time of the second page.
  const at = 'seq' in first && !path.includes('?') ? `&at=${first.seq}` : ''
  let next = first.next
  while (next !== undefined && steps.length < MOST) {
    const page: T = await get<T>(`${path}${path.includes('?') ? '&' : '?'}after=${next}${at}`, signal)
    steps.push(...page.steps)
    next = page.next
  }
  const { next: _, ...rest } = first
  return { ...rest, steps, ...(next !== undefined && { next }) } as T
}
