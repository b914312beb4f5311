// Who is let in is asked for again while something of theirs is open: in virtual time, with keys as a fake store has them.
import type { Keyring } from 'triarch'
import { beforeEach, expect, it, vi } from 'vitest'
import { Refused } from '../src/problem/problem.ts'
import { Guard } from '../src/request/guard.ts'

const clock = vi.hoisted(() => ({ looks: new Set<() => void>(), timers: new Set<() => void>() }))
vi.mock('../src/environment.ts', async (original) => ({
  ...(await original<object>()),
  every(_: number, callback: () => void) {
    clock.looks.add(callback)
    return () => clock.looks.delete(callback)
  },
  timer(_: number, callback: () => void) {
    clock.timers.add(callback)
    return () => clock.timers.delete(callback)
  },
}))

const losses = new Set<() => void>()
const keyring = {
  verify: async () => null,
  onLoss(heard: () => void) {
    losses.add(heard)
    return () => losses.delete(heard)
  },
} as unknown as Keyring

beforeEach(() => {
  for (const all of [clock.looks, clock.timers, losses]) all.clear()
})

const settled = async () => {
  for (let n = 0; n < 10; n++) await null
}
const look = () => {
  for (const ask of [...clock.looks, ...losses]) ask()
  return settled()
}
/** Something that is open: how often it was asked whether it may be, and how it ended. */
function watched(guard: Guard, answer: () => unknown = () => undefined) {
  const seen = { asked: 0, ended: [] as string[], off: (): void => undefined }
  const still = async () => {
    seen.asked++
    const error = answer()
    if (error) throw error
  }
  seen.off = guard.watch(still, ({ code }) => seen.ended.push(code))
  return seen
}
const refused = () => new Refused('UNAUTHENTICATED', 'the key is gone')

it('who holds a key is asked for at once, for it may be gone since; whom `authenticate` knows, only later', async () => {
  const byKey = watched(new Guard(undefined, keyring), refused)
  const known = watched(new Guard(() => null, null), refused)
  await settled()
  expect([byKey.ended, known.ended, known.asked]).toEqual([['UNAUTHENTICATED'], [], 0])
  await look()
  expect(known.ended).toEqual(['UNAUTHENTICATED'])
})

it('whoever cannot be asked for now goes on, and who has ended meanwhile is not ended', async () => {
  for (const error of [
    new Refused('AUTHENTICATION_TIMEOUT', 'late'),
    Object.assign(new Error('no store'), { code: 'STORE_BUSY' }),
  ]) {
    const one = watched(new Guard(() => null, null), () => error)
    await look()
    expect([one.asked, one.ended]).toEqual([1, []])
    one.off()
  }
  const one = watched(new Guard(() => null, null), refused)
  const asked = look()
  one.off()
  await asked
  expect([one.asked, one.ended]).toEqual([1, []])
})

it('nobody is asked for once nothing is open, and again once something is', async () => {
  const guard = new Guard(undefined, keyring)
  const [first, second] = [watched(guard), watched(guard)]
  await settled()
  first.off()
  expect([clock.looks.size, losses.size]).toEqual([1, 1])
  await look()
  // At once, and by each of the two ways.
  expect([first.asked, second.asked]).toEqual([1, 3])
  second.off()
  expect([clock.looks.size, losses.size]).toEqual([0, 0])
  const third = watched(guard)
  await look()
  expect([clock.looks.size, losses.size, third.asked]).toEqual([1, 1, 3])
})

it('a request that waits ends by what refuses it, and is not asked for after it is over', async () => {
  const guard = new Guard(() => null, null)
  const { signal } = new AbortController()
  let error: unknown
  const still = async () => {
    if (error) throw error
  }
  expect(await guard.during(still, { signal }, async () => 'done')).toBe('done')
  expect(clock.looks.size).toBe(0)
  const waiting = guard.during(still, { signal }, (over) => new Promise((resolve) => over.addEventListener('abort', resolve))) // biome-ignore format: one line
  error = refused()
  void look()
  await expect(waiting).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  expect(clock.looks.size).toBe(0)
})

it('who was known in time leaves no timer', async () => {
  const guard = new Guard(async () => ({ id: 'ada' }), null)
  expect(await guard.who(new Request('http://localhost/'))).toEqual({ id: 'ada' })
  expect(clock.timers.size).toBe(0)
  const late = new Guard(() => new Promise(() => undefined), null).who(new Request('http://localhost/'))
  for (const end of clock.timers) end()
  await expect(late).rejects.toMatchObject({ code: 'AUTHENTICATION_TIMEOUT' })
})
