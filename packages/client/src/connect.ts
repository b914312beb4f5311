import type { SignalSchemas, SubmitResult, TaskEntry } from 'triarch'
import type { TaskHandle, TaskOptions, TriarchClient, WorkflowRef } from 'triarch/contract'
import { alertsOf } from './alert.ts'
import { auditOf } from './audit.ts'
import { breakersOf } from './breaker.ts'
import { cachesOf } from './caches.ts'
import type { Environment } from './environment.ts'
import { Exchange } from './exchange.ts'
import { healthOf } from './health.ts'
import { inventoryOf } from './inventory.ts'
import { keysOf } from './key.ts'
import { type ConnectOptions, settingsOf } from './options.ts'
import { rateLimitsOf } from './rate-limit.ts'
import { schedulesOf } from './schedule.ts'
import { settingCollection } from './setting.ts'
import { statisticsOf } from './statistics.ts'
import { entryOf, isNewTask, submitAll } from './submission.ts'
import { RemoteTask } from './task.ts'
import { checkRef, RemoteTasks } from './tasks.ts'
import { encode } from './value.ts'

/**
 * Tasks of a server, by the calls of `Triarch`. It opens no connection before the first call, and holds nothing that must be closed.
 * `url`: where the server is mounted, without `/api/v1`. Throws INVALID_OPTION, UNKNOWN_OPTION, INVALID_DURATION.
 * @example
 * const tasks = connect('https://tasks.example.com', { token: 's3cret' })
 * const task = await tasks.submit(fulfil, { id: 'o-1', amount: 10 }, { id: 'o-1' })
 * const { receipt } = await task.result({ timeout: '30s' })
 */
export function connect(url: string, options: ConnectOptions = {}): TriarchClient {
  return connected(url, options)
}

/** The same, in surroundings of a test's own. */
export function connected(url: string, options: ConnectOptions, environment?: Environment): TriarchClient {
  return new HttpClient(new Exchange(settingsOf(url, options, environment)))
}

class HttpClient implements TriarchClient {
  readonly tasks: TriarchClient['tasks']
  readonly schedules: TriarchClient['schedules']
  readonly breakers: TriarchClient['breakers']
  readonly rateLimits: TriarchClient['rateLimits']
  readonly settings: TriarchClient['settings']
  readonly alerts: TriarchClient['alerts']
  readonly keys: TriarchClient['keys']
  readonly workflows: TriarchClient['workflows']
  readonly agents: TriarchClient['agents']
  readonly locks: TriarchClient['locks']
  readonly leaders: TriarchClient['leaders']
  readonly nodes: TriarchClient['nodes']
  readonly audit: TriarchClient['audit']
  readonly statistics: TriarchClient['statistics']
  readonly caches: TriarchClient['caches']
  readonly health: TriarchClient['health']
  readonly #exchange: Exchange

  constructor(exchange: Exchange) {
    this.#exchange = exchange
    this.tasks = new RemoteTasks(exchange)
    this.schedules = schedulesOf(exchange)
    this.breakers = breakersOf(exchange)
    this.rateLimits = rateLimitsOf(exchange)
    this.settings = settingCollection(exchange)
    this.alerts = alertsOf(exchange)
    this.keys = keysOf(exchange)
    const inventory = inventoryOf(exchange)
    this.workflows = inventory.workflows
    this.agents = inventory.agents
    this.locks = inventory.locks
    this.leaders = inventory.leaders
    this.nodes = inventory.nodes
    this.audit = auditOf(exchange)
    this.statistics = statisticsOf(exchange)
    this.caches = cachesOf(exchange)
    this.health = healthOf(exchange)
  }

  async submit<I, O, E extends SignalSchemas>(
    workflow: WorkflowRef<I, O, E>,
    input: NoInfer<I>,
    options: TaskOptions = {},
  ): Promise<TaskHandle<O, E>> {
    checkRef(workflow)
    const entry = entryOf(input, options, () => this.#exchange.settings.environment.id())
    const body = { workflow: workflow.name, version: workflow.version, ...entry }
    const isNew = await this.#exchange.ask({
      ...{ method: 'POST', path: '/tasks', body: encode(`input of ${workflow.name}`, body) },
      // By its id it is the same task, unless none of this id may be there.
      once: entry.ifExists === 'reject',
      read: isNewTask,
    })
    return new RemoteTask<O, E>(this.#exchange, entry.id, { isNew })
  }

  async submitMany<I, O, E extends SignalSchemas>(
    workflow: WorkflowRef<I, O, E>,
    entries: Iterable<TaskEntry<NoInfer<I>>>,
  ): Promise<SubmitResult<O, E>[]> {
    checkRef(workflow)
    const results = await submitAll(this.#exchange, workflow, entries)
    return results.map((result) => {
      if (result.status === 'rejected') return result
      const { id, isNew } = result.value
      return { status: 'fulfilled', value: new RemoteTask<O, E>(this.#exchange, id, { isNew }) }
    })
  }
}
