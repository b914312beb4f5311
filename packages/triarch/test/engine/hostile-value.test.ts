import { describe, expect, it } from 'vitest'
import {
  agent,
  middleware,
  ref,
  type StandardSchema,
  type StepContext,
  setting,
  type TaskContext,
  type TaskExport,
  TransientError,
  UnknownOutcomeError,
  workflow,
} from '../../src/index.ts'
import { codeOf, type Stage, stage } from './harness.ts'

// What users and services hand in × what can be wrong with it: each is cut or refused where it enters, by a stable code; the process and the
// other tasks are unharmed.

const boom = (): never => {
  throw new Error('boom')
}
/** Promises ask for `then` before anybody else is given the value. */
const known = (_: object, key: string | symbol) => (key === 'then' ? undefined : boom())
function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { in: value }
  return value
}
const cyclic: { self?: unknown } = {}
cyclic.self = cyclic

/** By what is wrong, a value and the code under which it is refused where a payload enters; null: it is taken. */
const values: Record<string, [unknown, string | null]> = {
  'deeper than 256': [nested(257), 'UNSERIALISABLE'],
  'very deep': [nested(100_000), 'UNSERIALISABLE'],
  'too large': ['x'.repeat(2_000_000), 'PAYLOAD_TOO_LARGE'],
  'too many keys': [Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`k${n}`, n])), 'PAYLOAD_TOO_LARGE'],
  'too many items': [new Array(1_000_000).fill(0), 'PAYLOAD_TOO_LARGE'],
  NaN: [Number.NaN, 'UNSERIALISABLE'],
  '1e400': [Number('1e400'), 'UNSERIALISABLE'],
  '-0': [-0, null],
  'a BigInt': [{ id: 5n }, 'UNSERIALISABLE'],
  'a getter that throws': [{ get a() { return boom() } }, 'UNSERIALISABLE'], // biome-ignore format: one line
  cyclic: [cyclic, 'UNSERIALISABLE'],
  'a Proxy that throws': [
    new Proxy({}, { ownKeys: boom, get: known, getPrototypeOf: boom, has: boom }),
    'UNSERIALISABLE',
  ],
  'a toJSON that throws': [{ toJSON: boom }, 'UNSERIALISABLE'],
  'a symbol': [Symbol('s'), 'UNSERIALISABLE'],
  'a function': [() => 1, 'UNSERIALISABLE'],
  'half a character': ['a\ud800b', null],
  NUL: ['a\0b', null],
}

const anything: StandardSchema<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) },
}

/** What a workflow or an action is told to do with a value, by name: values of any kind cannot be inputs. */
type Doing = (value: unknown, means: { task: TaskContext; step: StepContext }) => unknown
let doing: Doing = () => null
let value: unknown
const own = agent('own')
const act = own.action('act', {
  retry: { attempts: 1 },
  rescue: 'fail',
  present: () => presented(),
  cache: { ttl: '1m', scope: 'process', key: () => cachedBy() },
  run: (_: unknown, step) => doing(value, { step } as never) as never,
})
const plain = own.action('plain', {
  run: async (given: unknown) => given as never,
  retry: { attempts: 1 },
  rescue: 'fail',
})
let presented: () => string = () => 'fine'
let cachedBy: () => unknown = () => Math.random()
const child = workflow('child', { run: async (input: unknown) => input as never })
/** Does it in the code of the workflow. */
const inTask = workflow('in-task', {
  run: async (input: unknown, task) => (input === null ? await doing(value, { task } as never) : 'went on') as never,
})
/** In an attempt. */
const inStep = workflow('in-step', { run: async (_: null, task) => (await task.run(act, null)) as never })
let planned: { input?: unknown; output?: unknown } = {}
/** Plans a step with what it is told, and gives what it is told. */
const inPlan = workflow('in-plan', {
  plan: (_: null, plan) => {
    plan.step(plain, planned.input as never)
    return planned.output as never
  },
})
let keyedBy: () => unknown = () => 'one'
let retriedIf: () => unknown = () => false
const keyed = agent('keyed', {
  rateLimit: { limit: 100, per: '1s', key: () => keyedBy() as string },
})
const paced = keyed.action('paced', { retry: { attempts: 1 }, rescue: 'fail', run: () => null })
const inLimit = workflow('in-limit', { run: async (_: null, task) => (await task.run(paced, null)) as never })
/** Keys of each kind, and what stands around an attempt. */
const shared = agent('shared', {
  circuitBreaker: { key: () => keyedBy() as string },
  fairness: { key: () => sharedBy() as string, weight: () => weighed() as number },
})
let sharedBy: () => unknown = () => 'one'
let weighed: () => unknown = () => 1
let around: (next: (input?: unknown) => unknown) => unknown = (next) => next()
const echo = shared.action('echo', {
  middleware: [middleware('around', { run: (_, next) => around(next) })],
  retry: { attempts: 1 },
  rescue: 'fail',
  run: (given: unknown) => given as never,
})
const inShared = workflow('in-shared', { run: async (_: null, task) => (await task.run(echo, null)) as never })
const asked = own.action('asked', {
  retry: { attempts: 1 },
  rescue: 'fail',
  verify: () => doing(value, {} as never) as never,
  run: () => Promise.reject(new UnknownOutcomeError('who knows')),
})
const inVerify = workflow('in-verify', { run: async (_: null, task) => (await task.run(asked, null)) as never })
const wary = own.action('wary', {
  retry: { attempts: 2, retryIf: () => retriedIf() as boolean },
  rescue: 'fail',
  run: () => boom(),
})
const inRetry = workflow('in-retry', { run: async (_: null, task) => (await task.run(wary, null)) as never })
const bystander = workflow('bystander', { run: async (_: null, task) => task.run('one', () => 'fine') })
const anySetting = setting('any', anything, null)
const why = { reason: 'a test', actor: 'ada' }

/** The code under which the value is refused, or 'nothing'. */
type Entry = (s: Stage, value: unknown) => Promise<string>

/** The code with which a step or a task of it failed. */
async function ended(s: Stage, flow: { name: string }, how: Doing): Promise<string> {
  doing = how
  const task = await s.submit(flow as typeof inStep, null)
  await s.advance('1s')
  const { status, error, pause } = await task.status()
  const records = JSON.stringify(await task.history())
  expect(records.length).toBeLessThan(200_000)
  if (status === 'paused') {
    const { error } = pause as { error?: { code?: string; cause?: { code?: string } } }
    // It did its work: an operator is asked, and the cause says why.
    return String(error?.code === 'STEP_UNRECORDABLE' ? error.cause?.code : error?.code)
  }
  if (status !== 'stopped') return `still ${status}`
  return error === undefined ? 'nothing' : codeIn(error)
}

function codeIn(error: { code?: string; cause?: object }): string {
  const { code, cause } = error
  return code !== 'STEP_FAILED' || cause === undefined ? (code ?? 'no code') : codeIn(cause)
}

const viaTask =
  (how: Doing): Entry =>
  (s) =>
    ended(s, inTask, how)
const viaStep =
  (how: Doing): Entry =>
  (s) =>
    ended(s, inStep, how)

/** Payloads: refused under the code of the table. */
const payloads: Record<string, Entry> = {
  'the input of a submission': (s, it) => codeOf(s.engine.triarch.submit(child, it)),
  'one of many submissions': async (s, it) => {
    const [told] = await s.engine.triarch.submitMany(child, [{ input: it }])
    return told?.status === 'rejected' ? told.reason.code : 'nothing'
  },
  'the payload of a signal': async (s, it) =>
    codeOf((await s.submit(child, null, { startAt: '1h' })).signal('said', it)),
  'the input of a schedule': (s, it) =>
    codeOf(s.engine.triarch.schedules.get('often').register({ workflow: child, input: it, every: '1h' })),
  'the payload of a token': async (s, it) => {
    let token = ''
    doing = (_, { step }) => {
      token = step.token
      return step.suspend()
    }
    await s.submit(inStep, null)
    await s.settle()
    return codeOf(s.engine.triarch.tasks.resume(token, it))
  },
  'the input of a retry': async (s, it) => codeOf((await s.submit(bystander, null)).retry({ step: 1, input: it })),
  'the output in place of a step': async (s, it) =>
    codeOf((await s.submit(bystander, null)).skip({ step: 1, output: it })),
  'the value of a setting': (s, it) => codeOf(s.engine.triarch.settings.get(anySetting).set(it, why)),
  'the payload of an operation': (s, it) =>
    codeOf(
      s.engine.triarch.tasks.operate({ filter: 'status:paused', action: 'signal', options: { name: 'x', payload: it }, confirm: 1, reason: 'r' }), // biome-ignore format: one line
    ),
  'the input of a step': viaTask((it, { task }) => task.run(plain, it)),
  'the input of a child': viaTask((it, { task }) => task.call(child, it)),
  'the output of a local step': viaTask((it, { task }) => task.run('local', () => it)),
  'the output of a task': viaTask((it) => it),
  'the input to continue with': viaTask((it, { task }) => task.continueAsNew(it as never)),
  'an item of a batch': viaTask((it, { task }) => task.batch('b', { workflow: child, items: [it] })),
  'a checkpoint': viaStep((it, { step }) => step.heartbeat({ checkpoint: it })),
  progress: viaStep((it, { step }) => step.heartbeat({ progress: it })),
  'a checkpoint to wait with': viaStep((it, { step }) => step.suspend({ checkpoint: it })),
  'the payload of a signal to itself': viaStep((it, { step }) =>
    step.suspend({ signals: [{ in: '1h', name: 'later', payload: it }] }),
  ),
  'the output of a step': viaStep((it) => it),
  'what a middleware gives in place of an output': (s, it) => {
    around = () => it
    return ended(s, inShared, () => null).finally(() => {
      around = (next) => next()
    })
  },
  'the key of a cache': (s, it) => {
    cachedBy = () => it
    return ended(s, inStep, () => null).finally(() => {
      cachedBy = () => Math.random()
    })
  },
}

/** It is looked at before the state of what it is for: these say that it was found fit. */
const taken = ['still running', 'ILLEGAL_MOVE', 'UNKNOWN_TASK']

/** What is wrong with the answer of verify is asked about again, later. */
const again =
  (answer: () => unknown): Entry =>
  async (s) => {
    const code = await ended(s, inVerify, answer)
    return code === 'still running' ? 'nothing' : code
  }

/** What is text, or is cut: taken, or refused by one of these codes. */
const others: Record<string, Entry> = {
  'the message of an error': viaStep((it) => thrown({ message: it })),
  'the stack of an error': viaStep((it) => thrown({ stack: it })),
  'the name of an error': viaStep((it) => thrown({ name: it })),
  // Its code is its own, cut.
  'the code of an error': async (s, it) =>
    (await ended(s, inStep, () => thrown({ code: it }))).length <= 200 ? 'E_OWN' : 'too long',
  'the cause of an error': viaStep((it) => thrown({ cause: it })),
  'the errors of an error': viaStep((it) => thrown({ errors: it })),
  'the details of an error': viaStep((it) => thrown({ details: it })),
  'retryAfter of an error': viaStep((it) => {
    throw Object.assign(new TransientError('later'), { retryAfter: it })
  }),
  'what is thrown by a step': viaStep((it) => {
    throw it
  }),
  'what is thrown by a workflow': viaTask((it) => {
    throw it
  }),
  'what a promise of a step rejects with': viaStep((it) => Promise.reject(it)),
  'an id': (s, it) => codeOf(s.submit(child, null, { id: it as string })),
  'a tag': (s, it) => codeOf(s.submit(child, null, { tags: { tag: it as string } })),
  'all tags': (s, it) => codeOf(s.submit(child, null, { tags: it as Record<string, string> })),
  metadata: (s, it) => codeOf(s.submit(child, null, { metadata: it as Record<string, string> })),
  'a priority': (s, it) => codeOf(s.submit(child, null, { priority: it as number })),
  'an instant to start at': (s, it) => codeOf(s.submit(child, null, { startAt: it as '1h' })),
  'a task to come after': (s, it) => codeOf(s.submit(child, null, { after: it as string })),
  'a lock': (s, it) => codeOf(s.submit(child, null, { exclusive: { key: it as string } })),
  'a lock of a workflow': viaTask((it, { task }) => task.lock(it as string)),
  'the name of a step': viaTask((it, { task }) => task.run(it as string, () => null)),
  'a time to sleep': viaTask((it, { task }) => task.sleep(it as '1h')),
  'the reason of a control': async (s, it) =>
    codeOf((await s.submit(bystander, null)).cancel({ reason: it as string })),
  'all options of a control': async (s, it) => codeOf((await s.submit(bystander, null)).cancel(it as object)),
  'all options of a submission': (s, it) => codeOf(s.submit(child, null, it as object)),
  'the message of a log': viaStep((it, { step }) => step.log.info(it as string)),
  'the fields of a log': viaStep((it, { step }) => step.log.info('said', it as Record<string, string>)),
  'a field of a log': viaStep((it, { step }) => step.log.info('said', { field: it as string })),
  'a line of a workflow': viaTask((it, { task }) => task.log.info('said', { field: it as string })),
  'a summary': async (s, it) => {
    presented = () => it as string
    const code = await ended(s, inStep, () => null)
    presented = () => 'fine'
    return code
  },
  'what a presentation throws': async (s, it) => {
    presented = () => {
      throw it
    }
    const code = await ended(s, inStep, () => null)
    presented = () => 'fine'
    return code
  },
  'a filter': (s, it) => codeOf(s.engine.triarch.tasks.list({ filter: it as string })),
  'what is imported': (s, it) => codeOf(s.engine.triarch.tasks.import(it as TaskExport)),
  'a record that is imported': (s, it) =>
    codeOf(s.engine.triarch.tasks.import({ format: 1, task: 'strange', records: [it] } as never)),
  'the input of a planned step': (s, it) => {
    planned = { input: it }
    return codeOf(s.submit(inPlan, null))
  },
  'the output of a plan': (s, it) => {
    planned = { output: it }
    return codeOf(s.submit(inPlan, null))
  },
  'the key of a rate limit': (s, it) => {
    keyedBy = () => it
    return ended(s, inLimit, () => null).finally(() => {
      keyedBy = () => 'one'
    })
  },
  'what a function of keys throws': (s, it) => {
    keyedBy = () => {
      throw it
    }
    return ended(s, inLimit, () => null).finally(() => {
      keyedBy = () => 'one'
    })
  },
  'the key of a breaker': (s, it) => {
    keyedBy = () => it
    return ended(s, inShared, () => null).finally(() => {
      keyedBy = () => 'one'
    })
  },
  'the key of fairness': (s, it) => {
    sharedBy = () => it
    return ended(s, inShared, () => null).finally(() => {
      sharedBy = () => 'one'
    })
  },
  'the weight of fairness': (s, it) => {
    weighed = () => it
    return ended(s, inShared, () => null).finally(() => {
      weighed = () => 1
    })
  },
  'what a middleware throws': (s, it) => {
    around = () => {
      throw it
    }
    return ended(s, inShared, () => null).finally(() => {
      around = (next) => next()
    })
  },
  'what a middleware hands on': (s, it) => {
    around = (next) => next(it)
    return ended(s, inShared, () => null).finally(() => {
      around = (next) => next()
    })
  },
  'what verify answers': again(() => value),
  'what verify throws': again(() => {
    throw value
  }),
  'the answer of retryIf': (s, it) => {
    retriedIf = () => it
    return ended(s, inRetry, () => null)
  },
  'what retryIf throws': (s, it) => {
    retriedIf = () => {
      throw it
    }
    return ended(s, inRetry, () => null)
  },
  'an event that is imported': (s, it) =>
    codeOf(s.engine.triarch.tasks.import({ format: 1, task: 'strange', records: [{ seq: 1, at: 1, events: [it] }] } as never)), // biome-ignore format: one line
}
const codes =
  /^(?:nothing|INVALID_\w+|UNSERIALISABLE|PAYLOAD_TOO_LARGE|UNKNOWN_OPTION|UNKNOWN_ACTION|UNKNOWN_TASK|IMPORT_REFUSED|PLAN_FAILED|TASK_FAILED|no code|E_OWN|STEP_TIMEOUT|STEP_UNKNOWN_OUTCOME|READ_TOO_COSTLY)$/

const ownOptions = ['an instant to start at', 'a task to come after', 'all options of a submission']

function thrown(what: Record<string, unknown>): never {
  const error = new Error('x')
  for (const [key, it] of Object.entries(what)) Object.defineProperty(error, key, { value: it })
  throw error
}

async function look(s: Stage): Promise<void> {
  const { tasks } = await s.engine.triarch.tasks.list({ limit: 100 })
  for (const { id } of tasks) {
    const task = s.engine.tasks.get(id)
    JSON.stringify([await task.status(), await task.steps(), await task.history(), (await task.logs()).lines])
  }
}

describe.each(Object.entries(values))('a value that is %s', (_, [it_, code]) => {
  const staged = () =>
    stage({
      workflows: [inTask, inStep, inPlan, inLimit, inRetry, inShared, inVerify, child, bystander],
      agents: [own, keyed, shared],
      settings: [anySetting],
      limits: { payload: 10_000 },
    })

  it('is refused by its code wherever a payload enters, or taken, and harms nobody', async () => {
    await using s = await staged()
    value = it_
    const told: Record<string, string> = {}
    const wanted: Record<string, string> = {}
    for (const [name, entry] of Object.entries(payloads)) {
      const answer = await entry(s, it_)
      told[name] = taken.includes(answer) ? 'nothing' : answer
      wanted[name] = code ?? 'nothing'
    }
    expect(told).toEqual(wanted)
    await look(s)
    const other = await s.submit(bystander, null)
    await s.settle()
    expect(await other.result()).toBe('fine')
  })

  it('is cut, refused by a code or taken wherever else it enters, and harms nobody', async () => {
    await using s = await staged()
    value = it_
    const told: Record<string, string> = {}
    for (const [name, entry] of Object.entries(others)) told[name] = await entry(s, it_)
    // An option that throws when it is read throws to the program that gives it, in the call that it makes.
    for (const name of ownOptions) if (told[name] === 'not typed: Error: boom') told[name] = 'nothing'
    const strange = Object.entries(told).filter(([, code]) => !codes.test(code))
    expect(strange).toEqual([])
    await look(s)
    const other = await s.submit(bystander, null)
    await s.settle()
    expect(await other.result()).toBe('fine')
  })
})

it('a plan with a value or an expression that is nested very deep is refused by the code of payloads', async () => {
  const chained = workflow('chained', {
    plan: (_: null, plan) => {
      let of = plan.step(plain, 1).output as never
      for (let level = 0; level < 100_000; level++) of = ref.or(of, 1 as never) as never
      return of
    },
  })
  await using s = await stage({ workflows: [inPlan, chained], agents: [own] })
  expect(await codeOf(s.submit(chained, null))).toBe('UNSERIALISABLE')
  for (const deep of [{ input: nested(100_000) }, { output: nested(100_000) }]) {
    planned = deep
    expect(await codeOf(s.submit(inPlan, null))).toBe('UNSERIALISABLE')
  }
})
