import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { type Mutation, mutations } from './mutations.ts'

type Hooks = Required<Parameters<typeof registerHooks>[0]>
type Simulation = typeof import('../campaign.ts')
/** The source of a module of the engine, as it is to be loaded; `place`: its path in packages/triarch/src. */
type Edit = (place: string, source: string) => string

const root = new URL('../../../packages/triarch/src/', import.meta.url).href
const campaign = new URL('../campaign.ts', import.meta.url).href
const QUERY = '?mutant='
/** The name of the copy that nothing is changed in: every mutant has of it what its change cannot reach. */
const ORIGINAL = ''

/** What is changed in a copy: by file, the modules that it has for itself. */
const copies = new Map<string, { edit: Edit; own: ReadonlySet<string> }>()

/**
 * The simulation over an engine with this bug: a copy of the modules that the change reaches, some of them changed while they
 * are loaded. The sources stay as they are.
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
  if (copies.size === 0) {
    registerHooks({ resolve, load })
    copies.set(ORIGINAL, { edit: (_, source) => source, own: new Set() })
    await copy(ORIGINAL)
  }
  if (!copies.has(name)) copies.set(name, { edit, own: reached(edit) })
  return copy(name)
}

async function copy(name: string): Promise<Simulation> {
  return (await import(`${campaign}${QUERY}${encodeURIComponent(name)}`)) as Simulation
}

/** The modules that the edit changes, all that import one of these, and so on: what is loaded once more, and compiled and optimized anew. */
function reached(edit: Edit): ReadonlySet<string> {
  const found = new Set([campaign])
  const reach = (file: string): void => {
    if (found.has(file)) return
    found.add(file)
    for (const importer of importers.get(file) ?? []) reach(importer)
  }
  for (const [file, { source }] of modules)
    if (file.startsWith(root) && edit(file.slice(root.length), source) !== source) reach(file)
  return found
}

/** What a module imports, by who imports it under which name: every copy asks the same. */
const imported = new Map<string, string>()
/** The other way: who imports a file. */
const importers = new Map<string, Set<string>>()

/** What a module of a copy imports is the copy's own, or the original's. */
const resolve: Hooks['resolve'] = (specifier, context, next) => {
  const [parent = '', name] = context.parentURL?.split(QUERY) ?? []
  if (name === undefined) return next(specifier, context)
  const key = `${parent} ${specifier}`
  const url = imported.get(key) ?? next(specifier, context).url
  imported.set(key, url)
  if (!url.startsWith('file:') || url.includes('/node_modules/') || url.includes(QUERY))
    return { url, shortCircuit: true }
  importers.set(url, (importers.get(url) ?? new Set()).add(parent))
  const whose = copies.get(decodeURIComponent(name))?.own.has(url) ? name : ORIGINAL
  return { url: `${url}${QUERY}${whose}`, shortCircuit: true }
}

/** The modules of the original, by file: as they stand there, and rid of their types. */
const modules = new Map<string, { source: string; code: string }>()

const load: Hooks['load'] = (url, context, next) => {
  const [file = '', name] = url.split(QUERY)
  const copy = name === undefined ? undefined : copies.get(decodeURIComponent(name))
  if (!copy || !file.endsWith('.ts')) return next(url, context)
  const original = modules.get(file) ?? typed(String(next(url, context).source))
  modules.set(file, original)
  const changed = file.startsWith(root) ? copy.edit(file.slice(root.length), original.source) : original.source
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
