import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { systemEnvironment } from '../../src/environment/system.ts'
import { agent, type Logger, PermanentError, Triarch, telemetryNames, workflow } from '../../src/index.ts'
import { worstOf } from '../../src/telemetry/line.ts'
import { Log } from '../../src/telemetry/logger.ts'
import { memory, testEngine } from '../../src/testing/index.ts'

const shop = agent('shop')
const pay = shop.action('pay', {
  retry: { attempts: 2, backoff: { initial: '1s', jitter: false } },
  run(id: string, step) {
    if (step.attempt === 1) throw new Error('not yet')
    return id
  },
})
const order = workflow('order', { run: (id: string, task) => task.run(pay, id) })
const failing = workflow('failing', {
  run: async (_: null) => {
    throw new PermanentError('no such luck')
  },
})
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

type Said = Record<string, unknown>

/** One that is called as `console` is, and keeps what it was given. */
function consoleLike() {
  const lines: Said[] = []
  const take = (line: string) => void lines.push(JSON.parse(line))
  return { lines, logger: { debug: take, info: take, warn: take, error: take } }
}

function pinoLike() {
  const lines: (Said & { level: string; message: string })[] = []
  const at = (level: string) => (fields: Said, message: string) => void lines.push({ level, message, ...fields })
  return { lines, logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child: at } }
}

const parts = { workflows: [order, failing], agents: [shop] }

describe('the log of the engine', () => {
  it('is one line of JSON for each event, with task, step, attempt, node and trace, for what is shaped like console', async () => {
    const { lines, logger } = consoleLike()
    await using engine = await testEngine({ ...parts, logger, logLevel: 'debug' })
    await engine.submit(order, 'o-1', { id: 'o-1', metadata: { traceparent } })
    await engine.advance('5s')
    const ended = lines.filter(({ event }) => event === 'attempt:ended')
    const about = { task: 'o-1', workflow: 'order', step: 1, action: 'shop.pay', traceId: traceparent.split('-')[1] }
    expect(ended).toMatchObject([
      {
        level: 'info',
        message: 'attempt ended',
        attempt: 1,
        outcome: 'failed',
        error: { message: 'not yet' },
        ...about,
      },
      { level: 'debug', attempt: 2, outcome: 'done', ...about },
    ])
    expect(ended[0]).toMatchObject({ node: expect.any(String), time: expect.stringMatching(/^\d{4}-.*Z$/) })
    expect(ended[0]).not.toHaveProperty('traceparent')
  })

  it('gives fields and a message to what is shaped like pino', async () => {
    const { lines, logger } = pinoLike()
    await using engine = await testEngine({ ...parts, logger, logLevel: 'info' })
    await engine.submit(failing, null, { id: 'f-1' })
    await engine.settle()
    expect(lines.find(({ event }) => event === 'task:stopped')).toMatchObject({
      ...{ level: 'warn', message: 'task stopped', task: 'f-1', error: { message: 'no such luck' } },
    })
  })

  it('is a pino as it comes: one line an event, with its bindings, its level and the error', async () => {
    const written: string[] = []
    const logger = pino({ level: 'debug', base: { app: 'shop' } }, { write: (line: string) => void written.push(line) })
    await using engine = await testEngine({ ...parts, logger: logger.child({ part: 'tasks' }), logLevel: 'info' })
    await engine.submit(failing, null, { id: 'f-1' })
    await engine.settle()
    const lines = written.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines.filter(({ event }) => event === 'task:stopped')).toEqual([
      expect.objectContaining({
        ...{ level: pino.levels.values.warn, app: 'shop', part: 'tasks', msg: 'task stopped', task: 'f-1' },
        ...{ workflow: 'failing', node: expect.any(String), outcome: 'error' },
        error: expect.objectContaining({ message: 'no such luck' }),
      }),
    ])
    // What is asked of the engine counts, and what pino itself keeps.
    expect(lines.some(({ level }) => level === pino.levels.values.debug)).toBe(false)
    engine.triarch.logLevel = 'debug'
    logger.level = 'debug'
    await engine.submit(failing, null, { id: 'f-2' })
    await engine.settle()
    expect(written.some((line) => JSON.parse(line).level === pino.levels.values.debug)).toBe(true)
  })

  it('has warnings and worse unless more is asked for, and follows a change at run time', async () => {
    const { lines, logger } = consoleLike()
    await using engine = await testEngine({ ...parts, logger })
    const run = async (id: string) => {
      await engine.submit(order, id, { id })
      await engine.submit(failing, null, { id: `${id}-f` })
      await engine.advance('5s')
      return lines.splice(0)
    }
    expect((await run('a')).map(({ level, event, task }) => `${level} ${event} ${task}`)).toEqual([
      'warn task:stopped a-f',
    ])
    engine.triarch.logLevel = 'debug'
    expect((await run('b')).map(({ level }) => level)).toContain('debug')
    engine.triarch.logLevel = 'silent'
    expect(await run('c')).toEqual([])
    expect(engine.triarch.logLevel).toBe('silent')
    expect(() => Object.assign(engine.triarch, { logLevel: 'loud' })).toThrow(/must be one of debug/)
  })

  it('takes the place of what is said on stderr', async () => {
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const { lines, logger } = consoleLike()
    const held = workflow('held', {
      rescue: 'pause',
      run: async () => {
        throw new Error('wait')
      },
    })
    await using engine = await testEngine({ ...parts, workflows: [held], logger })
    await engine.submit(held, undefined, { id: 'h-1' })
    await engine.settle()
    expect(lines).toContainEqual(expect.objectContaining({ event: 'alert', code: 'TASK_PAUSED', task: 'h-1' }))
    expect(stderr).not.toHaveBeenCalled()
    stderr.mockRestore()
  })

  it('hurts nobody when its logger throws, rejects, or takes its time', async () => {
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const logger: Logger = {
      debug: () => {
        throw new Error('a full disk')
      },
      info: () => Promise.reject(new Error('a full disk')),
      warn: () => new Promise(() => undefined),
      error: () => undefined,
    }
    await using engine = await testEngine({ ...parts, logger, logLevel: 'debug', onError })
    const task = await engine.submit(order, 'o-1')
    await engine.advance('5s')
    expect(await task.result()).toBe('o-1')
    expect(errors.length).toBeGreaterThan(0)
    expect(new Set(errors.map(String))).toEqual(new Set(['Error: a full disk']))
  })

  it('drops lines of a logger that is too slow, and says how many', async () => {
    const lines: Said[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    let clock = 0
    const slow = (line: string) => {
      clock += 1
      lines.push(JSON.parse(line))
      if (lines.at(-1)?.dropped !== undefined) resolve()
    }
    const system = systemEnvironment()
    const environment = Object.assign(Object.create(system), {
      monotonic: () => clock,
      timer: (_: number, callback: () => void) => system.timer(0, callback),
    })
    const log = new Log({ debug: slow, info: slow, warn: slow, error: slow }, 'debug', environment, () => undefined)
    for (let n = 0; n < 1_010; n++) log.tell('lease:lost', { at: n, node: 'n' })
    await promise
    expect(lines).toHaveLength(1_001)
    expect(lines.at(-1)).toMatchObject({ level: 'warn', dropped: 10 })
  })

  it('has the levels that its page says', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../../docs/concepts/logs.md'), 'utf8')
    const rows = [...page.matchAll(/^\| `(debug|info|warn|error)` \| (.*) \|$/gm)]
    const documented = rows.flatMap(([, level, events = '']) =>
      [...events.replaceAll(/\([^)]*\)/g, '').matchAll(/`([a-z:]+)`/g)].map(([, name]) => `${name} ${level}`),
    )
    expect(documented.sort()).toEqual(telemetryNames.map((name) => `${name} ${worstOf(name)}`).sort())
  })

  it('needs a logger with a method for each level', () => {
    const make = (logger: unknown) => () => new Triarch({ store: memory(), logger: logger as Logger })
    expect(make({ debug() {}, info() {}, warn() {} })).toThrow(/logger must have the methods debug, info, warn, error/)
    expect(make(null)).toThrow(/logger must have/)
    expect(make(console)).not.toThrow()
  })
})
