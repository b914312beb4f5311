import * as fc from 'fast-check'
import type { Snapshot } from '../../src/store/port.ts'
import type { ListChoice } from '../store/listing.ts'

// What is drawn at random: plain data that reads like a script. `operation.ts` gives it its meaning in a given state.

export const nodeIds = ['a', 'b', 'c'] as const
const ids = ['t0', 't1', 't2', 'c0']
const id = fc.constantFrom(...ids)
const node = fc.constantFrom(...nodeIds)
const name = fc.constantFrom('sweep', 'sweep', 'sweep', 'other')
const step = fc.integer({ min: 1, max: 2 })
const agent = fc.constantFrom('pay', 'pay', 'ship')
const act = fc.constantFrom('charge', 'charge', 'refund')
const workflow = fc.constantFrom<[string, string]>(['flow', '1'], ['flow', '1'], ['flow', '2'], ['other', '1'])
const priority = fc.integer({ min: -1, max: 1 })
/** Instants of so coarse a grain meet each other often: that is where the mistakes are. */
export const span: fc.Arbitrary<number> = fc.integer({ min: 1, max: 9 }).map((it) => it * 10)
const maybe = <T>(arbitrary: fc.Arbitrary<T>, freq = 2) => fc.option(arbitrary, { freq, nil: null })

export interface TaskChoice {
  id: string
  workflow: [string, string]
  priority: number
  tag: string | null
  startIn: number | null
  dueIn: number | null
  gates: { locks: LockChoice[]; after: string[] } | null
}

export interface LockChoice {
  name: string
  ifHeld: 'queue' | 'reject' | 'replace'
}

export const lockNames = ['x', 'y'] as const
const lock: fc.Arbitrary<LockChoice> = fc.record({
  name: fc.constantFrom(...lockNames),
  ifHeld: fc.constantFrom('queue', 'queue', 'reject', 'replace'),
})

const task: fc.Arbitrary<TaskChoice> = fc.record({
  id,
  workflow,
  priority,
  tag: maybe(fc.constantFrom('north', 'south')),
  startIn: fc.nat(3).chain((n) => (n === 0 ? span : fc.constant(null))),
  dueIn: maybe(span),
  gates: maybe(
    fc.record({
      locks: fc.array(lock, { maxLength: 2, size: 'max' }),
      after: fc.uniqueArray(fc.constantFrom(...ids, 'none'), { maxLength: 2, size: 'max' }),
    }),
  ),
})

export interface PostChoice {
  task: string
  control: boolean
}

const post: fc.Arbitrary<PostChoice> = fc.record({ task: fc.constantFrom(...ids, 'none'), control: fc.boolean() })

export interface WorkChoice {
  step: number
  attempt: number
  agent: string
  act: string
  priority: number
  completeWithin: number
  heartbeatWithin: number | null
  expiresIn: number | null
}

const work: fc.Arbitrary<WorkChoice> = fc.record({
  step,
  attempt: fc.constantFrom(1, 1, 1, 2),
  agent,
  act,
  priority,
  completeWithin: span,
  heartbeatWithin: maybe(span),
  expiresIn: maybe(span),
})

export interface TransitionChoice {
  task: string
  create: TaskChoice | null
  /** What is wrong with its fence. */
  stale: 'epoch' | 'nextEpoch' | 'seq' | 'nextSeq' | 'noSeq' | 'key' | null
  /** Another node than the owner. */
  by: string | null
  append: boolean
  snapshot: (Omit<Snapshot, 'deadline'> & { dueIn: number | null }) | null
  consume: 'none' | 'all' | 'first' | 'foreign'
  work: WorkChoice[]
  withdraw: number[]
  forget: number[]
  children: (TaskChoice & { step: number })[]
  posts: PostChoice[]
  gates: { locks: (LockChoice & { step: number })[]; unlocks: number[] } | null
  release: { wakeIn: number | null; ready: boolean; orphaned: boolean } | null
  rebase: boolean
}

const text = maybe(fc.constantFrom('1', '"x"', '{"a":[1]}'))
const few = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 2, size: 'max' })
const rarely = fc.nat(4).map((n) => n === 4)

const snapshot = fc.record({
  status: fc.constantFrom('pending', 'running', 'paused', 'stopped'),
  result: fc.constantFrom('pending', 'success', 'error', 'cancelled'),
  failures: fc.nat(9),
  dueIn: maybe(span),
  progress: text,
  output: text,
  error: text,
  pause: text,
})

const transition: fc.Arbitrary<TransitionChoice> = fc.record({
  task: id,
  create: rarely.chain((it) => (it ? task : fc.constant(null))),
  stale: fc.oneof(
    { weight: 6, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom('epoch', 'nextEpoch', 'seq', 'nextSeq', 'noSeq', 'key') },
  ),
  by: fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: node }),
  append: rarely.map((it) => !it),
  snapshot: maybe(snapshot),
  consume: fc.constantFrom('none', 'all', 'first', 'foreign'),
  // One attempt of a step is requested once in a transition.
  work: fc.uniqueArray(work, { maxLength: 2, size: 'max', selector: ({ step, attempt }) => `${step}.${attempt}` }),
  withdraw: few(step),
  forget: rarely.chain((it) => (it ? few(step) : fc.constant([]))),
  children: rarely.chain((it) =>
    it ? few(fc.tuple(task, step).map(([one, step]) => ({ ...one, step }))) : fc.constant([]),
  ),
  posts: few(post),
  gates: maybe(
    fc.record({
      locks: few(fc.tuple(lock, step).map(([one, step]) => ({ ...one, step }))),
      unlocks: fc.uniqueArray(step, { maxLength: 2 }),
    }),
  ),
  release: fc.oneof(
    { weight: 2, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.record({ wakeIn: maybe(span), ready: fc.boolean(), orphaned: fc.boolean() }) },
  ),
  rebase: rarely,
})

export type Choice =
  | { type: 'submit'; tasks: TaskChoice[] }
  | { type: 'commit'; transitions: TransitionChoice[] }
  | { type: 'post'; posts: PostChoice[] }
  | { type: 'claim'; node: string; runnable: [string, string][]; limit: number }
  | { type: 'inbox'; node: string; limit: number }
  | { type: 'takeWork'; node: string; agents: { agent: string; acts: readonly string[]; limit: number }[] }
  | { type: 'reply'; replies: { work: number; by: string | null }[] }
  | { type: 'beatWork'; beats: { work: number; by: string | null; told: boolean }[] }
  | { type: 'beat'; id: string; lease: number }
  | { type: 'leave'; node: string }
  | { type: 'lead'; name: string; node: string; ttl: number }
  | { type: 'sweep'; name: string; token: number; limit: number }
  | ({ type: 'list' } & ListChoice)

const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { minLength: 1, maxLength: 3, size: 'max' })
const typed = <Type extends string, T extends object>(type: Type, fields: fc.Arbitrary<T>) =>
  fields.map((it) => ({ type, ...it }))
const attempt = { work: fc.nat(2), by: fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, node) }
const status = fc.constantFrom('scheduled', 'pending', 'running', 'paused', 'stopped')
const result = fc.constantFrom('pending', 'success', 'error', 'cancelled')

const submit = typed('submit', fc.record({ tasks: some(task) }))
/** At most one transition of a task in a batch, as the port asks. */
const commit = typed(
  'commit',
  fc.record({
    transitions: fc.uniqueArray(transition, {
      minLength: 1,
      maxLength: 3,
      size: 'max',
      selector: ({ task, create }) => create?.id ?? task,
    }),
  }),
)
const posting = typed('post', fc.record({ posts: some(post) }))
const claim = typed(
  'claim',
  fc.record({
    node,
    runnable: fc.uniqueArray(workflow, { minLength: 0, maxLength: 3, size: 'max', selector: (it) => it.join() }),
    limit: fc.integer({ min: 1, max: 4 }),
  }),
)
const inbox = typed('inbox', fc.record({ node, limit: fc.integer({ min: 1, max: 3 }) }))
const takeWork = typed(
  'takeWork',
  fc.record({
    node,
    agents: fc.uniqueArray(
      fc.record({ agent, acts: fc.constantFrom(['charge'], ['charge', 'refund'], []), limit: fc.nat(2) }),
      { minLength: 1, maxLength: 2, size: 'max', selector: ({ agent }) => agent },
    ),
  }),
)
const reply = typed('reply', fc.record({ replies: some(fc.record(attempt)) }))
const beatWork = typed('beatWork', fc.record({ beats: some(fc.record({ ...attempt, told: fc.boolean() })) }))
const beat = typed('beat', fc.record({ id: node, lease: span }))
const leave = typed('leave', fc.record({ node }))
const lead = typed('lead', fc.record({ name, node, ttl: span }))
const sweep = typed(
  'sweep',
  fc.record({ name, token: fc.constantFrom(0, 0, 0, 0, -1, 1), limit: fc.constantFrom(1, 2, 1_000) }),
)
const list = typed(
  'list',
  fc.record(
    {
      status: fc.oneof(status, fc.uniqueArray(status)),
      outcome: fc.oneof(result, fc.uniqueArray(result)),
      workflow: fc.constantFrom('flow', 'other'),
      version: fc.constantFrom('1', '2'),
      parent: id,
      tags: fc.record({ shop: fc.constantFrom('north', 'south') }),
      after: fc.nat(9),
      limit: fc.integer({ min: 1, max: 9 }),
      order: fc.constantFrom('newest', 'oldest'),
    },
    { requiredKeys: ['limit', 'order'] },
  ),
)

export const choice: fc.Arbitrary<Choice> = fc.oneof(
  { weight: 4, arbitrary: submit },
  { weight: 10, arbitrary: commit },
  { weight: 3, arbitrary: posting },
  { weight: 7, arbitrary: claim },
  { weight: 1, arbitrary: inbox },
  { weight: 5, arbitrary: takeWork },
  { weight: 3, arbitrary: reply },
  { weight: 2, arbitrary: beatWork },
  { weight: 4, arbitrary: beat },
  { weight: 1, arbitrary: leave },
  { weight: 4, arbitrary: lead },
  { weight: 4, arbitrary: sweep },
  { weight: 1, arbitrary: list },
)
