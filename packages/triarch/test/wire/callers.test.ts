import { expect, it } from 'vitest'
import type { AgentLink, Offered } from '../../src/agent/remote.ts'
import { Remotes } from '../../src/agent/remote.ts'
import { Callers } from '../../src/wire/callers.ts'

const offer = (agent: string, count: number) => {
  const actions = Array.from({ length: count }, (_, index) => `${agent}.action-${index}`)
  return { agent, slots: 1, actions }
}

it('the node hears once of all that a hello offers, and agents that nobody offers any more are forgotten', () => {
  const told: (readonly Offered[])[] = []
  const known = new Set<string>()
  const remotes = new Remotes(1_000)
  remotes.bind({
    id: 'n-1',
    offered: (offers) => {
      if (offers.length > 0) told.push(offers)
      for (const { agent } of offers) known.add(agent)
    },
    forgotten: (agent) => known.delete(agent),
    adopted: () => undefined,
  })
  for (let process = 0; process < 50; process++) {
    const link = { age: 0 } as AgentLink
    const offers = Array.from({ length: 100 }, (_, index) => offer(`agent-${process}-${index}`, 10))
    remotes.offer(link, offers)
    remotes.leave(link)
  }
  expect(told.length).toBe(100)
  expect(known.size).toBe(100)
})

it('one caller has so many sessions, agents and actions, whatever others have, and gets back what it gives up', () => {
  const callers = new Callers()
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `a-${index}`, slots: 1, actions: [`a-${index}.do`] }))
  expect(callers.take('mail', many(500))).toBe(null)
  expect(callers.take('mail', [{ name: 'one-more', slots: 1, actions: [] }])).toMatch(/at most 500 agents/)
  expect(callers.take('pay', many(500))).toBe(null)
  // The same names in another process are not counted again.
  expect(callers.take('mail', many(500))).toBe(null)
  callers.release('mail', many(500))
  callers.release('mail', many(500))
  const wide = Array.from({ length: 10 }, (_, index) => {
    return { name: `w-${index}`, slots: 1, actions: offer(`w-${index}`, 1_000).actions }
  })
  expect(callers.take('mail', wide)).toBe(null)
  expect(callers.take('mail', [{ name: 'w-0', slots: 1, actions: ['w-0.another'] }])).toMatch(/10000 actions/)
  callers.release('mail', wide)
  for (let process = 0; process < 1_000; process++) expect(callers.take('mail', many(1))).toBe(null)
  expect(callers.take('mail', many(1))).toMatch(/at most 1000 sessions/)
})
