// The module of an action that runs in threads.

import { threadId } from 'node:worker_threads'
import { PermanentError, type StepContext, TransientError, UnknownOutcomeError } from '../../src/index.ts'

export interface Wish {
  do: 'sum' | 'spin' | 'fail' | 'exit' | 'wait' | 'beat' | 'leak' | 'suspend'
  numbers?: number[]
  kind?: 'transient' | 'permanent' | 'unknown' | 'plain'
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
    case 'suspend':
      return step.suspend()
  }
  return { sum, thread: threadId }
}

export function undo({ output }: { output: { sum: number } }, step: StepContext): void {
  step.heartbeat({ progress: output.sum })
}
