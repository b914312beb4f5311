import { registerHooks } from 'node:module'
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

/** What a module of the copy imports belongs to the copy. */
const resolve: Hooks['resolve'] = (specifier, context, next) => {
  const resolved = next(specifier, context)
  const [, name] = context.parentURL?.split(QUERY) ?? []
  const own = resolved.url.startsWith('file:') && !resolved.url.includes('/node_modules/')
  if (name === undefined || !own || resolved.url.includes(QUERY)) return resolved
  return { ...resolved, url: `${resolved.url}${QUERY}${name}` }
}

const load: Hooks['load'] = (url, context, next) => {
  const loaded = next(url, context)
  const [file = '', name] = url.split(QUERY)
  const edit = name === undefined ? undefined : edits.get(decodeURIComponent(name))
  if (!edit || !file.startsWith(root)) return loaded
  const source = String(loaded.source)
  const changed = edit(file.slice(root.length), source)
  return changed === source ? loaded : { ...loaded, source: changed }
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
