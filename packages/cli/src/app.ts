import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Agent, Setting, TriarchOptions, Workflow } from 'triarch'
import { usage } from './exit.ts'

/** Said otherwise: by the command line, and by what else the module exports. */
const others = ['store', 'workflows', 'agents', 'settings', 'operations', 'notices', 'environment'] as const
/** What has to do with what tasks are, whoever asks for them. */
const shared = ['codec', 'middleware', 'hooks'] as const

/** What a module of the user's exports that an engine is made of. */
export type App = Required<Pick<TriarchOptions, 'workflows' | 'agents'>> &
  Pick<TriarchOptions, 'settings' | (typeof shared)[number]> & {
    /** How a node runs it. */
    node?: Omit<TriarchOptions, (typeof others)[number] | (typeof shared)[number]>
  }

export const nothing: App = { workflows: [], agents: [] }

/**
 * All workflows, agents and settings that the module exports, by themselves or in lists; what it exports as `codec`, `middleware` and
 * `hooks`; and as `options` all else that `new Triarch()` takes. It should do nothing but define them.
 */
export async function appOf(path: string): Promise<App> {
  const module = (await import(pathToFileURL(resolve(path)).href)) as Record<string, unknown>
  const values = [...new Set(Object.values(module).flat())]
  const workflows = values.filter(isWorkflow)
  const agents = values.filter(isAgent)
  const settings = values.filter(isSetting)
  if (workflows.length + agents.length + settings.length === 0)
    throw usage(`${path} exports no workflow, no agent and no setting`)
  const { options = {} } = module
  if (!isObject(options)) throw usage(`${path}: options must be an object`)
  const known = others.find((name) => name in options)
  if (known) throw usage(`${path}: options may not have ${known}`)
  const all = Object.entries({ ...options, ...picked(module) })
  const parts = Object.groupBy(all, ([name]) => (shared.some((one) => one === name) ? 'shared' : 'node'))
  return {
    workflows,
    agents,
    settings,
    ...Object.fromEntries(parts.shared ?? []),
    node: Object.fromEntries(parts.node ?? []),
  }
}

function picked(module: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(shared.flatMap((name) => (module[name] === undefined ? [] : [[name, module[name]]])))
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
