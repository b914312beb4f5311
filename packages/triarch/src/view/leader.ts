import type { LeaderRow, NamePage, StateStore } from '../store/port.ts'
import { paged } from './inventory.ts'

/**
 * A name that processes lead by.
 * @example
 * const { leaders } = await triarch.leaders()
 * for (const { name, node, token } of leaders) console.log(name, node ?? 'nobody', token)
 */
export interface LeaderInfo {
  /** The name. */
  name: string
  /** The id of the node that leads; undefined: nobody does at the moment. */
  node: string | undefined
  /** Of whoever leads, or led last. */
  token: number
}

/**
 * A page of them.
 * @example const { leaders, next }: LeaderPage = await triarch.leaders()
 */
export interface LeaderPage {
  /** By name. */
  leaders: LeaderInfo[]
  /** The next page: `leaders({ cursor: next })`; undefined: there is none. */
  next?: string
}

export async function leaderPage(store: StateStore, asked: NamePage): Promise<LeaderPage> {
  const { page, ...rest } = paged(await store.leaders({ ...asked, limit: asked.limit + 1 }), asked)
  return { leaders: page.map(leaderInfo), ...rest }
}

function leaderInfo({ name, node, token }: LeaderRow): LeaderInfo {
  return { name, node: node ?? undefined, token }
}
