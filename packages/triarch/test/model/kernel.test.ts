import * as fc from 'fast-check'
import { describe, it } from 'vitest'
import { seededRandom } from '../../src/environment/random.ts'
import type { Message, Outcome } from '../../src/kernel/message.ts'
import type { RecordedPolicy, RescueStrategy } from '../../src/kernel/step/policy.ts'
import { nextWake } from '../../src/kernel/tick.ts'
import { budget } from './budget.ts'
import type { Program, Want } from './code.ts'
import { type Attempt, type Birth, Crash, Machine } from './machine.ts'

// ---- programs --------------------------------------------------------------------------------------------------------

const span = fc.integer({ min: 1, max: 6 }).map((it) => it * 10)
const maybe = <T>(arbitrary: fc.Arbitrary<T>, freq = 2) => fc.option(arbitrary, { freq, nil: null })
const rescue = fc.constantFrom<RescueStrategy[]>('skip', 'pause', 'fail', 'compensate')
const plan = fc
  .record({ attempts: fc.integer({ min: 1, max: 3 }), jitter: fc.boolean() })
  .map((it) => ({ ...it, initial: 10, factor: 2, max: 30 }))
const policy: fc.Arbitrary<RecordedPolicy> = fc.record({
  retry: plan,
  undoRetry: plan,
  completeWithin: span,
  expiresIn: maybe(span, 1),
  rescue,
  semantics: fc.constantFrom('at-least-once', 'at-least-once', 'at-most-once'),
  undo: fc.boolean(),
  verify: fc.boolean(),
})
const event = fc.constantFrom('e0', 'e1')
const want: fc.Arbitrary<Want> = fc.oneof(
  { weight: 6, arbitrary: policy.map((policy) => ({ type: 'step' as const, policy })) },
  { weight: 1, arbitrary: span.map((ms) => ({ type: 'timer' as const, ms })) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('wait' as const), name: event, ms: maybe(span) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('child' as const),
      mode: fc.constantFrom('call', 'call', 'start'),
      onCancel: fc.constantFrom('cancel', 'detach', 'wait'),
      undo: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom({ type: 'undo' as const }, { type: 'progress' as const }) },
)
const rarely = fc.nat(4).map((n) => n === 4)
const program: fc.Arbitrary<Program> = fc.record({
  wants: fc.array(want, { minLength: 1, maxLength: 8, size: 'max' }),
  width: fc.integer({ min: 1, max: 3 }),
  catches: fc.boolean(),
  throws: rarely,
  runs: fc.constantFrom(0, 0, 0, 1),
  rescue: fc.constantFrom('compensate', 'fail', 'pause'),
})
const birth: fc.Arbitrary<Birth> = fc.record({
  program,
  startIn: rarely.chain((it) => (it ? span : fc.constant(null))),
  startBefore: rarely.chain((it) => (it ? span : fc.constant(null))),
  completeBy: rarely.chain((it) => (it ? span.map((ms) => ms * 4) : fc.constant(null))),
})

// ---- what happens to them --------------------------------------------------------------------------------------------

/** A message as it is drawn: `of` picks one of the attempts or children there are. */
type Letter =
  | { type: 'answer'; of: number; how: number }
  | { type: 'late'; of: number; how: number }
  | { type: 'child'; of: number; well: boolean }
  | { type: 'heartbeat'; of: number }
  | { type: 'plain'; message: Message }

const step = fc.integer({ min: 1, max: 6 })
const plain: fc.Arbitrary<Message> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('event' as const), name: event, payload: fc.constant(1) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('cancel' as const),
      force: fc.nat(2).map((n) => n === 2),
      compensate: fc.constantFrom(null, true, false),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ type: 'pause' as const }) },
  { weight: 3, arbitrary: fc.constant({ type: 'resume' as const }) },
  {
    weight: 3,
    arbitrary: fc.record(
      { type: fc.constant('retry' as const), step, input: fc.constantFrom(0, 1) },
      { requiredKeys: ['type'] },
    ),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('skip' as const), step, output: fc.constant('skipped') }) },
  { weight: 2, arbitrary: fc.constant({ type: 'compensate' as const }) },
  { weight: 1, arbitrary: fc.constant({ type: 'report' as const }) },
)
const letter: fc.Arbitrary<Letter> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ type: fc.constant('answer' as const), of: fc.nat(2), how: fc.nat(7) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('late' as const), of: fc.nat(9), how: fc.nat(7) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('child' as const), of: fc.nat(2), well: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('heartbeat' as const), of: fc.nat(2) }) },
  {
    weight: 5,
    arbitrary: fc.tuple(plain, fc.boolean()).map(([message, outside]) => ({
      type: 'plain' as const,
      message: outside ? ({ ...message, outside } as Message) : message,
    })),
  },
)

type Command = fc.Command<object, { machine: Machine }>

const mail = fc.array(letter, { maxLength: 3, size: 'max' })
const commands = fc.commands<object, { machine: Machine }>(
  [
    fc.array(letter, { minLength: 1, maxLength: 3, size: 'max' }).map(delivering),
    fc.array(letter, { minLength: 1, maxLength: 3, size: 'max' }).map(delivering),
    fc.array(letter, { minLength: 1, maxLength: 3, size: 'max' }).map(delivering),
    fc.oneof(span, fc.constant(null)).map(waiting),
    fc.record({ mail, queued: fc.nat(7), crash: fc.boolean(), coded: fc.nat(3).map((n) => n > 0) }).map(takingOver),
  ],
  { maxCommands: 40, size: 'max' },
)

function delivering(letters: Letter[]): Command {
  return {
    check: () => true,
    run: (_, { machine }) => machine.turn(letters.flatMap((it) => messageOf(machine, it))),
    toString: () => JSON.stringify(letters),
  }
}

function waiting(ms: number | null): Command {
  return {
    check: () => true,
    run(_, { machine }) {
      machine.now = ms === null ? Math.max(machine.now, nextWake(machine.state) ?? 0) : machine.now + ms
      machine.turn([])
    },
    toString: () => (ms === null ? 'until it wakes' : `${ms} ms pass`),
  }
}

interface Takeover {
  mail: Letter[]
  queued: number
  crash: boolean
  coded: boolean
}

/** The owner dies, perhaps in the middle of a turn; some attempts ran elsewhere. A node without the code hands on. */
function takingOver({ mail, queued, crash, coded }: Takeover): Command {
  return {
    check: () => true,
    run(_, { machine }) {
      const letters = mail.flatMap((it) => messageOf(machine, it))
      if (crash) {
        try {
          machine.turn(letters, { crash })
        } catch (error) {
          if (!(error instanceof Crash)) throw error
        }
      }
      machine.takeover((attempt) => ((queued >> (attempt.step % 3)) & 1) === 1, letters, coded)
      if (!coded) machine.takeover(() => true, [], true)
    },
    toString: () => JSON.stringify({ takeover: { mail, queued, crash, coded } }),
  }
}

function messageOf(machine: Machine, letter: Letter): Message[] {
  switch (letter.type) {
    case 'answer': {
      const attempt = pick(machine.outstanding, letter.of)
      return attempt ? [machine.reply(attempt, outcomeOf(attempt, letter.how))] : []
    }
    case 'late': {
      const attempt = pick(
        machine.attempts.filter(({ withdrawn }) => !withdrawn),
        letter.of,
      )
      return attempt ? [machine.reply(attempt, outcomeOf(attempt, letter.how))] : []
    }
    case 'child': {
      const child = pick(
        [...machine.children].filter(([, asked]) => asked !== 'stopped'),
        letter.of,
      )
      return child ? [answerOf(machine, child, letter.well)] : []
    }
    case 'heartbeat': {
      const attempt = pick(machine.outstanding, letter.of)
      return attempt ? [{ type: 'heartbeat', step: attempt.step, attempt: attempt.attempt, checkpoint: 1 }] : []
    }
    case 'plain':
      return [letter.message]
  }
}

function answerOf(machine: Machine, [step, asked]: [number, string], well: boolean): Message {
  machine.children.set(step, 'stopped')
  const ends = asked === 'compensating' ? (['compensated', 'success'] as const) : (['success', 'error'] as const)
  return { type: 'child', step, result: asked === 'cancelling' && well ? 'cancelled' : ends[well ? 0 : 1] }
}

function pick<T>(from: readonly T[], index: number): T | undefined {
  return from[index % Math.max(1, from.length)]
}

const failure = { name: 'Error', message: 'failed' }

function outcomeOf({ operation, aborted }: Attempt, how: number): Outcome {
  if (aborted && how === 7) return { kind: 'withdrawn' }
  if (operation === 'verify' && how < 4)
    return [{ kind: 'done', output: 'v' }, { kind: 'not-done' }, { kind: 'unknown' }, { kind: 'not-done' }][
      how
    ] as Outcome
  if (how < 3) return { kind: 'done', output: how }
  const failed = { kind: 'failed', error: failure, retryable: how !== 3 } as const
  return how === 4 ? { ...failed, retryAfter: 30 } : how > 4 ? { ...failed, unknown: true } : failed
}

// ---- the end ---------------------------------------------------------------------------------------------------------

/** Once nothing goes wrong any more and operators do their duty, every task comes to its end. */
function finish(machine: Machine): void {
  for (let round = 0; round < 200; round++) {
    if (machine.state.status === 'stopped') return
    machine.turn(duty(machine, round))
    const wake = nextWake(machine.state)
    if (wake !== null && machine.outstanding.length === 0) machine.now = Math.max(machine.now, wake)
  }
  throw new Error(`never ends: ${JSON.stringify(machine.history.slice(-5))}`)
}

function duty(machine: Machine, round: number): Message[] {
  const { state } = machine
  if (state.status === 'paused') {
    if (round > 60) return [{ type: 'cancel', force: round > 120, compensate: null }]
    const held = [...state.steps.values()].find((it) => it.held !== null)
    return held && round > 30 ? [{ type: 'skip', step: held.id, output: null }] : [{ type: 'resume' }]
  }
  const replies = machine.outstanding.map((it) =>
    machine.reply(it, it.operation === 'verify' ? { kind: 'not-done' } : { kind: 'done', output: 'late but well' }),
  )
  const answers = [...machine.children]
    .filter(([id, asked]) => asked !== 'stopped' && state.children.has(id))
    .map((child) => answerOf(machine, child, true))
  const events = [...state.waits.values()].map(({ name }) => ({ type: 'event' as const, name, payload: 1 }))
  return [...replies, ...answers, ...events]
}

describe('the kernel', () => {
  const bounds = budget(1_500)
  it(
    'keeps its rules, whatever comes in whatever order',
    () =>
      fc.assert(
        fc.property(birth, fc.nat(), commands, (birth, seed, script) => {
          const machine = new Machine(birth, seededRandom(seed))
          fc.modelRun(() => ({ model: {}, real: { machine } }), script)
          finish(machine)
        }),
        bounds.parameters,
      ),
    bounds.timeout,
  )
})
