import { describe, expect, it } from 'vitest'
import { agent, type Duration, workflow } from '../../src/index.ts'
import { eventsOf, stage } from '../engine/harness.ts'
import { Puppet } from './puppet.ts'

/** A server, and processes of agents that are never heard of again once one of them begins what kills it. Another follows each after `gap`. */
async function mortals(gap: Duration, lease: Duration = '10s') {
  const own = agent('own')
  const run = async (_: string): Promise<unknown> => null
  const act = own.action('act', { run, attemptWithin: '10m', retry: { attempts: 1 } })
  const flow = workflow('flow', { run: (what: string, task) => task.run(act, what) })
  const s = await stage({ workflows: [flow], lease, sweep: '1s', poll: '100ms' })
  const agents = s.engine.triarch.serving.remoteAgents()
  const deaths: string[] = []
  let born = 0
  let bornAt = 0
  let puppet: Puppet | null = null
  /** What runs in the process that lives, and when it will be done. */
  let running: { attempt: string; until: number }[] = []
  const now = () => s.engine.now().getTime()
  const begin = async () => {
    await s.advance(gap)
    puppet = new Puppet(agents, `process ${++born}`)
    bornAt = now()
    running = []
    await puppet.hello({ own: 10 })
    return puppet
  }
  /** Goes on for so long. `oldest`: no process lives for longer. */
  const live = async (ms: number, oldest = Number.POSITIVE_INFINITY) => {
    for (const end = now() + ms; now() < end; ) {
      const one: Puppet = puppet ?? (await begin())
      await s.advance('100ms')
      for (const { attempt, input, task } of await one.attempts()) {
        if (input === 'kills') {
          deaths.push(task)
          puppet = null
        } else running.push({ attempt, until: now() + Number(input) })
      }
      if (now() - bornAt >= oldest) puppet = null
      if (puppet === null) continue
      const done = running.filter(({ until }) => until <= now())
      running = running.filter((it) => !done.includes(it))
      for (const { attempt } of done) await one.reply(attempt, { kind: 'done', output: 'done' })
    }
  }
  return { s, flow, deaths, live, [Symbol.asyncDispose]: () => s[Symbol.asyncDispose]() }
}

describe('a step that its process of agents dies of', () => {
  it('is quarantined alone after a few deaths, with an alert, and costs those beside it no attempt', async () => {
    await using t = await mortals('1s')
    const ids = [50, 3_000, 20_000, 30_000].map((ms) => [`innocent ${ms}`, ms] as const)
    for (const [id, ms] of ids) await t.s.submit(t.flow, String(ms), { id })
    const bad = await t.s.submit(t.flow, 'kills', { id: 'killer' })
    await t.live(300_000)
    const error = { code: 'STEP_KEEPS_DYING' }
    expect(await bad.status()).toMatchObject({ status: 'paused', failures: 0, pause: { cause: 'step', error } })
    // Nobody sees how it died: what is only silent counts half.
    expect(t.deaths).toEqual(Array.from({ length: 10 }, () => 'killer'))
    expect(t.s.alerts.at(-1)?.message).toMatch(/was lost with its process 10 times in a row/)
    for (const [id] of ids)
      expect(await t.s.engine.tasks.get(id).status()).toMatchObject({ outcome: 'success', failures: 0 })
  })

  it('is said to begin only where a process has lived for long enough to try it', async () => {
    await using t = await mortals('100ms', 600)
    const bad = await t.s.submit(t.flow, 'kills')
    await t.live(60_000)
    expect(t.deaths).toHaveLength(10)
    const trials = (await eventsOf(bad, 'heartbeat')).filter(({ trial }) => trial === 'begun')
    expect(trials).toHaveLength(6)
  })

  it('is not one whose processes live for no longer than a moment', async () => {
    await using t = await mortals('11s')
    const task = await t.s.submit(t.flow, '3000')
    await t.live(400_000, 900)
    expect((await task.status()).status).toBe('running')
    await t.live(100_000)
    expect(await task.status()).toMatchObject({ outcome: 'success', failures: 0 })
  })
})
