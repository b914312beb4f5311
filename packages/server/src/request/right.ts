import { type Right, rights } from 'triarch'
import { Refused } from '../problem/problem.ts'

/** Who asks, as far as rights go; null: nobody was asked who they are. */
type Holder = { readonly rights?: readonly Right[] } | null

/** What somebody has; who says nothing of rights has all. */
export function rightsOf(holder: Holder): readonly Right[] {
  const had = holder?.rights
  if (had === undefined) return rights
  // Whatever it is, it grants nothing: a mistake must not open the door.
  if (!Array.isArray(had)) throw new Error('authenticate: the rights of a principal must be an array')
  return rights.filter((right) => had.includes(right))
}

/** Throws FORBIDDEN. */
export function checkRight(holder: Holder, right: Right): void {
  if (rightsOf(holder).includes(right)) return
  throw new Refused('FORBIDDEN', `this needs the right "${right}"`, [], { right })
}
