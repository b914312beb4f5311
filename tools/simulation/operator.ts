import {
  isTriarchError,
  type TaskHandle,
  type TaskInfo,
  type Triarch,
  TriarchError,
} from '../../packages/triarch/src/index.ts'
import { rebuild } from '../../packages/triarch/src/kernel/rebuild.ts'
import { eventsOfExport } from '../../packages/triarch/src/view/export.ts'
import { Acts } from './act.ts'
import type { Move, Plan } from './plan.ts'

/** How often a held step is tried again before the operator decides otherwise. */
const PATIENCE = 2

/** The human beside the engine: decides what it may not, and meddles as planned. */
export class Operator {
  /** What it is about to ask for. */
  #busy = 0
  /** Pauses that no fault explains. */
  readonly astonished: string[] = []
  /** What it asked. */
  readonly acts: Acts = new Acts()
  readonly #triarch: Triarch
  /** Tasks may be quarantined because no node has room for them. */
  readonly #bounded: boolean
  readonly #tried = new Map<string, number>()

  constructor(triarch: Triarch, { nodes }: Plan) {
    this.#triarch = triarch
    this.#bounded = nodes.some(({ limits }) => limits !== undefined)
  }

  get idle(): boolean {
    return this.#busy === 0
  }

  /** Decides about everything that is paused. */
  decide(): Promise<void> {
    return tolerant(async () => {
      const { tasks } = await this.#triarch.tasks.list({ status: 'paused', limit: 1_000 })
      for (const info of tasks) await this.#tolerant(() => this.#unpause(this.#triarch.tasks.get(info.id), info))
      if (!this.#bounded) return
      // What was asked of a task that had stopped before it was quarantined is given up, and with it whoever waits for that.
      const apart = await this.#triarch.tasks.list({ quarantined: true, status: 'stopped', limit: 1_000 })
      for (const { id } of apart.tasks) await this.move(id, 'force')
    })
  }

  move(id: string, kind: Move['kind']): Promise<void> {
    const task = this.#triarch.tasks.get(id)
    return this.#tolerant(async () => {
      const step = kind === 'skip' ? await failed(task) : 0
      return this.acts.through(id, kind === 'force' ? 'cancel' : kind, () => {
        switch (kind) {
          case 'cancel':
            return task.cancel()
          case 'force':
            return task.cancel({ force: true })
          case 'pause':
            return task.pause()
          case 'resume':
            return task.resume()
          case 'retry':
            return task.retry()
          case 'skip':
            return task.skip({ step, output: { step: 0 } })
          case 'compensate':
            return task.compensate()
        }
      })
    })
  }

  async #tolerant(work: () => Promise<void>): Promise<void> {
    this.#busy++
    try {
      await tolerant(work)
    } finally {
      this.#busy--
    }
  }

  async #unpause(task: TaskHandle, { pause }: TaskInfo): Promise<void> {
    const end = () => this.acts.through(task.id, 'cancel', () => task.cancel({ force: true }))
    const resume = () => this.acts.through(task.id, 'resume', () => task.resume())
    // Those that decide by their histories cannot: nobody can.
    if (pause?.cause === 'quarantine') return end()
    if (pause && ['mismatch', 'error'].includes(pause.cause)) {
      this.astonished.push(`${task.id}: ${JSON.stringify(pause)}`)
      return end()
    }
    const all = await held(task)
    const step = all.find(({ policy }) => policy.semantics === 'at-most-once') ?? all[0]
    if (!step) return resume()
    const key = `${task.id} ${step.id} ${step.operation}`
    const tried = (this.#tried.get(key) ?? 0) + 1
    this.#tried.set(key, tried)
    // Whoever tries an at-most-once step again answers for it; this operator never does.
    if (step.policy.semantics === 'at-most-once' || step.held === 'unknown-outcome' || tried > PATIENCE)
      return this.acts.through(task.id, 'skip', () => task.skip({ step: step.id, output: { step: 0 } }))
    return resume()
  }
}

async function stateOf(task: TaskHandle) {
  const exported = await task.export()
  // Of a task in quarantine an entry says what is wrong with it: the rest alone is no history.
  for (const { error, missing } of exported.records) {
    if (error ?? missing) throw new TriarchError('HISTORY_CORRUPT', error?.message ?? 'records are missing')
  }
  return rebuild(task.id, eventsOfExport(exported)).state
}

async function held(task: TaskHandle) {
  return [...(await stateOf(task)).steps.values()].filter((step) => step.held !== null)
}

/** The step that an operator would skip. */
async function failed(task: TaskHandle): Promise<number> {
  const { steps, lastFailed } = await stateOf(task)
  return [...steps.values()].find((step) => step.held !== null)?.id ?? lastFailed ?? 1
}

const expected = [
  'TASK_STOPPED',
  'TASK_NOT_PAUSED',
  'ILLEGAL_MOVE',
  'UNKNOWN_TASK',
  'STORE_BUSY',
  'STORE_UNAVAILABLE',
  'STORE_UNANSWERED',
  // Nodes that meet such a history say so, and are heard.
  'HISTORY_CORRUPT',
] as const

/** The task may have moved on meanwhile, and the store may fail: then it is looked at again later. */
async function tolerant(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!expected.some((code) => isTriarchError(error, code))) throw error
  }
}
