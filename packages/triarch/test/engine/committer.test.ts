import { describe, expect, it } from 'vitest'
import { Committer } from '../../src/scheduler/committer.ts'
import type { CommitOutcome, StateStore, Transition } from '../../src/store/port.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { transition, workRequest } from '../store/samples.ts'

/** A store that answers when it is told to; `sizes`: how much each commit that was begun had. */
function scene(commitsAtOnce?: number) {
  const environment = new VirtualEnvironment()
  const open: (() => void)[] = []
  const sizes: number[] = []
  const commit = async (batch: readonly Transition[]): Promise<CommitOutcome[]> => {
    sizes.push(batch.length)
    await new Promise<void>((resolve) => open.push(resolve))
    return batch.map(() => ({ ok: true, key: 1 }))
  }
  const committer = new Committer(environment, { commit, commitsAtOnce } as unknown as StateStore)
  let told = 0
  const send = async (count: number, change: Partial<Transition> = {}) => {
    for (let n = 0; n < count; n++)
      committer.commit(transition({ key: 1, id: `t${n}`, epoch: 1 }, change), () => {
        told++
      })
    await environment.advance(1)
  }
  const answer = async () => {
    open.shift()?.()
    await environment.advance(1)
  }
  return { sizes, send, answer, told: () => told }
}

describe('group commit', () => {
  it('sends a crowd in two halves, so that one is written while the other goes on', async () => {
    const { sizes, send, answer, told } = scene()
    await send(200)
    expect(sizes).toEqual([100])
    await answer()
    expect([sizes, told()]).toEqual([[100, 100], 100])
  })

  it('gathers what comes while a commit is in flight into the next one', async () => {
    const { sizes, send, answer } = scene()
    await send(1)
    await send(150)
    await send(30)
    expect(sizes).toEqual([1])
    await answer()
    expect(sizes).toEqual([1, 180])
  })

  it('writes as many commits side by side as the store takes, and no more', async () => {
    const { sizes, send, answer, told } = scene(2)
    await send(200)
    await send(300)
    expect(sizes).toEqual([100, 100])
    await answer()
    expect([sizes, told()]).toEqual([[100, 100, 300], 100])
  })

  it('keeps a few together with those that come meanwhile, instead of giving them a flush of their own', async () => {
    const { sizes, send, answer, told } = scene(2)
    await send(20)
    await send(40)
    expect(sizes).toEqual([20])
    await send(60)
    expect(sizes).toEqual([20, 100])
    await send(10)
    await answer()
    await answer()
    await answer()
    expect([sizes, told()]).toEqual([[20, 100, 10], 130])
  })

  it('counts what requests carry, though their records say it in a few characters', async () => {
    const { sizes, send, answer } = scene()
    const { request, ...work } = workRequest('t', 2)
    await send(90, { work: [{ ...work, request: { ...request, input: ['x'.repeat(1024 * 1024)] } }] })
    for (let n = 0; n < 5; n++) await answer()
    expect(sizes).toEqual([15, 15, 15, 15, 15, 15])
  })
})
