import { signal } from '@preact/signals'
import { type ApiError, send } from './client.ts'

/** Whether what is shown moves with what happens. */
export type Liveness = 'live' | 'paused' | 'stale'

export const isPaused = signal(false)
export const liveness = signal<Liveness>('live')

/** Distance of the first try to the second, when nobody answers; each is twice as long as the one before, up to the longest (ms). */
const FIRST = 500
const LONGEST = 15_000
/** What has stopped may be made to go on: it is asked about so often (ms). */
const AT_REST = 2_000

/** Somebody asked, and an answer came, or none. */
export function answers(came: boolean): void {
  liveness.value = !came ? 'stale' : isPaused.value ? 'paused' : 'live'
}

/** Nobody answered, or only what stands before the server did. A refusal is an answer. */
export function isSilent({ status, code }: ApiError): boolean {
  return status === 0 || (status >= 502 && code === `HTTP_${status}`)
}

/** Reads a stream of Server-Sent Events until the signal aborts; goes on after the last event that was read. */
export async function follow(path: string, heard: () => void, ended: AbortSignal): Promise<void> {
  let last: string | null = null
  let wait = FIRST
  while (!ended.aborted) {
    try {
      const headers = { accept: 'text/event-stream', ...(last !== null && { 'last-event-id': last }) }
      const response = await send(path, { headers, signal: ended })
      answers(true)
      wait = response.status === 204 ? AT_REST : FIRST
      for await (const id of idsOf(response)) {
        last = id ?? last
        heard()
      }
    } catch (error) {
      if (ended.aborted) return
      const { status = 0, code = '' } = error as Partial<ApiError>
      answers(!isSilent({ status, code } as ApiError))
    }
    await new Promise((resolve) => setTimeout(resolve, wait))
    wait = Math.min(wait * 2, LONGEST)
  }
}

/** One for each event. */
async function* idsOf(response: Response): AsyncGenerator<string | null> {
  if (!response.body) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (rest + value).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const lines = block.split('\n')
        if (!lines.some((line) => line.startsWith('data:'))) continue
        yield lines
          .find((line) => line.startsWith('id:'))
          ?.slice(3)
          .trim() ?? null
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
