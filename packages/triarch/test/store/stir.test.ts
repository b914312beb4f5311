import { describe, expect, it } from 'vitest'
import { systemEnvironment } from '../../src/environment/system.ts'
import { Triarch, workflow } from '../../src/index.ts'
import { Stir } from '../../src/store/sqlite/stir.ts'
import { scratch } from '../engine/scratch.ts'

const flow = workflow('flow', { run: async (n: number) => n + 1 })

describe('processes on one file', () => {
  it('hear of each other’s writes, and wait for no look that is due much later', async () => {
    using file = scratch()
    const { store } = file
    const poll = '1d'
    await using runs = new Triarch({ store, workflows: [flow], poll })
    await runs.start()
    await using submits = new Triarch({ store, workflows: [flow], roles: [], poll, notices: false })
    for (let n = 0; n < 5; n++) expect(await (await submits.submit(flow, n)).result()).toBe(n + 1)
  })
})

describe('a log that is watched', () => {
  it('tells as often as others wrote at most, and nothing of what this process wrote', async () => {
    using file = scratch()
    const [own, other] = [file.store(systemEnvironment()), file.store(systemEnvironment())]
    const write = (store: typeof own, id: string) => store.beat({ id, roles: [], lease: 60_000 })
    await own.open()
    await other.open()
    let told = 0
    let next = Promise.withResolvers<void>()
    const stir = new Stir(
      systemEnvironment(),
      () => own.changes(),
      () => {
        told++
        next.resolve()
      },
    )
    stir.open(file.path)
    // The first look knows no number before it.
    await write(own, 'own')
    await next.promise
    for (const round of [2, 3]) {
      next = Promise.withResolvers()
      for (let n = 0; n < 3; n++) await write(own, 'own')
      await write(other, 'other')
      await next.promise
      expect(told).toBe(round)
    }
    stir.close()
    await own.close()
    await other.close()
  })

  it('may be one that is not there: then nothing is told, and nothing fails', () => {
    using file = scratch()
    const stir = new Stir(systemEnvironment(), async () => null, expect.unreachable)
    stir.open(file.path)
    stir.close()
  })
})
