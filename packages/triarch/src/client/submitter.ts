import { isDeepStrictEqual } from 'node:util'
import { type QueueBound, toQueueBound } from '../definition/bound.ts'
import type { Workflow } from '../definition/definition.ts'
import { around, inOrder } from '../definition/middleware.ts'
import type { SignalSchemas } from '../definition/signal.ts'
import type { WorkflowRef } from '../definition/workflow-ref.ts'
import type { Environment } from '../environment/environment.ts'
import { type Owner, owned } from '../environment/owner.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import type { HookOrder, Submission } from '../kernel/task/order.ts'
import type { Node } from '../node/node.ts'
import type { Settings } from '../node/options.ts'
import type { Registry } from '../scheduler/registry.ts'
import { closureOf } from '../setting/followed.ts'
import type { Values } from '../setting/values.ts'
import { type Draft, written } from '../store/origin.ts'
import type { StateStore, SubmitOutcome } from '../store/port.ts'
import { legibleOutline } from '../store/record.ts'
import type { Telemetry } from '../telemetry/outlet.ts'
import { submission } from '../telemetry/submission.ts'
import { checkMetadata } from '../value/metadata.ts'
import { checkTaskId } from '../value/name.ts'
import { checkOptions } from '../value/options.ts'
import { entryOf } from './act.ts'
import type { AdmissionQueue } from './admission-queue.ts'
import { refusedBy } from './closure.ts'
import type { Connection } from './connection.ts'
import { StoredTask } from './handle.ts'
import { eachEntry, type SubmitResult, type TaskEntry } from './many.ts'
import { OPERATION, type OperationOrder } from './operation.ts'
import type { StallDetector } from './stall-detector.ts'
import { newTask, type SubmitOptions, startsLater, submissionRefused } from './submission.ts'
import { EnclosedSubmissions, Submissions } from './submissions.ts'
import type { TaskHandle } from './task.ts'

interface Submitted {
  id: string
  isNew: boolean
  /** If the task is new: `Connection.missed` before it existed. */
  missed: number | undefined
}

interface SubmitterDeps {
  connection: Connection
  registry: Registry
  values: Values
  limits: Settings['limits']
  hooks: HookOrder[]
  owner: Owner
  admission: AdmissionQueue
  stalls: StallDetector
  telemetry: Telemetry
  /** The node of this process; null: it plays no role. */
  node: () => Node | null
  /** Throws unless tasks can be submitted now. */
  admit: (transaction: unknown) => Promise<void>
  /** Whether what this process knows of the time and of settings is old. */
  isOld: () => boolean
  /** Reads the store's clock and changed settings. */
  refresh: () => Promise<void>
}

/** Submits tasks: admits them, makes them by their workflow and writes them, or launches them in the scheduler of this process. */
export class Submitter {
  readonly #means: SubmitterDeps
  readonly #store: StateStore
  readonly #environment: Environment
  readonly #submissions: Submissions

  constructor(means: SubmitterDeps) {
    const { store, environment } = means.connection
    this.#means = means
    this.#store = store
    this.#environment = environment
    this.#submissions = new Submissions(store, environment)
  }

  async submit<I, O, E extends SignalSchemas>(
    given: WorkflowRef<I, O, E>,
    input: NoInfer<I>,
    options: SubmitOptions,
  ): Promise<TaskHandle<O, E>> {
    await this.#means.admit(options.transaction)
    return this.#accept(given, input, options)
  }

  async submitMany<I, O, E extends SignalSchemas>(
    given: WorkflowRef<I, O, E>,
    entries: Iterable<TaskEntry<NoInfer<I>>>,
    options: Pick<SubmitOptions, 'transaction'>,
  ): Promise<SubmitResult<O, E>[]> {
    checkOptions('submitMany', options, ['transaction'])
    const { transaction } = options
    await this.#means.admit(transaction)
    this.#means.registry.resolve(given as WorkflowRef)
    const within =
      transaction === undefined ? undefined : new EnclosedSubmissions(this.#store, this.#environment, transaction)
    return eachEntry(entries, (input, { ...entry }: SubmitOptions) => {
      if (entry.transaction !== undefined)
        throw new TriarchError('INVALID_OPTION', 'submitMany: the transaction is that of the whole list')
      return this.#accept(given, input, transaction === undefined ? entry : { ...entry, transaction }, within)
    })
  }

  async #accept<I, O, E extends SignalSchemas>(
    given: WorkflowRef<I, O, E>,
    input: I,
    options: SubmitOptions,
    within?: EnclosedSubmissions,
  ): Promise<TaskHandle<O, E>> {
    if (this.#means.isOld()) await this.#means.refresh()
    const workflow = this.#means.registry.resolve(given as WorkflowRef)
    const { name } = workflow
    const closure = name === OPERATION ? null : closureOf(this.#means.values, this.#means.registry.workflows, name)
    if (closure) throw await refusedBy(this.#store, closure, name)
    const { maxQueued } = workflow.definition
    if (maxQueued === undefined || startsLater(options)) return this.#take<O, E>(workflow, input, options, within)
    const leave = await this.#enter(workflow, options)
    try {
      return await this.#take<O, E>(workflow, input, options, within)
    } finally {
      leave()
    }
  }

  /** Waits for room in the queue of its workflow. Throws QUEUE_FULL. */
  async #enter({ name, definition }: Workflow, { id, transaction }: SubmitOptions): Promise<() => void> {
    const bound = toQueueBound(`workflow "${name}"`, definition, 'reject') as QueueBound
    const waits = bound.waits && transaction === undefined
    try {
      return await this.#means.admission.enter(name, { ...bound, waits }, id)
    } catch (error) {
      // A task that is in the queue already takes no more room, however often it is submitted.
      const known = isTriarchError(error, 'QUEUE_FULL') && id !== undefined && (await this.#store.task(checkTaskId(id)))
      if (!known) throw error
      return () => undefined
    }
  }

  async #take<O, E extends SignalSchemas>(
    workflow: Workflow,
    input: unknown,
    options: SubmitOptions,
    within?: EnclosedSubmissions,
  ): Promise<TaskHandle<O, E>> {
    const { middleware = [] } = workflow.definition
    let made: Submitted | undefined
    if (this.#means.registry.middleware.length + middleware.length === 0) {
      const made = await this.#submit(workflow, input, options, within)
      return new StoredTask<O, E>(this.#means.connection, made.id, workflow, made)
    }
    const chain = inOrder(this.#means.registry.middleware, middleware)
    const { tags = {}, transaction } = options
    const metadata = checkMetadata('submit', options.metadata ?? {})
    const call = { workflow: workflow.name, input, id: options.id, tags, metadata, transaction }
    await owned(this.#means.owner, () =>
      around(chain, 'submit', call, async (changed) => {
        const some = options.metadata !== undefined || Object.keys(metadata).length > 0
        made = await this.#submit(workflow, changed, some ? { ...options, metadata } : options, within)
        return made.id
      }),
    )
    if (made === undefined)
      throw new TriarchError('MIDDLEWARE_MISUSE', 'a middleware kept the task from being submitted')
    return new StoredTask<O, E>(this.#means.connection, made.id, workflow, made)
  }

  async #submit(
    workflow: Workflow,
    input: unknown,
    options: SubmitOptions,
    within?: EnclosedSubmissions,
    again = true,
  ): Promise<Submitted> {
    const { limits, hooks, registry: planning } = this.#means
    const id = () => this.#environment.id()
    const { share, missed } = this.#means.connection
    const given = { now: this.#environment.now(), limits, id, planning, hooks, share }
    const make = () => newTask(workflow, input, options, given)
    const { input: schema, plan, exclusive } = workflow.definition
    const draft = await (schema || plan || exclusive || share ? owned(this.#means.owner, make) : make())
    const { task } = draft
    const { created, heldBy, first } = await this.#create(draft, options.transaction, within)
    if (heldBy !== undefined) throw submissionRefused(task, heldBy)
    // A task that waits for an operator is no sign of a missing scheduler.
    const isDue = task.status !== 'scheduled' && options.frozen !== true
    if (created && isDue) this.#means.stalls.wonder(task.id, `${workflow.name}@${workflow.version}`)
    const known = { ...options, again, ...(first !== undefined && { first }) }
    if (created || (await this.#same(draft, known)))
      return { id: task.id, isNew: created, missed: created ? missed : undefined }
    return this.#submit(workflow, input, options, within, false)
  }

  async #create(draft: Draft, transaction: unknown, within?: EnclosedSubmissions): Promise<Omit<SubmitOutcome, 'key'>> {
    if (transaction !== undefined) {
      const task = written(draft)
      const [outcome] = within ? [await within.submit(task)] : await this.#store.submitIn(transaction, [task])
      return this.#told(draft, outcome as SubmitOutcome)
    }
    // An operation acts on many tasks, so its order is recorded in the audit.
    if (draft.task.workflow === OPERATION) return this.#order(draft)
    const launched = this.#means.node()?.scheduler?.launch(draft)
    if (launched != null) return { created: (await launched).ok }
    const outcome = await this.#submissions.submit(written(draft))
    const { startAt } = draft.task
    if (startAt === null || draft.task.gates) this.#means.node()?.wake()
    if (startAt !== null) this.#means.node()?.scheduler?.alarm.set(startAt)
    return this.#told(draft, outcome)
  }

  async #order(draft: Draft): Promise<SubmitOutcome> {
    const { input } = draft.first[0] as Submission
    const { action, filter, confirm, reason, actor } = input as unknown as OperationOrder
    const subject = `operation:${draft.task.id}`
    const act = { action: 'operation.start', subject, reason, actor, details: { action, filter, confirm } }
    const [outcome] = await this.#store.submit([written(draft)], { audit: entryOf(this.#environment, act) })
    this.#means.node()?.wake()
    return this.#told(draft, outcome as SubmitOutcome)
  }

  /**
   * Emits the telemetry of a submission. The scheduler emits that of tasks it launches itself, which may be over before the submission is
   * answered.
   */
  #told<O extends { created: boolean }>({ task }: Draft, outcome: O): O {
    const outlet = this.#means.telemetry['task:submitted']
    if (outcome.created && outlet.open) outlet.tell(submission(task, this.#means.node()?.id ?? null))
    return outcome
  }

  /** Throws unless the existing task is the intended one. Returns false if it no longer exists, so it may be created again. */
  async #same(
    { task, first: [asked] }: Draft,
    { ifExists = 'match', first, again }: { ifExists?: SubmitOptions['ifExists']; first?: string; again: boolean },
  ): Promise<boolean> {
    if (ifExists === 'return') return true
    const [record] = first === undefined ? await this.#store.records(task.id, 0, 1) : [{ seq: 1, at: 0, events: first }]
    // Retention deleted the task meanwhile, or a failover lost it.
    if (again && !record && (await this.#store.task(task.id)) === null) return false
    if (record?.undecoded) throw record.undecoded
    const recorded = record?.seq === 1 ? (legibleOutline(record.events)?.[0] as Submission | undefined) : undefined
    if (!recorded)
      throw new TriarchError('TASK_EXISTS', `task "${task.id}" exists, and what it was submitted with cannot be read`)
    const { workflow, input } = asked as Submission
    const same = recorded.workflow === workflow && isDeepStrictEqual(recorded.input, input)
    if (same && ifExists === 'match') return true
    throw new TriarchError('TASK_EXISTS', `task "${task.id}" exists${same ? '' : ' with another workflow or input'}`)
  }
}
