import { describe, expect, it } from 'vitest'
import { TriarchError } from '../../src/error/error.ts'
import { Committer } from '../../src/scheduler/committer.ts'
import type { CommitOutcome, StateStore, Transition } from '../../src/store/port.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { transition } from '../store/samples.ts'

/** A store in which rows of some tasks are another's for now. */
function scene(taken: string[], { takes = 200 } = {}) {
  const environment = new VirtualEnvironment()
  const held = new Set(taken)
  const written: string[][] = []
  const commit = async (batch: readonly Transition[]): Promise<CommitOutcome[]> => {
    const blocked = batch.some(({ id }) => held.has(id))
    if (blocked) {
      await new Promise<void>((resolve) => environment.timer(takes, resolve))
      throw new TriarchError('STORE_BUSY', 'somebody holds it', { details: { blocked: true } })
    }
    written.push(batch.map(({ id }) => id))
    return batch.map(() => ({ ok: true, key: 1 }))
  }
  const committer = new Committer(environment, { commit } as unknown as StateStore)
  const outcomes = new Map<string, CommitOutcome | Error>()
  const send = (...ids: string[]) => {
    for (const id of ids)
      committer.commit(transition({ key: 1, id, epoch: 1 }), (outcome) => void outcomes.set(id, outcome))
  }
  return { environment, held, written, outcomes, send }
}

const many = (count: number, name = 't') => Array.from({ length: count }, (_, index) => `${name}${index}`)

describe('a group commit of which something is blocked', () => {
  it('is parted until all that is not blocked is written', async () => {
    const { environment, outcomes, send } = scene(['t7', 't300'])
    send(...many(500))
    await environment.advance(3_000)
    expect(outcomes.size).toBe(498)
    expect([...outcomes.values()].every((it) => !(it instanceof Error) && it.ok)).toBe(true)
    expect(['t7', 't300'].some((id) => outcomes.has(id))).toBe(false)
  })

  it('does not hold up what comes after it', async () => {
    const { environment, outcomes, send } = scene(['stuck', 'also', 'third'])
    send('stuck')
    await environment.advance(1)
    send('also')
    await environment.advance(250)
    // Whatever is in flight now, and blocked too, is not waited for.
    send('third')
    await environment.advance(1)
    send(...many(20))
    await environment.advance(60)
    expect(outcomes.size).toBe(20)
  })

  it('is written when nothing is in its way any more, the others of its kind soon after the first', async () => {
    const stuck = many(20, 'stuck')
    const { environment, outcomes, held, send } = scene(stuck)
    send(...stuck)
    await environment.advance(20_000)
    expect(outcomes.size).toBe(0)
    held.clear()
    await environment.advance(2_500)
    expect(outcomes.size).toBe(20)
  })

  it('is given back when that takes too long', async () => {
    const { environment, outcomes, send } = scene(['stuck'])
    send('stuck', 'other')
    await environment.advance(60_000)
    expect(outcomes.get('other')).toMatchObject({ ok: true })
    expect(outcomes.get('stuck')).toMatchObject({ code: 'STORE_BUSY' })
  })
})
