import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agent, PermanentError, type Planned, TransientError, workflow } from '../../src/index.ts'
import { stage } from '../engine/harness.ts'
import { scratch } from '../engine/scratch.ts'

interface Shape {
  /** Of each step: earlier ones whose output it refers to, and earlier ones it comes after. */
  steps: { refers: number[]; after: number[]; fate: 'well' | 'twice' | 'skip' | 'undo' | 'lost' }[]
}

const earlier = (index: number) =>
  fc.uniqueArray(fc.nat({ max: Math.max(0, index - 1) }), { maxLength: index === 0 ? 0 : 3 })
const fate = fc.constantFrom('well', 'well', 'well', 'well', 'twice', 'skip', 'undo', 'lost')
const shapes: fc.Arbitrary<Shape> = fc
  .integer({ min: 1, max: 14 })
  .chain((size) =>
    fc.tuple(
      ...Array.from({ length: size }, (_, index) => fc.record({ refers: earlier(index), after: earlier(index), fate })),
    ),
  )
  .map((steps) => ({ steps: steps as Shape['steps'] }))

/** What each step did, in order: `run`, `done`, `undo`. */
type Deed = [deed: 'run' | 'done' | 'undo', step: number]

async function run({ steps }: Shape) {
  const deeds: Deed[] = []
  const own = agent('own')
  const lost = new Set(steps.flatMap(({ fate }, index) => (fate === 'lost' ? [index] : [])))
  const act = own.action('act', {
    retry: { attempts: 3, backoff: { initial: '1s', jitter: false } },
    async run({ index }: { index: number; of: unknown }, step) {
      deeds.push(['run', index])
      const { fate } = steps[index] as Shape['steps'][0]
      if (fate === 'twice' && step.attempt === 1) throw new TransientError('once more')
      if (fate === 'skip' || fate === 'undo') throw new PermanentError('no')
      if (lost.delete(index)) await new Promise(() => undefined)
      deeds.push(['done', index])
      return { index }
    },
    undo: ({ input }) => void deeds.push(['undo', input.index]),
  })
  const flow = workflow('flow', {
    plan(_: null, plan) {
      const planned: Planned<{ index: number }>[] = []
      for (const [index, { refers, after, fate }] of steps.entries()) {
        const of = refers.map((other) => planned[other]?.output.index)
        const order = after.flatMap((other) => planned[other] ?? [])
        const rescue = fate === 'skip' ? 'skip' : 'compensate'
        planned.push(plan.step(act, { index, of }, { after: order, rescue }))
      }
      return planned.map(({ output }) => output.index)
    },
  })
  using file = scratch()
  const first = await stage({ workflows: [flow], agents: [own], store: file.store })
  await first.submit(flow, null, { id: 't' })
  await first.advance('3s')
  await first.kill()
  const { environment } = first.engine
  await using second = await stage({ workflows: [flow], agents: [own], store: file.store, seed: 2, environment })
  await second.advance('10m')
  const { status, outcome, output } = await second.engine.tasks.get('t').status()
  return { deeds, status, outcome, output }
}

describe('any plan', () => {
  it('ends as it must, in an order its edges allow, through the loss of its node', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        const { deeds, status, outcome, output } = await run(shape)
        const before = shape.steps.map(({ refers, after }) => [...new Set([...refers, ...after])])
        const skipped = new Set<number>()
        const never = new Set<number>()
        for (const [index, { fate }] of shape.steps.entries()) {
          const needs = before[index] ?? []
          if (needs.some((other) => never.has(other))) never.add(index)
          else if (needs.some((other) => skipped.has(other))) skipped.add(index)
          else if (fate === 'skip') skipped.add(index)
          else if (fate === 'undo') never.add(index)
        }
        const failing = shape.steps.some(({ fate }, index) => {
          const needs = before[index] ?? []
          return fate === 'undo' && needs.every((other) => !skipped.has(other) && !never.has(other))
        })
        const at = (deed: Deed[0], index: number) => deeds.findIndex(([what, who]) => what === deed && who === index)
        expect(status).toBe('stopped')
        const undone = deeds.filter(([what]) => what === 'undo').map(([, index]) => index)
        const done = [...new Set(deeds.filter(([what]) => what === 'done').map(([, index]) => index))]
        for (const index of done) {
          for (const other of before[index] ?? []) expect(at('done', other)).toBeLessThan(at('run', index))
          for (const other of before[index] ?? []) expect(at('done', other)).toBeGreaterThanOrEqual(0)
        }
        expect(deeds.filter(([what]) => what === 'done')).toHaveLength(done.length)
        if (failing) {
          expect(outcome).toBe(done.length === 0 ? 'error' : 'compensated')
          expect(undone.toSorted((a, b) => a - b)).toEqual(done.toSorted((a, b) => a - b))
          for (const index of done)
            for (const other of before[index] ?? []) expect(at('undo', index)).toBeLessThan(at('undo', other))
        } else {
          const expected = shape.steps.map((_, index) => (skipped.has(index) ? null : index))
          expect(outcome).toBe(skipped.size > 0 ? 'warning' : 'success')
          expect(output).toEqual(expected)
          expect(undone).toEqual([])
          for (const index of skipped) expect(at('done', index)).toBe(-1)
        }
      }),
      { numRuns: 60 },
    )
  })
})
