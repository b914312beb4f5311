import type { LeaderRow, NamePage, StateStore } from '../store/port.ts'
import { paged } from './inventory.ts'

/**
 * A leadership, by its name.
 * @example
 * const { leaders } = await triarch.leaders.list()
 * for (const { name, node, token } of leaders) console.log(name, node ?? 'nobody', token)
 */
export interface LeaderInfo {
  /** The name. */
  name: string
  /** The id of the node that leads; undefined: none leads at the moment. */
  node: string | undefined
  /** The fencing token of the leader, or of the last one. */
  token: number
}

/**
 * A page of leaderships.
 * @example const { leaders, next }: LeaderPage = await triarch.leaders.list()
 */
export interface LeaderPage {
  /** The leaderships of this page, by name. */
  leaders: LeaderInfo[]
  /** `cursor` of the next page; absent on the last. */
  next?: string
}

export async function leaderPage(store: StateStore, asked: NamePage): Promise<LeaderPage> {
  const { page, ...rest } = paged(await store.leaders({ ...asked, limit: asked.limit + 1 }), asked)
  return { leaders: page.map(leaderInfo), ...rest }
}

function leaderInfo({ name, node, token }: LeaderRow): LeaderInfo {
  return { name, node: node ?? undefined, token }
}
