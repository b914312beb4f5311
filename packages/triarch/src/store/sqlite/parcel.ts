import type { Transition } from '../port.ts'

type OptionalFields = Omit<Transition, 'key' | 'id' | 'node' | 'epoch' | 'seq' | 'at' | 'lastAt' | 'events'>

/** A transition as an array: the fields that every transition has, in order, and the others only if they have a value. */
type Parcel = [
  key: Transition['key'],
  id: string,
  node: string,
  epoch: number,
  seq: number,
  at: number,
  lastAt: Transition['lastAt'],
  events: string | null,
  rest: Partial<OptionalFields> | null,
]

/**
 * Packs a batch for the thread. Copying plain arrays of texts and numbers between threads costs a third of JSON, in
 * which names and empty lists are most of the text, and the texts are escaped once more.
 */
export function packed(batch: readonly Transition[]): Parcel[] {
  return batch.map((transition) => {
    const { key, id, node, epoch, seq, at, lastAt, events } = transition
    return [key, id, node, epoch, seq, at, lastAt, events, restOf(transition)]
  })
}

export function unpacked(parcels: readonly Parcel[]): Transition[] {
  return parcels.map(([key, id, node, epoch, seq, at, lastAt, events, rest]) => {
    const said = { key, id, node, epoch, seq, at, lastAt, events, ...NOTHING }
    return rest ? { ...said, ...rest } : said
  })
}

const NOTHING: OptionalFields = {
  ...{ create: null, snapshot: null, release: null, rebase: false },
  ...{ consumed: [], work: [], withdraw: [], forget: [], children: [], posts: [] },
}

function restOf(transition: Transition): Partial<OptionalFields> | null {
  const { create, snapshot, consumed, work, withdraw, forget, children, posts, gates, release, rebase } = transition
  const rest: Partial<OptionalFields> = {}
  if (create) rest.create = create
  if (snapshot) rest.snapshot = snapshot
  if (consumed.length > 0) rest.consumed = consumed
  if (work.length > 0) rest.work = work
  if (withdraw.length > 0) rest.withdraw = withdraw
  if (forget.length > 0) rest.forget = forget
  if (children.length > 0) rest.children = children
  if (posts.length > 0) rest.posts = posts
  if (gates) rest.gates = gates
  if (release) rest.release = release
  if (rebase) rest.rebase = rebase
  for (const _ in rest) return rest
  return null
}
