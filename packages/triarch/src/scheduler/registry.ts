import type { Action, Agent, Workflow } from '../definition/definition.ts'
import type { FairnessWeights } from '../definition/fairness.ts'
import { inOrder, type Middleware } from '../definition/middleware.ts'
import { type Retention, toRetention } from '../definition/retention.ts'
import { checkWorkflow } from '../definition/workflow.ts'
import type { WorkflowRef } from '../definition/workflow-ref.ts'
import { TriarchError } from '../error/error.ts'
import type { PausedThere } from '../store/port.ts'

/** The workflows and agents that this process knows by name. Several versions of a workflow may be registered. */
export class Registry {
  /** Workflows by name and version. */
  readonly #versions = new Map<string, Map<string, Workflow>>()
  readonly #workflows: Workflow[] = []
  #declared = false
  readonly agents: Map<string, Agent> = new Map()
  /** Workflows whose tasks are not to be taken up now, and why. */
  paused: ReadonlyMap<string, PausedThere> = new Map()
  /** The fairness weights that operators set for agents' queues, by the agent's name. */
  weights: ReadonlyMap<string, FairnessWeights> = new Map()

  /** Middleware around everything in this process, the outermost first. */
  readonly middleware: readonly Middleware[]
  /** Middleware chains by workflow (undefined: one that is not known here) and action. */
  readonly #chains = new Map<Workflow | undefined, Map<string, readonly Middleware[]>>()
  readonly #subscribers = new Map<string, Action[]>()

  /** Throws DUPLICATE_DEFINITION, INVALID_OPTION. */
  constructor(workflows: readonly Workflow[], agents: readonly Agent[], middleware: readonly Middleware[] = []) {
    this.middleware = inOrder(middleware)
    for (const workflow of workflows) {
      const { name, version } = workflow
      const versions = this.#versions.get(name) ?? new Map<string, Workflow>()
      if (versions.has(version))
        throw new TriarchError('DUPLICATE_DEFINITION', `workflow "${name}" version "${version}" is registered twice`)
      this.#versions.set(name, versions.set(version, workflow))
      this.#workflows.push(workflow)
      this.#declared ||= workflow.definition.signals !== undefined
    }
    for (const agent of agents) {
      if (this.agents.has(agent.name))
        throw new TriarchError('DUPLICATE_DEFINITION', `agent "${agent.name}" is registered twice`)
      this.agents.set(agent.name, agent)
      for (const action of agent.actions.values()) this.#subscribe(action)
    }
  }

  /** The actions that are planned whenever the action of this key is, in the order of the agents. */
  readonly subscribers: (key: string) => readonly Action[] = (key) => this.#subscribers.get(key) ?? []

  /** The action of this key, `agent.action`. The key of a finalizer gives the action whose run it finalizes. */
  readonly action = (key: string): Action | undefined => {
    const [agent = '', name = ''] = key.replace(/:finalize$/, '').split('.')
    return this.agents.get(agent)?.actions.get(name)
  }

  /** The middleware around attempts of this action in tasks of this workflow, if the workflow is known here. */
  chain(action: string, workflow: string, version: string): readonly Middleware[] {
    const known = this.workflow(workflow, version)
    let chains = this.#chains.get(known)
    if (!chains) {
      chains = new Map()
      this.#chains.set(known, chains)
    }
    let chain = chains.get(action)
    if (!chain) {
      chain = inOrder(this.middleware, known?.definition.middleware, this.action(action)?.definition.middleware)
      chains.set(action, chain)
    }
    return chain
  }

  #subscribe(action: Action): void {
    for (const { key } of action.definition.subscribe ?? []) {
      this.#subscribers.set(key, [...(this.#subscribers.get(key) ?? []), action])
    }
  }

  workflow(name: string, version: string): Workflow | undefined {
    return this.#versions.get(name)?.get(version)
  }

  /** The definition itself, or the workflow registered under this name: the last one if no version is given. Throws UNKNOWN_WORKFLOW. */
  resolve(given: WorkflowRef): Workflow {
    if (typeof given?.name !== 'string' || 'definition' in given) {
      checkWorkflow(given)
      return given as Workflow
    }
    const { name, version } = given
    const found = this.#workflows.findLast(
      (one) => one.name === name && (version === undefined || one.version === version),
    )
    if (found) return found
    const said = version === undefined ? name : `${name}@${version}`
    throw new TriarchError('UNKNOWN_WORKFLOW', `no workflow "${said.slice(0, 200)}" is registered here`)
  }

  /** Whether any workflow declares its signals. */
  get declaresSignals(): boolean {
    return this.#declared
  }

  get retentions(): { name: string; retention: Retention }[] {
    return this.#workflows.map(({ name, definition }) => {
      return { name, retention: toRetention(definition.retention, `workflow "${name}": retention`) }
    })
  }

  get workflows(): Workflow[] {
    return [...this.#workflows]
  }

  /** The runnable workflows that are not paused. */
  get ready(): { workflow: string; version: string }[] {
    const { runnable } = this
    return this.paused.size === 0 ? runnable : runnable.filter(({ workflow }) => !this.paused.has(workflow))
  }

  get runnable(): { workflow: string; version: string }[] {
    return this.#workflows.map(({ name, version }) => ({ workflow: name, version }))
  }
}
