import { isTriarchError, type TaskHandle, type Triarch } from '../../packages/triarch/src/index.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { Plan, SchedulePlan, TaskPlan } from './plan.ts'
import type { Op } from './program.ts'
import type { Definitions } from './services.ts'

/** Between two tries, and between two events (ms). */
const AGAIN = 60
/** How long schedules go on once the faults are over, and until retention has had its time (ms). */
const QUIET = 10_000
const RETAINED = 27_000
/** Events sent to one task; then it has heard enough. */
const MOST_EVENTS = 60

const passing = ['STORE_UNAVAILABLE', 'STORE_BUSY', 'STORE_UNANSWERED', 'INBOX_FULL', 'QUEUE_FULL'] as const

/** Submits the plan's tasks and sends them events, as a careful application does: it tries again until it is sure. */
export class Client {
  /** Ids whose submission was acknowledged. */
  readonly accepted: string[] = []
  /** Numbers of events whose sending was acknowledged, by task. */
  readonly sent: Record<string, number[]> = {}
  /** Tasks not yet submitted, schedules not yet over. */
  owed: number
  /** Tasks that were sent all their events, and may want more. */
  readonly #heard = new Set<string>()
  readonly #numbers = new Map<string, number>()
  readonly #sending = new Set<string>()
  readonly #machine: Machine
  readonly #triarch: Triarch
  readonly #known: Definitions
  readonly #tokens = new Set<string>()
  #repeats = false
  readonly #poisoned: boolean
  /** Tokens that were told again before the answer came: it may be about what the store has forgotten, or a retry has reset. */
  readonly #toldAgain = new Set<string>()
  /** All that were ever told. */
  readonly #told = new Set<string>()

  constructor(machine: Machine, triarch: Triarch, known: Definitions, plan: Plan) {
    const { tasks, schedules = [], chaos, settings } = plan
    this.#machine = machine
    this.#poisoned = plan.poison !== undefined
    this.#triarch = triarch
    this.#known = known
    this.owed = tasks.length + schedules.length
    for (const task of tasks) machine.timer(task.at, () => void this.#submit(task))
    if (settings.retention) {
      this.owed++
      machine.timer(chaos + RETAINED, () => void this.#again(tasks))
    }
    for (const plan of schedules) machine.timer(plan.at, () => void this.#schedule(plan, chaos + QUIET - plan.at))
  }

  async #submit({ id, ops, parts, twice, version, again: _again, at: _, ...times }: TaskPlan): Promise<void> {
    const { newer, plans } = this.#known
    const programs = version === '2' ? newer : this.#known.programs
    for (let left = twice ? 2 : 1; left > 0; left--) {
      const submitted = this.#surely(() =>
        parts
          ? this.#triarch.submit(plans, { parts }, { id, ...times })
          : this.#triarch.submit(programs, { ops, heard: [] }, { id, ...times }),
      )
      await submitted.catch((error: unknown) => {
        // It is there already, and poison has spoilt what it would be compared with.
        const spoilt = this.#poisoned && isTriarchError(error, 'TASK_EXISTS')
        if (!spoilt && !isTriarchError(error, 'HISTORY_CORRUPT')) throw error
      })
    }
    this.accepted.push(id)
    this.owed--
    if (!parts && hears(ops)) await this.#send(this.#triarch.tasks.get(id))
  }

  /** The ids that are free are those of new tasks. */
  async #again(tasks: readonly TaskPlan[]): Promise<void> {
    for (const { id, again } of tasks) {
      if (!again) continue
      const input = { ops: [{ do: 'progress' as const }], heard: [] }
      await this.#surely(() => this.#triarch.submit(this.#known.programs, input, { id })).catch((error: unknown) => {
        if (!isTriarchError(error, 'TASK_EXISTS')) throw error
      })
    }
    this.owed--
  }

  /** Registers it, and pauses it when its time is over. */
  async #schedule({ name, at: _, from, ops, limit, within, ...when }: SchedulePlan, span: number): Promise<void> {
    const input = { ops, heard: [] }
    const catchUp = { limit, ...(within !== undefined && { within }) }
    const options = { ...when, from: new Date(from), workflow: this.#known.programs, input, catchUp }
    await this.#surely(() => this.#triarch.schedules.get(name).register(options))
    await this.#pause(span)
    await this.#surely(async () => this.#triarch.schedules.get(name).pause())
    this.owed--
  }

  /** Whether everything that was asked for has been answered. */
  get idle(): boolean {
    return this.owed === 0 && this.#sending.size === 0 && this.#tokens.size === 0
  }

  /** One more event for each task that may wait for one. */
  feed(): void {
    for (const id of this.#heard) void this.#emit(this.#triarch.tasks.get(id))
  }

  /** Gives the step that waits its event, some time later. */
  resume(token: string): void {
    this.#told.add(token)
    if (this.#tokens.has(token)) return void this.#toldAgain.add(token)
    this.#tokens.add(token)
    this.#machine.timer(this.#machine.random() * 4 * AGAIN, () => {
      void this.#surely(() => this.#triarch.tasks.resume(token, null, { optional: true }))
        .catch((error: unknown) => {
          // Retention was quicker, or poison has spoilt what is to be read.
          if (!isTriarchError(error, 'UNKNOWN_TASK') && !isTriarchError(error, 'HISTORY_CORRUPT')) throw error
        })
        .finally(() => {
          this.#tokens.delete(token)
          if (this.#toldAgain.delete(token)) this.resume(token)
        })
    })
  }

  /** What was said may be forgotten: it is said again. */
  repeat(): void {
    this.#repeats = true
    for (const token of this.#told) this.resume(token)
  }

  async #send(task: TaskHandle): Promise<void> {
    this.sent[task.id] = []
    for (let count = 1; count <= MOST_EVENTS; count++) {
      if (!(await this.#emit(task))) break
      await this.#pause(AGAIN * Math.min(count, 20))
    }
    this.#heard.add(task.id)
  }

  /** One at a time for each task: what is sent at once may arrive in any order. */
  async #emit(task: TaskHandle): Promise<boolean> {
    if (this.#sending.has(task.id)) return true
    this.#sending.add(task.id)
    const going = await this.#emitNext(task)
    this.#sending.delete(task.id)
    return going
  }

  async #emitNext(task: TaskHandle): Promise<boolean> {
    const number = (this.#numbers.get(task.id) ?? 0) + 1
    this.#numbers.set(task.id, number)
    try {
      await task.signal('news', number)
      this.sent[task.id]?.push(number)
    } catch (error) {
      // What was not acknowledged may have arrived: it is not sent again.
      if (isTriarchError(error, 'TASK_STOPPED') || isTriarchError(error, 'UNKNOWN_TASK')) return false
    }
    return true
  }

  async #surely(work: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await work()
        return
      } catch (error) {
        // It was there when it was submitted, and forgotten when it was compared.
        const passes = this.#repeats && isTriarchError(error, 'TASK_EXISTS')
        if (!passes && !passing.some((code) => isTriarchError(error, code))) throw error
      }
      await this.#pause(AGAIN)
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#machine.timer(ms, () => resolve()))
  }
}

function hears(ops: readonly Op[]): boolean {
  return ops.some((op) => {
    if (op.do === 'event') return true
    if (op.do === 'try' || op.do === 'lock') return hears(op.ops)
    return 'of' in op && op.of.some(hears)
  })
}
