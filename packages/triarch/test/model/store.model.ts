import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Timer } from '../../src/environment/environment.ts'
import type { StateStore } from '../../src/store/port.ts'
import { type HandClock, handClock } from '../store/clock.ts'
import type { Subject } from '../store/conformance.ts'
import { agreeOnEverything } from './agreement.ts'
import { budget } from './budget.ts'
import { type Choice, choice, span } from './choice.ts'
import { operation } from './operation.ts'
import { newReference, type Reference } from './reference.ts'

/** The real thing: one or two stores on the same data, and the clock of both. */
interface Real {
  subject: Subject
  clock: HandClock
  stores: StateStore[]
}

type Command = fc.AsyncCommand<Reference, Real>

/**
 * Random histories of calls against a model of the store. After each call its answer and every reader must agree with the
 * model. `shared`: the calls go through two stores on the same data, some of them at once, and one is closed and opened now
 * and then.
 */
export function storeModel(
  name: string,
  make: () => Promise<Subject>,
  { shared, runs }: { shared: boolean; runs: number },
): void {
  describe(name, () => {
    const bounds = budget(runs)
    it(
      'answers as its model does, whatever it is asked',
      () =>
        fc.assert(
          fc.asyncProperty(commands(shared), (script) => play(make, shared, script)),
          bounds.parameters,
        ),
      bounds.timeout,
    )
  })
}

async function play(make: () => Promise<Subject>, shared: boolean, script: Iterable<Command>): Promise<void> {
  // Time stands still between commands, but waits for another's lock are real.
  const clock: HandClock = { ...handClock(), timer: realTimer }
  const subject = await make()
  const stores = Array.from({ length: shared ? 2 : 1 }, () => subject.store(clock))
  try {
    for (const store of stores) await store.open()
    const real = { subject, clock, stores }
    await fc.asyncModelRun(() => ({ model: newReference(clock.now()), real }), script)
  } finally {
    for (const store of stores) await store.close()
    await subject.dispose()
  }
}

function realTimer(ms: number, callback: () => void): Timer {
  const timer = setTimeout(callback, ms)
  return { cancel: () => clearTimeout(timer) }
}

function commands(shared: boolean): fc.Arbitrary<Iterable<Command>> {
  const on = shared ? fc.nat(1) : fc.constant(0)
  const single = fc.tuple(on, choice).map(([on, choice]) => calling([{ on, choice }]))
  const alone = [single, single, single, single, span.map(advancing)]
  const racer = fc.record({ on, choice: choice.filter((it) => it.type !== 'sweep' || it.limit === 1_000) })
  const race = fc.array(racer, { minLength: 2, maxLength: 3, size: 'max' }).map(calling)
  return fc.commands(shared ? [...alone, race, race, on.map(reopening)] : alone, { maxCommands: 60, size: 'max' })
}

/** Calls at the same time: their answers and what remains must be those of some order of them. */
function calling(calls: readonly { on: number; choice: Choice }[]): Command {
  return {
    check: () => true,
    async run(model, real) {
      model.round++
      const made = calls.map(({ on, choice }) => ({ store: storeOf(real, on), call: operation(model, choice) }))
      const reader = storeOf(real, real.stores.length - 1 - (calls[0]?.on ?? 0))
      const before = await reader.changes()
      const answers = await Promise.all(made.map(({ store, call }) => call.call(store)))
      const complaints: unknown[] = []
      for (const order of orders(made.map((_, index) => index))) {
        const attempt = structuredClone(model)
        try {
          for (const index of order) made[index]?.call.check(attempt, answers[index])
          await agreeOnEverything(attempt, reader)
          if (before !== null && foreign(real, calls) && hasMoved(model, attempt))
            expect(await reader.changes(), 'the sign that another store has written').not.toBe(before)
          Object.assign(model, attempt)
          return
        } catch (complaint) {
          complaints.push(complaint)
        }
      }
      throw complaints.length === 1 ? complaints[0] : new AggregateError(complaints, 'no order of these calls fits')
    },
    toString: () =>
      calls.map(({ on, choice: { type, ...rest } }) => `${on}.${type}(${JSON.stringify(rest)})`).join(' ‖ '),
  }
}

/** Whether every call went through the store that does not read now. */
function foreign({ stores }: Real, calls: readonly { on: number }[]): boolean {
  return stores.length > 1 && calls.every(({ on }) => on === calls[0]?.on)
}

/** Whether anything that is stored is different. The serial numbers are ours. */
function hasMoved(
  { serial: _s, round: _r, ...before }: Reference,
  { serial: _t, round: _q, ...after }: Reference,
): boolean {
  const counted = (it: typeof before) => [...it.tasks.values()].map(({ key: _, ...task }) => task)
  return JSON.stringify(counted(before)) !== JSON.stringify(counted(after))
}

function orders<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]]
  return items.flatMap((first) => orders(items.filter((it) => it !== first)).map((rest) => [first, ...rest]))
}

function advancing(ms: number): Command {
  return {
    check: () => true,
    async run(model, { clock }) {
      clock.advance(ms)
      model.now += ms
    },
    toString: () => `${ms} ms pass`,
  }
}

/** What was committed is there again, for everyone. */
function reopening(on: number): Command {
  return {
    check: () => true,
    async run(model, real) {
      await storeOf(real, on).close()
      const store = real.subject.store(real.clock)
      real.stores[on] = store
      await store.open()
      await agreeOnEverything(model, store)
    },
    toString: () => `${on} is closed and opened`,
  }
}

function storeOf({ stores }: Real, on: number): StateStore {
  return stores[on] as StateStore
}
