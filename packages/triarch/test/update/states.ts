import { readFileSync, writeFileSync } from 'node:fs'
import { expect, vi } from 'vitest'
import { type Effect, effectsIn, type Member } from './release.ts'

/** Where the file is of which a task waits. */
type Path = (file: string) => string

/** Brings tasks into every state, and leaves them there. */
export async function begin(before: Member, path: Path): Promise<void> {
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
}

/** More than the agent has room for. */
const CROWD = 110

/**
 * As well what only shows when nobody looks: requests in the queue of an agent, the answer of a transaction, and a letter to a task
 * whose node has died.
 */
export async function beginMore(before: Member, other: Member, path: Path): Promise<void> {
  await before.ask('submit', 'journey', 'half', { id: 'half' })
  await before.ask('signal', 'half', 'one')
  await vi.waitFor(async () => expect(await before.ask('awaited', 'half')).toEqual(['two']), { timeout: 120_000 })
  for (let n = 0; n < CROWD; n++) await before.ask('submit', 'working', path('slow'), { id: `crowd-${n}` })
  await before.kill()
  await other.ask('signal', 'half', 'two')
  await other.kill()
}

/** The same of these: the letter is there, so nobody says it again. */
export async function finishMore(now: Member): Promise<void> {
  for (let n = 0; n < CROWD; n++) {
    const end = { status: 'stopped', result: 'success', output: 'slow' }
    expect([n, await until(now, `crowd-${n}`, 'stopped')]).toEqual([n, end])
  }
  expect(await until(now, 'half', 'stopped')).toMatchObject({ result: 'success', output: journeyOf('half', 'half') })
}

/** Every one of them comes to its right end. */
export async function finish(now: Member, path: Path, journal: string): Promise<void> {
  for (const file of ['check', 'slow', 'booked']) writeFileSync(path(file), '')
  expect(await now.ask('schedules')).toEqual(['hourly'])
  for (const event of ['one', 'two']) await now.ask('signal', 'journey', event)
  const [child] = await now.ask<string[]>('children', 'parent')
  const [first] = await now.ask<string[]>('children', 'batch')
  for (const id of ['listening', 'holds', 'waits', child, first, 'round']) await now.ask('signal', id, 'go')
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
  expect(keys(journal, 'unbooked', 'compensating')).toEqual([keyOf('compensating', '1:undo')])
  expect(keys(journal, 'buy', 'journey')).toEqual(['1', '4', '5'].map((step) => keyOf('journey', step)))
}

/** Effects of this kind under their keys, once each: an attempt whose node died may have had its effect before. */
export function keys(journal: string, kind: string, task: string): string[] {
  const of = (it: Effect) => it.kind === kind && it.task === task
  const found = effectsIn(journal).filter(of)
  return [...new Set(found.map(({ key }) => key))].sort()
}

/** What the member sees of the task, once it is in this state. */
export async function until(member: Member, id: string, status: string): Promise<{ status: string; output: unknown }> {
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
  const both = ['left', 'right']
  return { name, first: 'first', child: 'child', both, answer: 42, success: 3, local: keyOf(id, '11') }
}

/** Of this step. In between is which of the tasks that ever had the id it is. */
function keyOf(id: string, step: string): unknown {
  return expect.stringMatching(new RegExp(`^${id}~.+:${step}$`))
}
