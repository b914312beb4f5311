// The codes that docs may name: of errors, and of alerts.
import type { Surface } from './surface.ts'
import { textOf } from './text.ts'

/** What looks like a code. */
export const CODE = /\b[A-Z]+(?:_[A-Z]+)+\b/g

export interface Codes {
  errors: Set<string>
  alerts: Set<string>
}

/** As the declarations have them: the keys of the catalogue, and the members of AlertCode. */
export function codesOf(surfaces: readonly Surface[]): Codes {
  const declared = (name: string, pattern: RegExp) => {
    const found = surfaces.flatMap(({ exports }) => exports).find((exported) => exported.name === name)
    if (!found) throw new Error(`no entry exports ${name}`)
    const { module, nodes } = found.declaration
    const text = nodes.map((node) => textOf(module, node)).join('\n')
    return new Set([...text.matchAll(pattern)].map(([, code = '']) => code))
  }
  return { errors: declared('errorCatalogue', /readonly (\w+):/g), alerts: declared('AlertCode', /'(\w+)'/g) }
}
