import type {
  ImportOptions,
  ListChange,
  ListOptions,
  NoSignals,
  OperationOrder,
  OperationReport,
  ResumeOptions,
  SignalSchemas,
  TaskCount,
  TaskExport,
  TaskPage,
  WatchOptions,
} from 'triarch'
import { type TaskCollection, type TaskHandle, TriarchError, type WorkflowRef } from 'triarch/contract'
import { listChange } from './change.ts'
import type { Exchange } from './exchange.ts'
import { checkSignal, known } from './options.ts'
import { object } from './shape.ts'
import { followed } from './stream.ts'
import { importTask } from './submission.ts'
import { RemoteTask } from './task.ts'
import { resumeStep } from './token.ts'
import { encode, instant, query, segment } from './value.ts'
import { taskPage } from './view.ts'

/** The tasks of a server. */
export class RemoteTasks implements TaskCollection {
  readonly #exchange: Exchange

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  get<O = unknown, E extends SignalSchemas = NoSignals>(
    id: string,
    workflow?: WorkflowRef<unknown, O, E>,
  ): TaskHandle<O, E> {
    if (workflow !== undefined) checkRef(workflow)
    return new RemoteTask<O, E>(this.#exchange, id)
  }

  async list(options: ListOptions = {}): Promise<TaskPage> {
    const { status, outcome, submittedAfter, submittedBefore, quarantined, ...more } = options
    const { filter, workflow, version, parent, tags, cursor, limit, order, ...rest } = more
    known('tasks.list', rest)
    const parameters = {
      ...{ filter, status, outcome, workflow, version, parent, quarantined, tags, cursor, limit, order },
      ...(submittedAfter !== undefined && { submittedAfter: instant('tasks.list: submittedAfter', submittedAfter) }),
      ...(submittedBefore !== undefined && {
        submittedBefore: instant('tasks.list: submittedBefore', submittedBefore),
      }),
    }
    return this.#exchange.get(`/tasks${query(parameters)}`, taskPage)
  }

  async count(options: { filter?: string; most?: number } = {}): Promise<TaskCount> {
    const { filter, most, ...rest } = options
    known('tasks.count', rest)
    return this.#exchange.get(`/stats/tasks${query({ filter, most })}`, (body) => {
      const { count, truncated } = object(body)
      if (typeof count !== 'number') throw new TypeError('no count')
      return { count, ...(truncated === true && { truncated }) }
    })
  }

  async *watch(options: WatchOptions = {}): AsyncIterableIterator<ListChange> {
    const { filter, limit, quiet, signal, ...rest } = options
    known('tasks.watch', rest)
    checkSignal('tasks.watch', signal)
    const path = `/tasks/events${query({ filter, limit })}`
    for await (const told of followed(this.#exchange, path, { quiet, signal })) {
      const change = listChange(told)
      if (change) yield change
    }
  }

  async resume(token: string, value: unknown = null, options: ResumeOptions = {}): Promise<void> {
    await resumeStep(this.#exchange, token, value, options)
  }

  async import(exported: TaskExport, options: ImportOptions = {}): Promise<TaskHandle> {
    const { id, isNew } = await importTask(this.#exchange, exported, options)
    return new RemoteTask(this.#exchange, id, { isNew })
  }

  async operate(order: OperationOrder, options: { id?: string } = {}): Promise<TaskHandle<OperationReport>> {
    const { filter, action, options: taken, confirm, reason, actor, ...unknown } = order
    known('tasks.operate', unknown)
    const { id = this.#exchange.settings.environment.id(), ...rest } = options
    known('tasks.operate', rest)
    segment('the id of an operation', id)
    const isNew = await this.#exchange.ask({
      ...{ method: 'POST', path: '/operations' },
      body: encode('the order', { filter, action, options: taken, confirm, reason, actor, id }),
      read(answer, _, uncertain) {
        const { created } = object(answer)
        return created === true || (uncertain ? undefined : false)
      },
    })
    return new RemoteTask<OperationReport>(this.#exchange, id, { isNew })
  }
}

/** Throws UNKNOWN_WORKFLOW. */
export function checkRef(workflow: WorkflowRef<unknown, unknown, SignalSchemas>): void {
  if (typeof workflow?.name === 'string') return
  throw new TriarchError('UNKNOWN_WORKFLOW', 'this is not a workflow: give what workflow() or workflowRef() returned')
}
