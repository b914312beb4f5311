/** What a call wrote that others may want to know. */
export type News =
  /** Letters for tasks of this node. */
  | { mail: string }
  /** A task of this workflow version is ready; `control`: any scheduler can act on what came for it. */
  | { tasks: string; control?: boolean }
  /** A request for this action waits. */
  | { work: string }
  /** This task ended. */
  | { ended: string }
  /** This node left. */
  | { left: string }
  /** A node came, or runs something else from now on. */
  | 'came'
  /** Nobody has taken these (migrations/0001/sweep.sql): everybody is told who can act on one. */
  | { overlooked: readonly string[] }
  /** A setting was changed. */
  | 'settings'
  /** A service wants to be left alone. */
  | 'rests'
  /** There are tasks or work, the caller does not know which: it is looked up. */
  | 'tasks'
  | 'work'

/** What is to be told, counted: more tasks are for more nodes. */
export class Tally {
  readonly mail: Set<string> = new Set()
  readonly ended: Set<string> = new Set()
  readonly left: Set<string> = new Set()
  /** By workflow version, before which is `!` when any scheduler will do. */
  readonly tasks: Map<string, number> = new Map()
  readonly work: Map<string, number> = new Map()
  /** What is overlooked is to be looked up. */
  unknown = false
  came = false
  settings = false
  rests = false

  add(news: News): void {
    if (news === 'came') this.came = true
    else if (news === 'settings') this.settings = true
    else if (news === 'rests') this.rests = true
    else if (typeof news === 'string') this.unknown = true
    else if ('mail' in news) this.mail.add(news.mail)
    else if ('ended' in news) this.ended.add(news.ended)
    else if ('left' in news) this.left.add(news.left)
    else if ('work' in news) more(this.work, news.work, 1)
    else if ('tasks' in news) more(this.tasks, `${news.control ? '!' : '='}${news.tasks}`, 1)
    else {
      for (const what of news.overlooked) {
        if (what.startsWith('@')) this.mail.add(what.slice(1))
        else if (what.startsWith('+')) more(this.work, what.slice(1), Number.POSITIVE_INFINITY)
        else more(this.tasks, what, Number.POSITIVE_INFINITY)
      }
    }
  }

  /** Whether those who are to act, or where they listen, must be found. */
  get addresses(): boolean {
    return this.unknown || this.tasks.size + this.work.size + this.mail.size > 0
  }

  get empty(): boolean {
    const named = this.ended.size + this.left.size
    return !this.addresses && !this.came && !this.settings && !this.rests && named === 0
  }
}

function more(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}
