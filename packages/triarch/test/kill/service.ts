import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One call, as the service saw it. */
export interface Call {
  pid: number
  /** When its attempt began (ms of the machine's monotonic clock, which all processes share). */
  at: number
  task: string
  /** Null: it is under way. */
  end: 'answered' | 'refused' | 'cut off' | null
  answer(status?: number): void
}

/** What becomes of a call when it comes: a status, or nothing yet. */
export type Manner = (call: Call) => number | null

/** A service over HTTP: what it saw of all processes, also of those that died while they were served. */
export async function serving(manner: Manner) {
  const calls: Call[] = []
  const watchers = new Set<() => void>()
  const state = { manner, most: 0 }
  const open = () => calls.filter(({ end }) => end === null)
  const news = () => {
    state.most = Math.max(state.most, open().length)
    for (const watcher of [...watchers]) watcher()
  }
  const take = (said: Pick<Call, 'pid' | 'at' | 'task'>, response: ServerResponse) => {
    const call: Call = {
      ...said,
      end: null,
      answer(status = 200) {
        if (call.end !== null) return
        call.end = status === 200 ? 'answered' : 'refused'
        response.writeHead(status).end()
        news()
      },
    }
    // The system closes what a dead process had open: from then on nothing of it is under way.
    response.once('close', () => {
      call.end ??= 'cut off'
      news()
    })
    calls.push(call)
    const status = state.manner(call)
    if (status !== null) call.answer(status)
    else news()
  }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    take(JSON.parse(text), response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    open,
    /** The most that were under way at a time. */
    get most() {
      return state.most
    },
    /** From now on; and what is under way, too. */
    becomes(manner: Manner): void {
      state.manner = manner
      for (const call of open()) {
        const status = manner(call)
        if (status !== null) call.answer(status)
      }
    },
    /** Looks at each call that comes or ends. */
    until(holds: () => boolean): Promise<void> {
      return new Promise((resolve) => {
        const watcher = () => {
          if (!holds()) return
          watchers.delete(watcher)
          resolve()
        }
        watchers.add(watcher)
        watcher()
      })
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
