import fc from 'fast-check'
import { expect, it } from 'vitest'
import { agent, PermanentError, TransientError, workflow } from '../../src/index.ts'
import { stage } from './harness.ts'
import { scratch } from './scratch.ts'

/** One thing that a run does: steps beside each other, of which one may be done by a child, and how often each undo fails at first. */
interface Deed {
  steps: { undone: boolean; by: 'step' | 'child'; fails: number }[]
  waits: boolean
}
type Program = Deed[][]

const deed: fc.Arbitrary<Deed> = fc.record({
  steps: fc.array(
    fc.record({
      undone: fc.boolean(),
      by: fc.constantFrom('step', 'step', 'child'),
      fails: fc.constantFrom(0, 0, 1, 2),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  waits: fc.boolean(),
})
const programs = fc.array(fc.array(deed, { maxLength: 3 }), { minLength: 2, maxLength: 5 })
const endings = fc.constantFrom('fails', 'is cancelled', 'is undone after its success')

/** What is done and taken back, by the place of its deed in the program. */
function world(program: Program) {
  const done = new Set<string>()
  const undone: string[] = []
  const failed = new Map<string, number>()
  const own = agent('shop')
  const act = own.action('act', { run: (key: string) => void done.add(key) })
  const retry = { attempts: 5, backoff: { initial: '1s', jitter: false } } as const
  const pay = own.action('pay', {
    undoRetry: retry,
    run: ({ key }: { key: string; fails: number }) => void done.add(key),
    undo: ({ input: { key, fails } }) => {
      const count = failed.get(key) ?? 0
      failed.set(key, count + 1)
      if (count < fails) throw new TransientError('not yet')
      undone.push(key)
    },
  })
  const fail = own.action('fail', {
    run(_: null): never {
      throw new PermanentError('no')
    },
  })
  const child = workflow('child', { run: (input: { key: string; fails: number }, task) => task.run(pay, input) })
  const flow = workflow('flow', {
    async run({ run, ending }: { run: number; ending: string }, task) {
      for (const [place, { steps, waits }] of (program[run] ?? []).entries()) {
        const all = steps.map(({ undone, by, fails }, index) => {
          const key = `${run}.${place}.${index}`
          if (!undone) return task.run(act, key)
          return by === 'step' ? task.run(pay, { key, fails }) : task.call(child, { key, fails }, { undo: true })
        })
        await Promise.all(all)
        if (waits) await task.sleep('10s')
      }
      if (run + 1 < program.length) return task.continueAsNew({ run: run + 1, ending })
      if (ending === 'fails') await task.run(fail, null)
      if (ending === 'is cancelled') await task.waitForSignal('never')
      return null
    },
  })
  return { done, undone, options: { agents: [own], workflows: [flow, child] }, flow }
}

it('a task undoes what all of its runs did, each thing once and the last first, however it ends and whoever takes it over', async () => {
  await fc.assert(
    fc.asyncProperty(programs, endings, fc.option(fc.integer({ min: 1, max: 60 })), async (program, ending, kill) => {
      using file = scratch()
      const { done, undone, options, flow } = world(program)
      let s = await stage({ ...options, store: file.store })
      await s.submit(flow, { run: 0, ending }, { id: 't' })
      if (kill !== null) {
        await s.advance(`${kill}s`)
        await s.kill()
        s = await stage({ ...options, store: file.store, environment: s.engine.environment })
      }
      await s.advance('10m')
      const task = s.engine.tasks.get('t')
      if (ending === 'is cancelled') await task.cancel()
      if (ending === 'is undone after its success') await task.compensate()
      await s.advance('10m')
      expect((await task.status()).status).toBe('stopped')
      // A child that ended before the run before this one began is not carried over.
      const isCarried = ({ by }: { by: string }, run: number) => by === 'step' || run >= program.length - 2
      const left = program.flatMap((deeds, run) =>
        deeds.flatMap(({ steps }) => steps.filter((step) => step.undone && !isCarried(step, run))),
      ).length
      const { error } = await task.status()
      if (left > 0 && ending !== 'is cancelled')
        expect(error).toMatchObject({ code: 'UNDO_INCOMPLETE', details: { left } })
      else expect(error?.code).not.toBe('UNDO_INCOMPLETE')
      const deeds = program.flatMap((deeds, run) =>
        deeds.map(({ steps }, place) =>
          steps.flatMap((step, index) => (step.undone && isCarried(step, run) ? [`${run}.${place}.${index}`] : [])),
        ),
      )
      expect(done.size).toBe(program.flat().reduce((sum, { steps }) => sum + steps.length, 0))
      // What was done side by side is undone in any order, but before all that came earlier.
      let from = 0
      for (const deed of deeds.reverse()) {
        expect(undone.slice(from, from + deed.length).sort()).toEqual(deed)
        from += deed.length
      }
      expect(undone).toHaveLength(from)
      await s.kill()
    }),
    { numRuns: 30 },
  )
})
