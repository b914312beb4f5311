import { describe, expect, it } from 'vitest'
import { enumerate, type Strike } from '../enumerate.ts'
import type { Plan } from '../plan.ts'
import { run } from '../run.ts'
import { scenarios } from '../scenario.ts'

/** How the scenario's task (and its children, in the order of their making) end when nothing disturbs them. */
const ends: Record<keyof typeof scenarios, string> = {
  sequence: 'success',
  retries: 'success',
  parallel: 'success',
  'rescue by skip': 'warning',
  'rescue by pause': 'warning',
  'rescue by failure': 'error',
  'rescue by compensation': 'compensated',
  'undo that fails at first': 'compensated',
  'failure of the code itself': 'compensated',
  'failure that is caught': 'success',
  'child that is called': 'success success',
  'child that is undone': 'compensated compensated success',
  'child that is started': 'success success',
  'child that is cancelled': 'error cancelled',
  'child that is waited for': 'compensated compensated compensated',
  'log that outlives its owner': 'success',
  events: 'success',
  timers: 'success',
  'long sleep': 'success',
  'late start': 'success',
  'start-before that passes': 'error',
  'complete-by that passes': 'compensated',
  'begun anew': 'success',
  'submitted twice': 'success',
  cancel: 'cancelled',
  'cancel of what has just begun': 'cancelled',
  'cancel by force': 'cancelled',
  'pause and resume': 'success',
  'cancel of a paused task': 'cancelled',
  'retry of a failed task': 'success',
  'retry of an undone task': 'compensated',
  'skip of a failed step': 'warning',
  'undoing of what succeeded': 'compensated compensated',
  'attempt that hangs': 'success',
  'verification of a lost attempt': 'success',
  'at most once': 'success',
  'heartbeats of a long step': 'success',
  'work queue': 'compensated',
  'work that is withdrawn': 'cancelled',
  takeover: 'compensated',
  'leader that stands still': 'success',
  'leader that dies': 'success',
  'alert of what is ill for a while': 'success',
  'plan with references': 'success',
  'plan that is undone': 'compensated',
  'plan whose step is skipped with all behind it': 'warning',
  'plan that an operator decides': 'warning',
  'plan that is finalized': 'success',
  'plan that is made when it is due': 'success',
  'plan as a child': 'success success',
  'plan as a child that is undone': 'compensated compensated',
  'plan that is undone after it succeeded': 'compensated',
  'plan that starts over': 'compensated',
  'plan that is retried': 'success',
  'step that waits': 'success',
  'step that waits, in a function': 'success',
  'step that waits for nobody': 'success',
  'step that wakes by itself': 'success',
  'step that is told of a cancel': 'cancelled',
  'cancel of a step that waits': 'cancelled',
  'plan on other machines': 'compensated',
  'one task at a time': 'success success',
  'task that replaces another': 'cancelled success',
  'task after another': 'success success',
  'lock that two want': 'success success',
  batch: 'success success success success',
  'store that forgets that a task was given back': 'error error',
  'node that drains': 'success',
  'value that is handed on': 'success',
}

describe('undisturbed, it ends as it should and keeps every rule:', () => {
  it.each(Object.entries(scenarios))('%s', async (name, plan) => {
    const { evidence, violations } = await run(plan)
    expect(violations).toEqual([])
    expect(evidence.tasks.map(({ row }) => row.result).join(' ')).toBe(ends[name])
  })

  it('and the same plan is the same course of events', async () => {
    for (const plan of Object.values(scenarios)) {
      const [first, second] = [await run(plan), await run(plan)]
      expect(second.hash).toBe(first.hash)
      expect(second.steps).toBe(first.steps)
    }
  })

  it('while another seed is another', async () => {
    const plan = scenarios.takeover as Plan
    const seen = new Set<number>()
    for (const seed of [1, 2, 3]) seen.add((await run({ ...plan, seed })).hash)
    expect(seen.size).toBe(3)
  })
})

/** The nastiest at every call; `npm run simulate` does them all. */
const nastiest: Strike[] = ['crash-after', 'unheard']

describe('hurt at every single call, it still keeps every rule:', () => {
  it.each(Object.entries(scenarios))('%s', async (_, plan) => {
    const { failures, runs, fired } = await enumerate(plan, nastiest)
    expect(failures).toEqual([])
    expect(runs).toBeGreaterThan(10)
    for (const fault of nastiest) expect(fired[fault]).toBeGreaterThan(1)
  })
})
