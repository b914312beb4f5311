import type { DatabaseSync } from 'node:sqlite'
import type { StepContext, TaskContext, Workflow } from '../../packages/triarch/src/index.ts'
import { TransientError, workflow } from '../../packages/triarch/src/index.ts'
import { type Done, ids, type Order, perform, quick, takeBack } from '../../packages/triarch/test/crash/workload.ts'
import type { Blueprint, Part } from './blueprint.ts'
import { cargoOf, numbersOf } from './cargo.ts'
import { strictSchemas } from './censor.ts'
import { write } from './desk.ts'
import type { Version } from './plan.ts'
import type { Services } from './services.ts'
import type { Diary, Visit } from './yard.ts'

export type ShopAction = Exclude<keyof Services, 'dock' | 'build' | 'weigh' | 'quote'>

/** One operation of a program. A program is data: the task's input, drawn at random or written by hand. */
export type Op =
  | {
      do: 'step'
      action: ShopAction
      order?: Order
      rescue?: 'skip' | 'pause' | 'fail' | 'compensate'
      stepWithin?: number
    }
  | { do: 'local'; order?: Order }
  /** In a transaction of the store; its first attempts fail, after what they wrote. */
  | { do: 'transaction'; slow?: number; fails?: number; undo?: boolean }
  /** A step whose input or output its schema refuses; its failure is caught. */
  | { do: 'weigh'; unfit?: 'input' | 'output' }
  /** A step whose own rule for retries throws; its failure is caught. */
  | { do: 'picky' }
  /** Something whose answer may be given again; its failure is caught. */
  | { do: 'ask'; key: number }
  | { do: 'undo' }
  | { do: 'sleep'; ms: number }
  /** Waits for what is not the task's: for ever in the process that does so first. */
  | { do: 'outside' }
  | { do: 'event'; timeout?: number }
  /** A child; of these parts, when they are given, else of these operations. */
  | { do: 'call' | 'start'; ops: Op[]; parts?: Part[]; undo?: boolean; onCancel?: 'cancel' | 'detach' | 'wait' }
  /** Waits for somebody outside, by a token. */
  | { do: 'dock'; order?: Visit }
  | { do: 'all' | 'settled' | 'race'; of: Op[][] }
  /** One of them, by the task's own chance. */
  | { do: 'either'; of: Op[][] }
  | { do: 'try'; ops: Op[] }
  /** What only one task at a time may do. */
  | { do: 'lock'; name: string; ops: Op[] }
  /** As many children, of which any may fail. */
  | { do: 'batch'; items: number; ops: Op[] }
  | { do: 'progress' }
  /** A line of the code into the task's log, and one of a step beside it. */
  | { do: 'say' }
  /** Two steps that give the same large value, of which there are several: the second what it knows from the first. */
  | { do: 'carry'; n: number }
  | { do: 'patched' }
  | { do: 'fail' }
  /** Begins anew with what comes after it, having forgotten what was before. */
  | { do: 'anew' }

export interface Program {
  ops: Op[]
  heard: number[]
}

/** The workflow that runs programs. Its output is what it heard. */
export function program(
  book: Diary | null,
  shop: Services,
  plans: Workflow<Blueprint, unknown>,
  { version = '1', strict = false }: { version?: Version; strict?: boolean } = {},
): Workflow<Program, unknown> {
  const run = async ({ ops, heard }: Program, task: TaskContext) => {
    // What a version decides, another does not.
    if (version === '2') await task.sleep(1)
    return new Player(task, { book, shop, self, plans, heard }).play(ops)
  }
  const self: Workflow<Program, unknown> = strict
    ? workflow('program', { version, ...strictSchemas(), run })
    : workflow('program', { version, run })
  return self
}

interface Stage {
  book: Diary | null
  shop: Services
  self: Workflow<Program, unknown>
  plans: Workflow<Blueprint, unknown>
  heard: number[]
}

/** Nobody waits for a lock for ever: parents hold what their children want (ms). */
const LOCK_PATIENCE = 700

class Player {
  #said = 0
  #outside = 0
  readonly #task: TaskContext
  readonly #stage: Stage

  constructor(task: TaskContext, stage: Stage) {
    this.#task = task
    this.#stage = { ...stage, heard: [...stage.heard] }
  }

  async play(ops: readonly Op[]): Promise<number[]> {
    await this.#sequence(ops, [])
    return this.#stage.heard
  }

  /** Gives the ids of the steps that were done, for those after them to depend on. */
  async #sequence(ops: readonly Op[], before: readonly number[]): Promise<number[]> {
    let done = [...before]
    for (const [index, op] of ops.entries()) {
      if (op.do === 'anew') await this.#task.continueAsNew({ ops: ops.slice(index + 1), heard: this.#stage.heard })
      done = [...done, ...(await this.#one(op, done))]
    }
    return done
  }

  async #one(op: Op, after: number[]): Promise<number[]> {
    const task = this.#task
    const { book, shop, self, plans, heard } = this.#stage
    switch (op.do) {
      case 'step': {
        const { rescue, stepWithin } = op
        const policy = { ...(rescue && { rescue }), ...(stepWithin !== undefined && { stepWithin }) }
        return ids((await task.run(shop[op.action], { ...op.order, after }, policy)) as Done | null)
      }
      case 'dock':
        return ids(await task.run(shop.dock, { ...op.order, after }))
      case 'local': {
        const order = { ...op.order, after }
        const undo = (_: unknown, step: StepContext) => takeBack(book, 'local', order, step)
        const done = await task.run('local', (step) => perform(book, 'local', order, step), {
          undo,
          retry: quick,
          undoRetry: quick,
          attemptWithin: 400,
        })
        return ids(done as Done)
      }
      case 'transaction': {
        const { slow = 0, fails = 0 } = op
        const effect = (kind: 'run' | 'undo') => async (tx: DatabaseSync, step: StepContext) => {
          write(tx, step, kind)
          if (slow > 0) await book?.pause(slow, step.signal)
          if (step.attempt <= fails) throw new TransientError('not now', { retryAfter: 10 })
          return { step: step.stepId }
        }
        const undo = op.undo && { undo: (tx: DatabaseSync, _: unknown, step: StepContext) => effect('undo')(tx, step) }
        const times = { retry: quick, undoRetry: quick, attemptWithin: 400 }
        return ids(await task.transaction<Done, DatabaseSync>('transaction', effect('run'), { ...times, ...undo }))
      }
      case 'weigh': {
        const order = { after, ...(op.unfit && { unfit: op.unfit }) }
        return task.run(shop.weigh, order, { rescue: 'fail' }).then(ids, () => [])
      }
      case 'ask':
        if (shop.quote) await task.run(shop.quote, { key: op.key }, { rescue: 'fail' }).catch(() => null)
        return []
      case 'picky': {
        const fail = () => {
          throw new Error('injected: a callback throws')
        }
        await task.run('picky', fail, { retry: { ...quick, retryIf: fail }, rescue: 'fail' }).catch(() => null)
        return []
      }
      case 'undo':
        task.undo((step) => takeBack(book, 'adhoc', {}, step))
        return []
      case 'sleep':
        await task.sleep(op.ms)
        return []
      case 'outside':
        await book?.outside(`${task.id} ${this.#outside++}`)
        return []
      case 'event': {
        const options = op.timeout === undefined ? {} : { timeout: op.timeout }
        heard.push(await task.waitForSignal<number>('news', options))
        return []
      }
      case 'call':
      case 'start': {
        const { parts, undo, onCancel } = op
        const options = { ...(undo !== undefined && { undo }), ...(onCancel && { onCancel }) }
        if (parts) await task[op.do](plans, { parts }, options)
        else await task[op.do](self, { ops: op.ops, heard: [] }, options)
        return []
      }
      case 'all':
        return (await Promise.all(op.of.map((ops) => this.#sequence(ops, after)))).flat()
      case 'settled':
        await Promise.allSettled(op.of.map((ops) => this.#sequence(ops, after)))
        return []
      case 'race':
        await Promise.race(op.of.map((ops) => this.#sequence(ops, after)))
        return []
      case 'either':
        return this.#sequence(op.of[Math.floor(task.random() * op.of.length)] ?? [], after)
      case 'try':
        try {
          return await this.#sequence(op.ops, after)
        } catch {
          return []
        }
      case 'lock': {
        const lock = await task.lock(op.name, { timeout: LOCK_PATIENCE })
        const done = await this.#sequence(op.ops, after)
        lock.release()
        return done
      }
      case 'batch': {
        const items = Array.from({ length: op.items }, () => ({ ops: op.ops, heard: [] }))
        await task.batch('batch', { workflow: self, items, concurrency: 2, tolerate: 'any', retry: quick })
        return []
      }
      case 'progress':
        task.progress({ done: after.length })
        return []
      case 'say': {
        task.log.info(`${this.#said++}`)
        const said = (step: StepContext) => {
          step.log.info('said')
          return perform(book, 'local', { after }, step)
        }
        return ids((await task.run('say', said, { retry: quick, attemptWithin: 400 })) as Done)
      }
      case 'carry': {
        const give = async (step: StepContext, cargo: string[]) => {
          await perform(book, 'local', {}, step)
          return cargo
        }
        const times = { retry: quick, attemptWithin: 400 }
        const packed = await task.run(`pack ${op.n}`, (step) => give(step, cargoOf(op.n)), times)
        await task.sleep(10)
        await task.run(`carry ${op.n}`, (step) => give(step, packed), times)
        // The output of the task is large, too.
        if (heard.length < 400) heard.push(...numbersOf(op.n))
        return []
      }
      case 'patched':
        return task.patched('new') ? this.#one({ do: 'sleep', ms: 5 }, after) : []
      case 'fail':
        throw new Error('the program fails')
      case 'anew':
        return []
    }
  }
}
