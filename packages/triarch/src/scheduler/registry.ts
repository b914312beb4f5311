import type { Agent } from '../definition/agent.ts'
import { type Retention, toRetention } from '../definition/retention.ts'
import type { Workflow } from '../definition/workflow.ts'
import { TriarchError } from '../error/error.ts'

/** What this process knows by name. Several versions of a workflow may stand side by side. */
export class Registry {
  readonly #workflows = new Map<string, Workflow>()
  readonly agents: Map<string, Agent> = new Map()

  /** Throws DUPLICATE_DEFINITION. */
  constructor(workflows: readonly Workflow[], agents: readonly Agent[]) {
    for (const workflow of workflows) {
      const key = versionKey(workflow.name, workflow.version)
      if (this.#workflows.has(key)) {
        throw new TriarchError(
          'DUPLICATE_DEFINITION',
          `workflow "${workflow.name}" version "${workflow.version}" is registered twice`,
        )
      }
      this.#workflows.set(key, workflow)
    }
    for (const agent of agents) {
      if (this.agents.has(agent.name))
        throw new TriarchError('DUPLICATE_DEFINITION', `agent "${agent.name}" is registered twice`)
      this.agents.set(agent.name, agent)
    }
  }

  workflow(name: string, version: string): Workflow | undefined {
    return this.#workflows.get(versionKey(name, version))
  }

  get retentions(): { name: string; retention: Retention }[] {
    return [...this.#workflows.values()].map(({ name, definition }) => {
      return { name, retention: toRetention(definition.retention, `workflow "${name}": retention`) }
    })
  }

  get runnable(): { workflow: string; version: string }[] {
    return [...this.#workflows.values()].map(({ name, version }) => ({ workflow: name, version }))
  }
}

function versionKey(name: string, version: string): string {
  return `${name}@${version}`
}
