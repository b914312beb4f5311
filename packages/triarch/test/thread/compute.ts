// The module of an action that runs in threads.

import { parentPort, threadId, workerData } from 'node:worker_threads'
import { PermanentError, type StepContext, TransientError, UnknownOutcomeError } from '../../src/index.ts'

export interface Wish {
  do: 'sum' | 'spin' | 'fail' | 'exit' | 'wait' | 'beat' | 'leak' | 'suspend' | 'forge' | 'stray' | 'leave' | 'release'
  numbers?: number[]
  kind?: 'transient' | 'permanent' | 'unknown' | 'plain' | 'deep' | 'hostile'
}

function spin(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

export async function run(wish: Wish, step: StepContext): Promise<{ sum: number; thread: number; note?: unknown }> {
  const sum = (wish.numbers ?? []).reduce((a, b) => a + b, 0)
  switch (wish.do) {
    case 'spin':
      spin(60_000)
      break
    case 'fail': {
      if (wish.kind === 'transient') throw new TransientError('later', { retryAfter: 30 })
      if (wish.kind === 'permanent') throw new PermanentError('never')
      if (wish.kind === 'unknown') throw new UnknownOutcomeError('who knows')
      if (wish.kind === 'deep') {
        let details: unknown = 1
        for (let level = 0; level < 3_900; level++) details = [details]
        throw Object.assign(new PermanentError('deep'), { details })
      }
      if (wish.kind === 'hostile')
        throw Object.defineProperty(new Error('hostile'), 'message', {
          get() {
            throw new Error('nobody reads it')
          },
        })
      throw Object.assign(new RangeError('plain'), { code: 'E_PLAIN' })
    }
    case 'exit':
      if (step.attempt === 1) process.exit(1)
      break
    case 'wait':
      await new Promise((resolve) => step.signal.addEventListener('abort', resolve))
      throw step.signal.reason
    case 'beat':
      step.heartbeat({ progress: 0.5, checkpoint: { at: 7 } })
      if (step.attempt === 1) throw new TransientError('once')
      return { sum, thread: threadId, note: { checkpoint: step.checkpoint, metadata: step.metadata } }
    case 'leak':
      return { sum, thread: threadId, note: () => undefined }
    case 'forge':
      for (const word of [null, undefined, 7, 'done']) parentPort?.postMessage(word)
      for (let id = 0; id < 20; id++) parentPort?.postMessage({ id, type: 'done', output: 'forged' })
      return { sum, thread: threadId, note: Object.keys(workerData as object) }
    case 'stray':
      if (step.attempt > 1) break
      void Promise.reject(new Error('left behind'))
      await new Promise(() => undefined)
      break
    case 'leave':
      void new Promise((resolve) => Object.assign(globalThis, { release: resolve })).then(() => {
        throw new Error('left behind')
      })
      break
    case 'release':
      ;(globalThis as unknown as { release: (of: unknown) => void }).release(null)
      await new Promise((resolve) => setImmediate(resolve))
      break
    case 'suspend':
      return step.suspend()
  }
  return { sum, thread: threadId }
}

export function undo({ output }: { output: { sum: number } }, step: StepContext): void {
  step.heartbeat({ progress: output.sum })
}
