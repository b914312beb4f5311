/** A change that other processes may have to know of. */
export type News =
  /** Messages for tasks of this node. */
  | { mail: string }
  /** A task of this workflow version is ready; `control`: any scheduler can act on the message that came for it. */
  | { tasks: string; control?: boolean }
  /** A request for this action waits. */
  | { work: string }
  /** This task ended. */
  | { ended: string }
  /** This node left. */
  | { left: string }
  /** A node came, or what it runs changed. */
  | 'came'
  /** No node has taken these (migrations/0001/sweep.sql): every node that can act on one is notified. */
  | { overlooked: readonly string[] }
  /** A setting was changed. */
  | 'settings'
  /** A cooldown began. */
  | 'rests'
  /** There are ready tasks or requests; which ones is read from the store. */
  | 'tasks'
  | 'work'

/** Changes to notify of, counted: the more tasks, the more nodes are notified. */
export class Tally {
  readonly mail: Set<string> = new Set()
  readonly ended: Set<string> = new Set()
  readonly left: Set<string> = new Set()
  /** By workflow version, preceded by `!` when any scheduler will do, else by `=`. */
  readonly tasks: Map<string, number> = new Map()
  readonly work: Map<string, number> = new Map()
  /** Untaken tasks and requests are to be read from the store. */
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

  /** Whether the nodes to notify, or their channels, must be known. */
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
