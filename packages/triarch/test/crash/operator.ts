import { isTriarchError, type TaskHandle, type TaskInfo, type Triarch } from '../../src/index.ts'
import { rebuild } from '../../src/kernel/rebuild.ts'
import { eventsOfExport } from '../../src/view/export.ts'
import type { Random } from './random.ts'

/** The human beside the engine: decides what it may not, and meddles. */
export class Operator {
  /** Pauses that no fault explains. */
  readonly astonished: string[] = []
  readonly #triarch: Triarch
  readonly #random: Random
  readonly #mine: (task: TaskInfo) => boolean
  readonly #poisoned: (id: string) => boolean
  readonly #retried = new Set<string>()

  /** Meddles only with tasks that are `mine`; ends those that are `poisoned` and have been quarantined. */
  constructor(
    triarch: Triarch,
    random: Random,
    mine: (task: TaskInfo) => boolean = () => true,
    poisoned: (id: string) => boolean = () => false,
  ) {
    this.#triarch = triarch
    this.#random = random
    this.#mine = mine
    this.#poisoned = poisoned
  }

  /** Decides about everything that is paused. */
  async decide(): Promise<void> {
    for (const { id } of (await this.#triarch.tasks.list({ status: 'paused', limit: 1_000 })).tasks) {
      await tolerant(this.#unpause(this.#triarch.tasks.get(id)))
    }
  }

  /** Cancels one that runs, pauses one, tries one again that failed, or takes back one that succeeded. */
  async meddle(): Promise<void> {
    const { tasks } = await this.#triarch.tasks.list({ limit: 1_000 })
    const own = tasks.filter((task) => !/[.~]/.test(task.id) && this.#mine(task))
    const running = this.#random.pick(own.filter(({ status }) => status !== 'stopped'))
    // Not listeners: begun again, they would wait for news that were sent before.
    const failed = this.#random.pick(
      own.filter(({ id, outcome }) => fails(outcome) && !id.startsWith('listener') && !this.#retried.has(id)),
    )
    const fine = this.#random.pick(own.filter(({ outcome }) => outcome === 'success'))
    const dice = this.#random.below(10)
    const handle = (id: string) => this.#triarch.tasks.get(id)
    if (dice < 4 && running) await tolerant(handle(running.id).cancel())
    else if (dice === 4 && running) await tolerant(handle(running.id).cancel({ force: true }))
    else if (dice < 7 && running) await tolerant(handle(running.id).pause())
    else if (dice < 9 && failed) {
      this.#retried.add(failed.id)
      await tolerant(handle(failed.id).retry())
    } else if (fine) await tolerant(handle(fine.id).compensate())
  }

  async #unpause(task: TaskHandle): Promise<void> {
    if (this.#poisoned(task.id)) return task.cancel({ force: true })
    const { pause } = await task.status()
    const events = eventsOfExport(await task.export())
    const held = [...rebuild(task.id, events).state.steps.values()].filter((step) => step.held !== null)
    if (pause && ['mismatch', 'error', 'limit'].includes(pause.cause)) {
      this.astonished.push(`${task.id}: ${JSON.stringify(pause)}`)
      return task.cancel({ force: true })
    }
    // Whoever tries an at-most-once step again answers for it; this operator never does.
    const doubtful = held.find((step) => step.held === 'unknown-outcome')
    if (doubtful) return task.skip({ step: doubtful.id, output: { step: 0 } })
    return task.resume()
  }
}

function fails(outcome: string): boolean {
  return outcome === 'error' || outcome === 'compensated' || outcome === 'cancelled'
}

/** The task may have moved on meanwhile. */
async function tolerant(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    const expected = [
      'UNKNOWN_TASK',
      'TASK_STOPPED',
      'TASK_NOT_PAUSED',
      'ILLEGAL_MOVE',
      'STORE_BUSY',
      'STORE_UNANSWERED',
    ] as const
    if (!expected.some((code) => isTriarchError(error, code))) throw error
  }
}
