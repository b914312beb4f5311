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

describe('a process that listens', () => {
  it('is told once of what others committed, however much, and of nothing that it committed itself', async () => {
    using file = scratch()
    const [own, other] = [file.store(systemEnvironment()), file.store(systemEnvironment())]
    const write = (store: typeof own, id: string) => store.beat({ id, roles: [], lease: 60_000 })
    await own.open()
    await other.open()
    let told = 0
    let next = Promise.withResolvers<void>()
    const hears = new Stir(
      systemEnvironment(),
      file.path,
      () => own.changes(),
      () => {
        told++
        next.resolve()
      },
    )
    const tells = new Stir(systemEnvironment(), file.path, async () => null, expect.unreachable)
    hears.listen()
    // The first look knows no number before it.
    hears.committed()
    await next.promise
    for (const round of [2, 3]) {
      next = Promise.withResolvers()
      for (let n = 0; n < 3; n++) {
        await write(own, 'own')
        hears.committed()
      }
      await write(other, 'other')
      tells.committed()
      await next.promise
      expect(told).toBe(round)
    }
    hears.close()
    tells.close()
    await own.close()
    await other.close()
  })

  it('hears of another at once although it has just committed itself, whoever was first', async () => {
    using file = scratch()
    const [own, other] = [file.store(systemEnvironment()), file.store(systemEnvironment())]
    await own.open()
    await other.open()
    let next = Promise.withResolvers<void>()
    // What comes later than at once never comes.
    const patient = { ...systemEnvironment(), timer: () => ({ cancel: () => undefined }) }
    const hears = new Stir(
      patient,
      file.path,
      () => own.changes(),
      () => next.resolve(),
    )
    const tells = new Stir(systemEnvironment(), file.path, async () => null, expect.unreachable)
    hears.listen()
    tells.committed()
    await next.promise
    for (const inOrder of [
      [hears, tells],
      [tells, hears],
    ]) {
      next = Promise.withResolvers()
      await other.beat({ id: 'other', roles: [], lease: 60_000 })
      for (const it of inOrder) it.committed()
      await next.promise
    }
    hears.close()
    tells.close()
    await own.close()
    await other.close()
  })

  it('may do so where there is no such file: then nothing is told, and nothing fails', () => {
    using file = scratch()
    const stir = new Stir(systemEnvironment(), file.path, async () => null, expect.unreachable)
    stir.listen()
    stir.committed()
    stir.close()
  })
})
