import { registerHooks } from 'node:module'
import { type Mutation, mutations } from './mutations.ts'

type Hooks = Required<Parameters<typeof registerHooks>[0]>
type Simulation = typeof import('../campaign.ts')

const root = new URL('../../packages/triarch/src/', import.meta.url).href
const QUERY = '?mutant='
let hooked = false

/**
 * The simulation over an engine with this bug: a copy of all modules of its own, some of them changed while they are
 * loaded. The sources stay as they are.
 */
export async function mutant(name: string): Promise<Simulation> {
  if (!hooked) registerHooks({ resolve, load })
  hooked = true
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
  const mutation = name === undefined ? undefined : mutations[decodeURIComponent(name)]
  const place = file.startsWith(root) ? file.slice(root.length) : ''
  const edits = mutation?.change[place]
  return edits ? { ...loaded, source: edited(place, String(loaded.source), edits) } : loaded
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
