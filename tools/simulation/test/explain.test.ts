import { expect, it } from 'vitest'
import { explain } from '../explain.ts'
import type { Plan } from '../plan.ts'
import { scenarios } from '../scenario.ts'
import { shrink } from '../shrink.ts'
import { swarm } from '../swarm.ts'

it('a failure is made as small as it still fails', async () => {
  const plans = Array.from({ length: 30 }, (_, seed) => swarm(seed + 1))
  // Fails wherever calls go unheard, a machine crashes, and a refusal is planned.
  const fails = async ({ calls, hurts, tasks }: Plan) =>
    calls.unheard !== undefined &&
    hurts.some(({ kind }) => kind === 'crash') &&
    JSON.stringify(tasks).includes('"action":"refuse"')
  let shrunk = 0
  for (const plan of plans) {
    if (!(await fails(plan))) continue
    const small = await shrink(plan, fails)
    shrunk++
    expect(await fails(small)).toBe(true)
    expect(Object.keys(small.calls)).toEqual(['unheard'])
    expect(small.hurts).toHaveLength(1)
    expect(small.moves).toEqual([])
    expect(small.nodes).toHaveLength(1)
    expect(small.tasks).toHaveLength(1)
    expect(JSON.stringify(small.tasks).length).toBeLessThan(JSON.stringify(plan.tasks).length)
  }
  expect(shrunk).toBeGreaterThan(0)
})

it('is made small for a while only, however long each run takes', async () => {
  const plan = swarm(1)
  let runs = 0
  const fails = async () => ++runs > 0
  const clock = () => runs * 15_000
  const small = await shrink(plan, fails, clock)
  expect(runs).toBe(2)
  expect(JSON.stringify(small).length).toBeLessThan(JSON.stringify(plan).length)
})

it('a failure is told with its plan, ready to be run again, and its course', async () => {
  const plan = { ...(scenarios.takeover as Plan), calls: { busy: 0.1 } }
  const lines = await explain({
    name: 'seed 7',
    plan,
    violations: ['leader: two of them', 'rest: a letter was never read'],
  })
  expect(lines.slice(0, 3)).toEqual(['✗ seed 7', '  leader: two of them', '  rest: a letter was never read'])
  const command = lines.find((line) => line.includes('npm run simulate'))
  expect(JSON.parse(command?.match(/--plan '(.*)'/)?.[1] ?? '')).toEqual(plan)
  const course = lines.join('\n')
  expect(course).toMatch(/commit \[a: .*stepRequested 1.*\] of node \d/)
  expect(course).toContain('node 0 #1 crashes')
  expect(course).toContain('the faults are over')
})
