import { isTriarchError, type Triarch } from '../../src/index.ts'
import type { Random } from './random.ts'
import type { Order, Plan, workload } from './workload.ts'

/** Whether to try again what failed in this way. */
export type Patience = (error: unknown) => Promise<boolean>

/** Submits tasks and sends signals; knows what was accepted. */
export class Client {
  readonly accepted: string[] = []
  readonly emitted: Record<string, number[]> = {}
  /** Signals that were sent again because nobody knew whether they had arrived: they may be heard twice. */
  readonly doubtful: Record<string, number[]> = {}
  readonly #owed = new Map<string, number>()
  readonly #triarch: Triarch
  readonly #workflows: ReturnType<typeof workload>['workflows']
  readonly #random: Random
  readonly #patient: Patience
  #count = 0

  constructor(
    triarch: Triarch,
    workflows: ReturnType<typeof workload>['workflows'],
    random: Random,
    patient: Patience = async () => false,
  ) {
    this.#triarch = triarch
    this.#workflows = workflows
    this.#random = random
    this.#patient = patient
  }

  get waiting(): boolean {
    return this.#owed.size > 0
  }

  async submit(): Promise<void> {
    const name = this.#random.pick(Object.keys(this.#workflows)) ?? ''
    const workflow = this.#workflows[name]
    if (!workflow) return
    const [id, plan] = [`${name}-${++this.#count}`, this.#plan()]
    const startAt = this.#random.chance(0.2) ? this.#random.below(400) : undefined
    const options = { id, ...(startAt !== undefined && { startAt }) }
    const submit = () => this.#triarch.submit(workflow, plan, options)
    await this.#persist(submit)
    this.accepted.push(id)
    if (this.#random.chance(0.2)) await this.#persist(submit)
    if (name === 'listener') this.#owed.set(id, plan.size)
  }

  async emit(): Promise<void> {
    const id = this.#random.pick([...this.#owed.keys()])
    if (id === undefined) return
    const sent = this.emitted[id] ?? []
    this.emitted[id] = sent
    const doubt = () => {
      this.doubtful[id] = [...(this.doubtful[id] ?? []), sent.length]
    }
    try {
      await this.#persist(() => this.#triarch.tasks.get(id).signal('news', sent.length), doubt)
      sent.push(sent.length)
    } catch (error) {
      // Whether a task that is not there may be missing is for the rules to say: a failover loses it before anybody knows.
      if (!isTriarchError(error, 'TASK_STOPPED') && !isTriarchError(error, 'UNKNOWN_TASK')) throw error
      this.#owed.delete(id)
    }
    if (sent.length >= (this.#owed.get(id) ?? 0)) this.#owed.delete(id)
  }

  /** The store has lost some of what it had acknowledged to these: each is sent as much again. */
  resend(touched: readonly string[], gone: readonly string[]): void {
    for (const id of touched) {
      const sent = this.emitted[id]?.length ?? 0
      if (sent > 0) this.#owed.set(id, sent + (this.#owed.get(id) ?? sent))
    }
    for (const id of gone) this.#owed.delete(id)
  }

  /** Tries until it is done; tells of each try of which nobody knows what became of it. */
  async #persist(work: () => Promise<unknown>, failed: () => void = () => undefined): Promise<void> {
    for (;;) {
      try {
        await work()
        return
      } catch (error) {
        failed()
        if (!(await this.#patient(error))) throw error
      }
    }
  }

  #plan(): Plan {
    const size = 2 + this.#random.below(4)
    return { size, orders: Array.from({ length: size }, () => this.#order()), fails: this.#random.chance(0.3) }
  }

  #order(): Order {
    const order: Order = {}
    if (this.#random.chance(0.2)) order.fails = 1 + this.#random.below(2)
    if (this.#random.chance(0.4)) order.slow = this.#random.below(150)
    if (this.#random.chance(0.15)) order.hangs = 1
    if (this.#random.chance(0.07)) order.permanent = true
    if (this.#random.chance(0.3)) order.undoFails = 1 + this.#random.below(2)
    return order
  }
}
