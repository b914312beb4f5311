import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { ProberOptions, ServerOptions } from '@triarch/server'
import type { Agent, Setting, Triarch, TriarchOptions, Workflow } from 'triarch'
import { exitCodes, Failure, usage } from './exit.ts'

/** Said otherwise: by the command line, and by what else the module exports. */
const others = ['store', 'workflows', 'agents', 'settings', 'operations', 'notices', 'environment'] as const
/** What has to do with what tasks are, whoever asks for them. */
const shared = ['codec', 'middleware', 'hooks'] as const

/** What a module of the user's exports that an engine is made of. */
export type App = Required<Pick<TriarchOptions, 'workflows' | 'agents'>> &
  Pick<TriarchOptions, 'settings' | (typeof shared)[number]> & {
    /** How a node runs it. */
    node?: Omit<TriarchOptions, (typeof others)[number] | (typeof shared)[number]>
    duties?: Duties
  }

/** What a node does besides, that is started with the module. */
export interface Duties {
  /** What its server is made with. */
  server?: ServerOptions
  /** The endpoints that it watches. */
  prober?: Omit<ProberOptions, 'triarch'>
  /** Is called once it has started. */
  started?: (triarch: Triarch) => unknown
}

export const nothing: App = { workflows: [], agents: [] }

/**
 * All workflows, agents and settings that the module exports, by themselves or in lists; what it exports as `codec`, `middleware` and
 * `hooks`; as `options` all else that `new Triarch()` takes; and as `server`, `prober` and `started` what a node does besides. It should do
 * nothing but define them.
 */
export async function appOf(path: string): Promise<App> {
  const module = await imported(path)
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
    duties: dutiesOf(path, module),
  }
}

function dutiesOf(path: string, { server, prober, started }: Record<string, unknown>): Duties {
  for (const [name, value] of Object.entries({ server, prober }))
    if (value !== undefined && !isObject(value)) throw usage(`${path}: ${name} must be an object`)
  if (started !== undefined && typeof started !== 'function') throw usage(`${path}: started must be a function`)
  if (isObject(prober) && 'triarch' in prober) throw usage(`${path}: prober may not have triarch`)
  return {
    ...(server !== undefined && { server: server as ServerOptions }),
    ...(prober !== undefined && { prober: prober as NonNullable<Duties['prober']> }),
    ...(started !== undefined && { started: started as NonNullable<Duties['started']> }),
  }
}

/** What is wrong in the module is said with where. */
async function imported(path: string): Promise<Record<string, unknown>> {
  const { href } = pathToFileURL(resolve(path))
  if (!existsSync(resolve(path))) throw usage(`there is no file "${path}"`)
  try {
    return await import(href)
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: 'thrown', message: String(error) }
    const place = placeIn(error) ?? (name === 'SyntaxError' ? checked(path) : null) ?? path
    throw new Failure(exitCodes.failed, 'MODULE_FAILED', `${place}: ${name}: ${message}`)
  }
}

/** The first line of code of the user's that a stack names; of an error of syntax, the line itself. */
export function placeIn(error: unknown): string | null {
  const { stack = '' } = error instanceof Error ? error : {}
  const lines = stack.matchAll(/(?:^|\(|at |async )(file:\/\/\S+?|\/\S+?):(\d+)(?::(\d+))?\)?$/gm)
  for (const [, file = '', line = '', column] of lines) {
    const path = file.startsWith('file:') ? fileURLToPath(file) : file
    if (!path.includes('/node_modules/')) return [relative(process.cwd(), path), line, column].filter(Boolean).join(':')
  }
  return null
}

/** Node says where the syntax is wrong only to whoever runs the file. */
function checked(path: string): string | null {
  const { stderr } = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8' })
  const [, file, line] = /^(\S+?):(\d+)$/m.exec(stderr) ?? []
  return file === undefined ? null : `${relative(process.cwd(), file.replace(/^file:\/\//, ''))}:${line}`
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
