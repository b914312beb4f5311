/** Values that one attribute may have; whatever comes beyond is `other`. */
export const MOST_VALUES = 200

/** Keeps attributes from having more values than a backend can bear: a name that somebody makes of an id would. */
export class Bound {
  readonly #known = new Map<string, Set<string>>()

  of(attribute: string, value: string): string {
    const values = this.#known.get(attribute) ?? new Set()
    this.#known.set(attribute, values)
    if (values.has(value)) return value
    if (values.size >= MOST_VALUES) return 'other'
    values.add(value)
    return value
  }
}
