import { describe, expect, it, vi } from 'vitest'
import { type engineEvents, errorListener } from '../../src/client/listeners.ts'
import type { Environment } from '../../src/environment/environment.ts'
import {
  type ActionDefinition,
  agent,
  type MiddlewareHooks,
  middleware,
  PermanentError,
  polling,
  type RetryOptions,
  TransientError,
  type Triarch,
  TriarchError,
  type TriarchOptions,
  type WorkflowDefinition,
  workflow,
} from '../../src/index.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import { telemetryNames } from '../../src/telemetry/catalogue.ts'
import { memory, testEngine, VirtualEnvironment } from '../../src/testing/index.ts'
import type { StandardSchema } from '../../src/value/schema.ts'

/** The options of these that are functions: a new one without a case here does not compile. */
type Functions<T> = {
  [K in keyof T]-?: Extract<NonNullable<T[K]>, (...of: never[]) => unknown> extends never ? never : K
}[keyof T]
type Place =
  | `on ${(typeof engineEvents)[number]}`
  | Extract<Functions<TriarchOptions>, 'onError'>
  | `action ${Functions<ActionDefinition>}`
  | `workflow ${Functions<WorkflowDefinition>}`
  | `middleware ${Functions<MiddlewareHooks>}`
  | `environment ${Exclude<keyof Environment, 'id' | 'hrtimeOrigin' | 'place' | 'gone' | 'network' | 'awaited'>}`
  | `retry ${Functions<RetryOptions>}`
  | 'telemetry'
  | 'logger'
  | 'schema'
  | 'exclusive key'
  | 'batch items'
  | 'polling'

/** Throws, or rejects, when it is called; counts how often it was. */
interface Bomb {
  go: () => never
  calls: number
}
type Case = (bomb: Bomb) => {
  options?: Partial<TriarchOptions>
  use?: (triarch: Triarch) => Promise<unknown>
  arm?: (triarch: Triarch) => unknown
}

const fine = workflow('fine', { run: async (n: number) => n })

function acting(definition: object, also: { options?: Partial<TriarchOptions> } = {}): ReturnType<Case> {
  const own = agent('own')
  // One that only plans has no attempts to try again.
  const retry = !('plan' in definition) && { retry: { attempts: 2 } }
  const act = own.action('act', { ...retry, run: async (n: number) => n, ...definition } as never)
  const flow = workflow('flow', {
    async run(n: number, task) {
      await task.run(act as never, n as never)
      throw new Error('undo it')
    },
  })
  const plan = workflow('plan', { plan: (n: number, plan) => void plan.step(act as never, n as never) })
  const use = async (triarch: Triarch) => {
    const done = [flow, plan].map(async (one) => {
      const task = await triarch.submit(one as unknown as typeof fine, 1)
      await task.result({ timeout: '5m' }).catch(() => null)
      await task.steps()
      await task.status()
    })
    await Promise.allSettled(done)
  }
  return { options: { workflows: [flow, plan], agents: [own], ...also.options }, use }
}

const flowing = (definition: object): ReturnType<Case> => {
  const flow = workflow('flow', { run: async (n: number) => n, ...definition } as never)
  return {
    options: { workflows: [flow] },
    use: async (triarch) => (await triarch.submit(flow, 1 as never)).result({ timeout: '5m' }),
  }
}

const around = (hook: keyof MiddlewareHooks) => (bomb: Bomb) => {
  const lost = { attempts: 0 }
  const definition = {
    run: () => {
      if (hook === 'verify' && lost.attempts++ === 0) return new Promise(() => undefined)
      return 1
    },
    verify: () => ({ done: false }),
    undo: () => null,
    finalize: () => null,
    present: () => 'x',
    attemptWithin: '1s',
  }
  return acting(definition, { options: { middleware: [middleware('wrap', { [hook]: bomb.go })] } })
}

const held = workflow('held', {
  rescue: 'pause',
  run: async (_: number, task) =>
    task.run(
      'no',
      () => {
        throw new Error('no')
      },
      { retry: { attempts: 1 } },
    ),
})
const pausing = {
  options: { workflows: [held] },
  use: async (triarch: Triarch) => void (await triarch.submit(held, 1)),
}

const failing =
  (name: keyof Environment): Case =>
  (bomb) => {
    let armed = false
    const environment = new VirtualEnvironment()
    const proxy = new Proxy(environment, {
      get(target, key) {
        const own = Reflect.get(target, key, target) as unknown
        const bound = (typeof own === 'function' ? own.bind(target) : own) as (...of: unknown[]) => unknown
        if (key !== name) return bound
        return (...of: unknown[]) => (armed && bomb.calls < 3 ? bomb.go() : bound(...of))
      },
    })
    const acted = acting({
      run: () => {
        throw new TransientError('again')
      },
    })
    const arm = () => {
      armed = true
    }
    return { ...acted, options: { ...acted.options, environment: proxy as VirtualEnvironment }, arm }
  }

const schema = (bomb: Bomb): StandardSchema<unknown, unknown> => ({
  '~standard': { version: 1, vendor: 'test', validate: () => bomb.go() },
})

const cases: Record<Place, Case> = {
  'on alert': (bomb) => ({ ...pausing, arm: (triarch) => triarch.on('alert', bomb.go) }),
  'on recovered': (bomb) => {
    let ghost: () => unknown = () => null
    const store: StoreFactory = (environment) => {
      const made = memory()(environment)
      ghost = () => made.heartbeat({ id: 'a node that died', roles: [], lease: 1 })
      return made
    }
    return { options: { store }, arm: (triarch) => [ghost(), triarch.on('recovered', bomb.go)] }
  },
  onError: (bomb) => ({
    ...pausing,
    options: { ...pausing.options, onError: bomb.go },
    arm: (triarch) =>
      triarch.on('alert', () => {
        throw new Error('for onError')
      }),
  }),
  'action run': (bomb) => acting({ run: bomb.go }),
  'action undo': (bomb) => acting({ undo: bomb.go }),
  'action verify': (bomb) => acting({ run: () => new Promise(() => undefined), verify: bomb.go, attemptWithin: '1s' }),
  'action plan': (bomb) => acting({ run: undefined, plan: bomb.go }),
  'action finalize': (bomb) => acting({ finalize: bomb.go }),
  'action present': (bomb) => acting({ present: bomb.go }),
  'action hints': (bomb) => acting({ hints: bomb.go }),
  'workflow run': (bomb) => flowing({ run: bomb.go }),
  'workflow plan': (bomb) => flowing({ run: undefined, plan: bomb.go }),
  'middleware plan': around('plan'),
  'middleware run': around('run'),
  'middleware finalize': around('finalize'),
  'middleware undo': around('undo'),
  'middleware verify': around('verify'),
  'middleware submit': around('submit'),
  'middleware present': around('present'),
  'environment now': failing('now'),
  'environment monotonic': failing('monotonic'),
  'environment timer': failing('timer'),
  'environment soon': failing('soon'),
  'environment drain': failing('drain'),
  'environment random': failing('random'),
  'retry retryIf': (bomb) =>
    acting({
      run: () => {
        throw new Error('no')
      },
      retry: { attempts: 3, retryIf: bomb.go },
    }),
  telemetry: (bomb) =>
    acting({}, { options: { telemetry: Object.fromEntries(telemetryNames.map((name) => [name, bomb.go])) } }),
  logger: (bomb) => {
    const logger = { debug: bomb.go, info: bomb.go, warn: bomb.go, error: bomb.go }
    return acting({}, { options: { logger, logLevel: 'debug' } })
  },
  schema: (bomb) => acting({ output: schema(bomb) }),
  'exclusive key': (bomb) => flowing({ exclusive: { key: bomb.go } }),
  'batch items': (bomb) =>
    flowing({
      run: (_: number, task: { batch: (name: string, of: object) => unknown }) =>
        task.batch('all', { workflow: fine, items: bomb.go, retry: { attempts: 2 } }),
    }),
  polling: (bomb) => acting({ run: polling({ invoke: () => 1, poll: () => 1, done: bomb.go }) }),
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Every trap of it throws. */
function hostile(): Error {
  const trap = () => {
    throw new Error('trap')
  }
  return new Proxy(new Error('hostile'), new Proxy({}, { get: () => trap }))
}

describe.each([
  [
    'throws',
    () => {
      throw new Error('bomb')
    },
  ],
  [
    'throws something that is no error',
    () => {
      // biome-ignore lint/style/useThrowOnlyError: that is what is tried
      throw 'no error'
    },
  ],
  ['rejects', () => Promise.reject(new Error('bomb'))],
  [
    'throws what throws when it is looked at',
    () => {
      throw hostile()
    },
  ],
  ['gives what throws when it is looked at', () => hostile()],
  ['never ends', () => new Promise(() => undefined)],
  [
    'leaves a promise behind that rejects',
    () => {
      void Promise.reject(new Error('bomb'))
    },
  ],
  [
    'leaves a promise behind that rejects later',
    () => {
      void turn().then(() => Promise.reject(new Error('bomb')))
    },
  ],
  [
    'throws in a callback of its own',
    () => {
      setImmediate(() => {
        throw new Error('bomb')
      })
    },
  ],
] as const)('a function of the user that %s hurts nothing but what asked for it', (how, explode) => {
  const isLeft = how.startsWith('leaves') || how.startsWith('throws in')
  // The engine's own clock is no code of a user's.
  const places = Object.entries(cases).filter(([place]) => !isLeft || !place.startsWith('environment'))
  it.each(places)('%s', async (place, make) => {
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const unhandled: unknown[] = []
    const listen = (error: unknown) => unhandled.push(error)
    process.on('unhandledRejection', listen).on('uncaughtException', listen)
    try {
      const bomb: Bomb = {
        calls: 0,
        go: () => {
          bomb.calls++
          return explode() as never
        },
      }
      const errors: unknown[] = []
      const { options = {}, use, arm } = make(bomb)
      const environment = (options.environment ?? new VirtualEnvironment()) as VirtualEnvironment
      const engine = await testEngine({
        store: memory(),
        onError: (error) => errors.push(error),
        lease: '10s',
        sweep: '5s',
        poll: '1s',
        ...options,
        workflows: [...(options.workflows ?? []), fine],
        environment,
      })
      const { triarch } = engine
      arm?.(triarch)
      use?.(triarch).catch(() => null)
      for (let minute = 0; minute < 6; minute++) await engine.advance('1m')
      expect(bomb.calls).toBeGreaterThan(0)
      if (place !== 'middleware submit') {
        const after = await triarch.submit(fine, 7)
        await engine.advance('10s')
        expect(await after.result()).toBe(7)
      }
      await triarch.schedules.get('later').register({ workflow: fine, input: 8, every: '1m' })
      await engine.advance('2m')
      expect((await triarch.schedules.get('later').info()).started).toBeGreaterThan(0)
      await engine.stop()
      await new Promise((resolve) => setImmediate(resolve))
      expect(unhandled).toEqual([])
    } finally {
      process.off('unhandledRejection', listen).off('uncaughtException', listen)
      stderr.mockRestore()
    }
  })
})

describe('an engine that has nobody to tell', () => {
  const alarming = workflow('alarming', {
    rescue: 'pause',
    run: () => Promise.reject(new PermanentError('no')),
  })
  it.each([
    ['its listener and onError throw what throws when it is looked at', { onError: hostileThrow }],
    ['its listener throws what throws when it is looked at', {}],
    [
      'its listener throws an error whose parts throw',
      {},
      () => {
        throw Object.defineProperties(new Error('x'), { code: { get: hostileThrow }, stack: { get: hostileThrow } })
      },
    ],
    ['its listener rejects with what throws when it is looked at', {}, () => Promise.reject(hostile())],
    [
      'its listener gives a promise that is none',
      {},
      () => {
        const fail = () => {
          throw new Error('bomb')
        }
        // biome-ignore lint/suspicious/noThenProperty: that is what is tried
        return Object.assign(Promise.resolve(1), { then: fail, catch: fail })
      },
    ],
  ] as const)('goes on, whatever %s', async (_, options, listener: () => unknown = hostileThrow) => {
    const uncaught: unknown[] = []
    const warned: unknown[] = []
    const listen = (error: unknown) => uncaught.push(error)
    const warn = (warning: Error) => warned.push(warning)
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    process.on('unhandledRejection', listen).on('uncaughtException', listen).on('warning', warn)
    try {
      await using engine = await testEngine({ ...options, workflows: [alarming, fine] })
      engine.triarch.on('alert', listener)
      await engine.submit(alarming, null as never)
      await engine.advance('1m')
      const after = await engine.submit(fine, 7)
      await engine.advance('10s')
      expect(await after.result()).toBe(7)
      await new Promise((resolve) => setImmediate(resolve))
      expect(uncaught).toEqual([])
      const told = 'onError' in options ? stderr.mock.calls.join(' ').includes('onError failed') : warned.length > 0
      expect(told).toBe(true)
    } finally {
      process.off('unhandledRejection', listen).off('uncaughtException', listen).off('warning', warn)
      stderr.mockRestore()
    }
  })

  it('without onError, warns of the same error once a minute, and says how often it was', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
    let now = 0
    const failed = errorListener(undefined, { monotonic: () => now })
    try {
      for (const message of ['away', 'away', 'busy', 'away']) failed(new Error(message))
      now = 60_000
      failed(new Error('away'))
      const warned = warn.mock.calls.map(([warning]) => (warning as Error).message)
      expect(warned).toEqual(['away', 'busy', 'away (and 2 more since it was said last)'])
    } finally {
      warn.mockRestore()
    }
  })

  it('does not say of its store that it is closed, when that is what was asked for', async () => {
    const closed = Promise.withResolvers<never>()
    const late: StoreFactory = (environment) => {
      const store = memory()(environment)
      store.inbox = () => closed.promise
      return store
    }
    const errors: unknown[] = []
    const engine = await testEngine({
      store: late,
      workflows: [fine],
      poll: '1s',
      onError: (error) => errors.push(error),
    })
    await engine.advance('5s')
    await engine.stop({ grace: 0 })
    closed.reject(new TriarchError('STORE_CLOSED', 'the store is not open'))
    await new Promise((resolve) => setImmediate(resolve))
    expect(errors).toEqual([])
  })
})

function hostileThrow(): never {
  throw hostile()
}
