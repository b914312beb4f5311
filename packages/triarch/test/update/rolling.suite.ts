import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { current, type Effect, effectsIn, Member, released } from './release.ts'

/** The release that must be able to work beside this version. */
const OLD = '71e51d6'

/** What a released version and this one guarantee on one store. `fresh`: the address of an empty one. */
export function rollingSuite(name: string, fresh: (folder: string) => Promise<string>): void {
  const root = mkdtempSync(join(tmpdir(), 'triarch-rolling-'))
  const old = released(OLD, root)
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  describe(`a roll-out on ${name}`, { timeout: 600_000 }, () => {
    let folder: string
    let store: string
    const members: Member[] = []
    const journal = () => join(folder, 'journal')
    const path = (file: string) => join(folder, file)
    const start = async (program: string) => {
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

    it('lets this version finish whatever the one before has begun, in any state', async () => {
      const before = await start(old)
      await before.ask('submit', 'journey', 'long', { id: 'journey' })
      await before.ask('submit', 'small', 'done', { id: 'done' })
      await before.ask('submit', 'listening', '', { id: 'listening' })
      await before.ask('submit', 'checking', path('check'), { id: 'paused' })
      await before.ask('submit', 'working', path('slow'), { id: 'running' })
      await before.ask('submit', 'asking', path('token'), { id: 'suspended' })
      await before.ask('submit', 'holding', '', { id: 'holds' })
      await until(before, 'holds', 'running')
      await before.ask('submit', 'holding', '', { id: 'waits' })
      await before.ask('submit', 'parting', '', { id: 'parent' })
      await before.ask('submit', 'failing', path('booked'), { id: 'compensating' })
      await before.ask('submit', 'planned', path('slow'), { id: 'plan' })
      await before.ask('submit', 'crowd', '', { id: 'batch' })
      await before.ask('submit', 'round', 'a', { id: 'round' })
      await before.ask('submit', 'small', 'thawed', { id: 'frozen', frozen: true })
      await before.ask('submit', 'small', 'later', { id: 'later', startAt: 1_500 })
      await before.ask('submit', 'small', 'after', { id: 'follower', after: 'holds' })
      await before.ask('schedule', 'hourly')
      for (const id of ['running', 'plan', 'batch', 'parent']) await until(before, id, 'running')
      await until(before, 'done', 'stopped')
      await until(before, 'paused', 'paused')
      await until(before, 'compensating', 'compensating')
      await vi.waitFor(() => readFileSync(path('token')), { timeout: 120_000 })
      await before.kill()

      for (const file of ['check', 'slow', 'booked']) writeFileSync(path(file), '')
      const now = await start(current)
      expect(await now.ask('schedules')).toEqual(['hourly'])
      for (const event of ['one', 'two']) await now.ask('emit', 'journey', event)
      for (const id of ['listening', 'holds', 'waits', 'parent.1', 'batch.1.0', 'round'])
        await now.ask('emit', id, 'go')
      await now.ask('retry', 'paused')
      await now.ask('thaw', 'frozen')
      await now.ask('resume', readFileSync(path('token'), 'utf8'), 'answered')

      const ends: Record<string, unknown> = {
        journey: journeyOf('journey', 'long'),
        done: 'done',
        paused: 'checked',
        running: 'slow',
        suspended: 'answered',
        holds: 'held',
        waits: 'held',
        parent: 'wait',
        plan: { a: 'a', b: 'slow' },
        batch: 3,
        round: 'axx',
        frozen: 'thawed',
        later: 'later',
        follower: 'after',
      }
      for (const [id, output] of Object.entries(ends)) {
        expect([id, await until(now, id, 'stopped')]).toEqual([id, { status: 'stopped', result: 'success', output }])
      }
      expect(await until(now, 'compensating', 'stopped')).toMatchObject({ result: 'compensated' })
      expect(keys('unbooked', 'compensating')).toEqual(['compensating:1:undo'])
      expect(keys('buy', 'journey')).toEqual(['journey:1', 'journey:4', 'journey:5'])
      await now.stop()
    })

    it.each([
      ['the old one first', true],
      ['the new one first', false],
    ])('hands tasks over both ways, %s', async (_, oldFirst) => {
      const [one, other] = oldFirst ? [old, current] : [current, old]
      const first = await start(one)
      const second = await start(other)
      const ids = Array.from({ length: 6 }, (_, n) => `task-${n}`)
      for (const [n, id] of ids.entries()) {
        const [member, version] = n % 2 === 0 ? [first, one] : [second, other]
        // What the version before does not know yet, it passes over.
        await member.ask('submit', 'journey', id, { id, ...(version === current && { metadata: { tenant: 'a' } }) })
      }
      for (const id of ids) await until(second, id, 'running')
      await first.stop()
      for (const id of ids) await second.ask('emit', id, 'one')
      for (const id of ids.slice(0, 2)) await until(second, id, 'running')

      const third = await start(one)
      await second.kill()
      for (const id of ids) await third.ask('emit', id, 'two')
      const fourth = await start(other)
      for (const id of ids) {
        expect(await until(fourth, id, 'stopped')).toMatchObject({
          result: 'success',
          output: { name: id, answer: 42 },
        })
        const bought = new Set(keys('buy', id))
        expect(bought.size).toBe(3)
      }
      await third.stop()
      await fourth.stop()
    })

    it('leaves a store that the version before still opens, and goes on with', async () => {
      const now = await start(current)
      await now.ask('submit', 'journey', 'back', { id: 'back', metadata: { tenant: 'a' } })
      await now.ask('submit', 'round', 'a', { id: 'round' })
      await until(now, 'back', 'running')
      await now.stop()

      const before = await start(old)
      for (const event of ['one', 'two']) await before.ask('emit', 'back', event)
      await before.ask('emit', 'round', 'go')
      expect(await until(before, 'back', 'stopped')).toMatchObject({ result: 'success', output: { name: 'back' } })
      expect(await until(before, 'round', 'stopped')).toMatchObject({ result: 'success', output: 'axx' })
      await before.stop()
    })

    /** Effects of this kind under their keys, once each: an attempt whose node died may have had its effect before. */
    function keys(kind: string, task: string): string[] {
      const of = (it: Effect) => it.kind === kind && it.task === task
      return [
        ...new Set(
          effectsIn(journal())
            .filter(of)
            .map(({ key }) => key),
        ),
      ].sort()
    }
  })
}

/** What the member sees of the task, once it is in this state. */
async function until(member: Member, id: string, status: string): Promise<{ status: string; output: unknown }> {
  return vi.waitFor(
    async () => {
      const seen = await member.ask<{ status: string; output: unknown }>('status', id)
      if (seen.status !== status) throw new Error(`task ${id} is ${JSON.stringify(seen)}, not ${status}`)
      return seen
    },
    { timeout: 600_000, interval: 20 },
  )
}

function journeyOf(id: string, name: string): Record<string, unknown> {
  return { name, first: 'first', child: 'child', both: ['left', 'right'], answer: 42, success: 3, local: `${id}:11` }
}
