import { describe, expect, it } from 'vitest'
import { TriarchError } from '../../src/index.ts'
import type { Message } from '../../src/kernel/message.ts'
import { handOn } from '../../src/scheduler/handover.ts'
import type { Post } from '../../src/store/port.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'

const message = (step: number): Message => ({ type: 'heartbeat', step, attempt: 1, at: 0 }) as Message

/** Hands three messages on to a store that refuses those that `refuses` names, at the moment it is asked. */
async function handedOn(refuses: (step: number, now: number) => boolean) {
  const environment = new VirtualEnvironment()
  const posted: number[] = []
  let failures = 0
  const post = async (posts: readonly Post[]) => {
    const steps = posts.map((it) => (it.message as { step: number }).step)
    if (steps.some((step) => refuses(step, environment.monotonic()))) throw new TriarchError('STORE_FAILED', 'no')
    posted.push(...steps)
    return posts.map(() => 'posted' as const)
  }
  const began = environment.monotonic()
  const done = handOn({ environment, store: { post }, failed: () => failures++ }, 't', [1, 2, 3].map(message))
  let over = false
  void done.then(() => {
    over = true
  })
  while (!over) await environment.advance(1_000)
  return { posted, failures, took: environment.monotonic() - began }
}

describe('what an owner hands on', () => {
  it('is kept while a store refuses everything for some seconds', async () => {
    const { posted } = await handedOn((_, now) => now < 8_000)
    expect(posted).toEqual([1, 2, 3])
  })

  it('is given up one by one where the store refuses it for ever, and those behind it are handed on', async () => {
    const { posted, took } = await handedOn((step) => step === 2)
    expect(posted).toEqual([1, 3])
    expect(took).toBeLessThan(60_000)
  })
})
