import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { later, Member, type Program, today } from './release.ts'
import { begin, beginMore, finish, finishMore, keys, until } from './states.ts'

/** What a version and the next one guarantee that work on one store. `fresh`: the address of one that nobody has opened. */
export function rollingSuite(name: string, fresh: (folder: string) => Promise<string>): void {
  const root = mkdtempSync(join(tmpdir(), 'triarch-rolling-'))
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  describe(`a roll-out on ${name}`, { timeout: 600_000 }, () => {
    let folder: string
    let store: string
    const members: Member[] = []
    const journal = () => join(folder, 'journal')
    const path = (file: string) => join(folder, file)
    const start = async (program: Program) => {
      const member = await Member.start(program, store, journal())
      members.push(member)
      return member
    }
    beforeEach(async () => {
      folder = mkdtempSync(join(root, 'test-'))
      store = await fresh(folder)
    })
    afterEach(async () => {
      for (const member of members.splice(0)) await member.kill()
    })

    it('lets the next version finish whatever the one before has begun, in any state', async () => {
      const before = await start(today)
      await begin(before, path)
      await beginMore(before, await start(today), path)
      const now = await start(later)
      await finish(now, path, journal())
      await finishMore(now)
      await now.stop()
    })

    it.each([
      ['the earlier one first', true],
      ['the later one first', false],
    ])('hands tasks over both ways, %s', async (_, earlierFirst) => {
      const [one, other] = earlierFirst ? [today, later] : [later, today]
      const first = await start(one)
      const second = await start(other)
      const ids = Array.from({ length: 6 }, (_, n) => `task-${n}`)
      for (const [n, id] of ids.entries()) {
        await (n % 2 === 0 ? first : second).ask('submit', 'journey', id, { id, metadata: { tenant: 'a' } })
      }
      for (const id of ids) await until(second, id, 'running')
      await first.stop()
      for (const id of ids) await second.ask('signal', id, 'one')
      for (const id of ids.slice(0, 2)) await until(second, id, 'running')

      const third = await start(one)
      await second.kill()
      for (const id of ids) await third.ask('signal', id, 'two')
      const fourth = await start(other)
      for (const id of ids) {
        expect(await until(fourth, id, 'stopped')).toMatchObject({
          result: 'success',
          output: { name: id, answer: 42 },
        })
        const bought = new Set(keys(journal(), 'buy', id))
        expect(bought.size).toBe(3)
      }
      await third.stop()
      await fourth.stop()
    })

    it('leaves a store that the version before still opens, and goes on with', async () => {
      const now = await start(later)
      await now.ask('submit', 'journey', 'back', { id: 'back', metadata: { tenant: 'a' } })
      await now.ask('submit', 'round', 'a', { id: 'round' })
      await until(now, 'back', 'running')
      await now.stop()

      const before = await start(today)
      for (const event of ['one', 'two']) await before.ask('signal', 'back', event)
      await before.ask('signal', 'round', 'go')
      expect(await until(before, 'back', 'stopped')).toMatchObject({ result: 'success', output: { name: 'back' } })
      expect(await until(before, 'round', 'stopped')).toMatchObject({ result: 'success', output: 'axx' })
      await before.stop()
    })
  })
}
