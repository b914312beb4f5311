// The table of names, compared with what `triarch` has: by the compiler, so that a name cannot change in one place only.
import { type ActionPlanContext, agent, type PlanContext, type Planned, type TaskContext, workflow } from 'triarch'
import { expect, it } from 'vitest'
import { vocabulary } from '../src/vocabulary.ts'

type Methods<Context, Answer> = {
  [Name in keyof Context]: Context[Name] extends (...args: never[]) => infer Given
    ? [Given] extends [Answer]
      ? Name
      : never
    : never
}[keyof Context]
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never

it('has all methods of a task that give a promise', () => {
  const same: Same<(typeof vocabulary.promised)[number], Methods<TaskContext, Promise<unknown>>> = true
  expect(same).toBe(true)
})

it('has the methods of a task that take the name of a step first', () => {
  const names: readonly (keyof TaskContext)[] = vocabulary.named
  expect(names).toHaveLength(3)
})

it('has the methods of plans', () => {
  const planned: Same<(typeof vocabulary.planned)[number], Methods<ActionPlanContext<unknown, unknown>, Planned>> = true
  const blocks: readonly (keyof PlanContext)[] = vocabulary.blocks
  expect([planned, blocks.length]).toEqual([true, 3])
})

it('has what stands in the place of clocks, chance and timers', () => {
  const names: readonly (keyof TaskContext)[] = [vocabulary.now, vocabulary.random, vocabulary.uuid, vocabulary.sleep]
  expect(names).toHaveLength(4)
})

it('has what defines workflows and actions', () => {
  const { output }: Record<typeof vocabulary.output, unknown> = {} as Planned
  const { [vocabulary.workflow]: define } = { workflow }
  const { [vocabulary.action]: action } = agent('bank')
  expect([typeof define, typeof action, output]).toEqual(['function', 'function', undefined])
})
