import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Agent, Setting, TriarchOptions, Workflow } from 'triarch'
import { usage } from './exit.ts'

/** What a module of the user's exports that an engine is made of. */
export type App = Required<Pick<TriarchOptions, 'workflows' | 'agents'>> &
  Pick<TriarchOptions, 'codec' | 'middleware' | 'hooks' | 'settings'>

export const nothing: App = { workflows: [], agents: [] }

/**
 * All workflows, agents and settings that the module exports, by themselves or in lists; and what it exports as `codec`, `middleware` and
 * `hooks`. It should do nothing but define them.
 */
export async function appOf(path: string): Promise<App> {
  const module = (await import(pathToFileURL(resolve(path)).href)) as Record<string, unknown>
  const values = [...new Set(Object.values(module).flat())]
  const workflows = values.filter(isWorkflow)
  const agents = values.filter(isAgent)
  const settings = values.filter(isSetting)
  if (workflows.length + agents.length + settings.length === 0)
    throw usage(`${path} exports no workflow, no agent and no setting`)
  const { codec, middleware, hooks } = module
  return {
    workflows,
    agents,
    settings,
    ...({ ...given({ codec }), ...given({ middleware }), ...given({ hooks }) } as object),
  }
}

function given(option: Record<string, unknown>): object {
  return Object.values(option).every((value) => value !== undefined) ? option : {}
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isWorkflow(value: unknown): value is Workflow {
  if (!isObject(value) || typeof value.name !== 'string' || typeof value.version !== 'string') return false
  const { definition } = value
  return isObject(definition) && ('run' in definition || 'plan' in definition)
}

function isSetting(value: unknown): value is Setting {
  return isObject(value) && typeof value.name === 'string' && typeof value.as === 'function' && 'origins' in value
}

function isAgent(value: unknown): value is Agent {
  return isObject(value) && typeof value.name === 'string' && value.actions instanceof Map
}
