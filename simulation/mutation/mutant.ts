import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { type Mutation, mutations } from './mutations.ts'

type Hooks = Required<Parameters<typeof registerHooks>[0]>
type Simulation = typeof import('../campaign.ts')
/** The source of a module of the engine, as it is to be loaded; `place`: its path in packages/triarch/src. */
type Edit = (place: string, source: string) => string

const root = new URL('../../packages/triarch/src/', import.meta.url).href
const QUERY = '?mutant='
const edits = new Map<string, Edit>()

/**
 * The simulation over an engine with this bug: a copy of all modules of its own, some of them changed while they are
 * loaded. The sources stay as they are.
 */
export function mutant(name: string): Promise<Simulation> {
  const change = mutations[name]?.change ?? {}
  return mutated(name, (place, source) => {
    const edit = change[place]
    return edit ? edited(place, source, edit) : source
  })
}

/** The same for any change; of each name there is one copy. */
export async function mutated(name: string, edit: Edit): Promise<Simulation> {
  if (edits.size === 0) registerHooks({ resolve, load })
  edits.set(name, edit)
  return (await import(`../campaign.ts${QUERY}${encodeURIComponent(name)}`)) as Simulation
}

/** What a module of a copy imports, by who imports it under which name: every copy asks the same. */
const imported = new Map<string, string>()

/** What a module of the copy imports belongs to the copy. */
const resolve: Hooks['resolve'] = (specifier, context, next) => {
  const [parent, name] = context.parentURL?.split(QUERY) ?? []
  if (name === undefined) return next(specifier, context)
  const key = `${parent} ${specifier}`
  const url = imported.get(key) ?? next(specifier, context).url
  imported.set(key, url)
  const own = url.startsWith('file:') && !url.includes('/node_modules/') && !url.includes(QUERY)
  return { url: own ? `${url}${QUERY}${name}` : url, shortCircuit: true }
}

/** Modules as most mutants load them, by file: read, and rid of their types, once for all. */
const unchanged = new Map<string, { source: string; code: string }>()

const load: Hooks['load'] = (url, context, next) => {
  const [file = '', name] = url.split(QUERY)
  const edit = name === undefined ? undefined : edits.get(decodeURIComponent(name))
  if (!edit || !file.endsWith('.ts')) return next(url, context)
  const original = unchanged.get(file) ?? typed(String(next(url, context).source))
  unchanged.set(file, original)
  const changed = file.startsWith(root) ? edit(file.slice(root.length), original.source) : original.source
  const source = changed === original.source ? original.code : stripTypeScriptTypes(changed)
  return { format: 'module', source, shortCircuit: true }
}

function typed(source: string): { source: string; code: string } {
  return { source, code: stripTypeScriptTypes(source) }
}

/** Throws when the text is not what the mutation was written for. */
function edited(file: string, source: string, edits: Mutation['change'][string]): string {
  let text = source
  for (const [from, to] of edits) {
    if (text.split(from).length !== 2) throw new Error(`${file} has not exactly one "${from}"`)
    text = text.replace(from, () => to)
  }
  return text
}
