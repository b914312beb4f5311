import type { Triarch } from '../client/triarch.ts'
import { messageOf } from '../error/error.ts'
import type { Reason } from '../view/reason.ts'
import { type Prospect, WHILE } from './skipping.ts'

/** Most tasks that are asked why they do not move. */
const MOST = 100

interface Seen {
  instants: number[]
  working: boolean
  /** It waits for something of the engine's that has no instant. */
  vague: boolean
}

/** What tasks wait for until when, by what `explain` says of them. */
export class Foresight {
  readonly #triarch: Triarch
  readonly #now: () => number
  /** Told of a task that had no instant, and what was waited for then. */
  readonly #granted = new Map<string, string>()

  constructor(triarch: Triarch, now: () => number) {
    this.#triarch = triarch
    this.#now = now
  }

  async of(task: string): Promise<Prospect> {
    const seen: Seen = { instants: [], working: false, vague: false }
    const known = new Set([task])
    let text = ''
    // What it waits for, and what that waits for.
    for (const id of known) {
      const said = await this.#explain(id, seen, known)
      if (id === task) text = said
    }
    if (seen.instants.length === 0 && !seen.working) await this.#others(seen, known)
    let at: number | null = seen.instants.length > 0 ? Math.min(...seen.instants) : null
    if (at === null && seen.vague && this.#granted.get(task) !== text) {
      this.#granted.set(task, text)
      // Looks of nodes and supervisors come meanwhile.
      at = this.#now() + WHILE
    }
    return { at, working: seen.working, text }
  }

  /** Other tasks may do something for it. */
  async #others(seen: Seen, known: ReadonlySet<string>): Promise<void> {
    // An engine that was stopped meanwhile does nothing any more: what `explain` says of the task is told.
    const { tasks } = await this.#triarch.list({ filter: '-status:stopped', limit: MOST }).catch(() => ({ tasks: [] }))
    for (const { id } of tasks) if (!known.has(id)) await this.#explain(id, seen, new Set())
  }

  async #explain(id: string, seen: Seen, known: Set<string>): Promise<string> {
    try {
      const { text, reasons } = await this.#triarch.task(id).explain()
      for (const reason of reasons) {
        this.#read(reason, seen)
        const next = 'task' in reason ? reason.task : 'holder' in reason ? reason.holder : null
        if (next !== null && known.size < MOST) known.add(next)
      }
      return text
    } catch (error) {
      return messageOf(error)
    }
  }

  #read(reason: Reason, seen: Seen): void {
    switch (reason.code) {
      case 'step':
        // Where nobody runs it any more, it is given up in time.
        if (reason.node === undefined && reason.completeBy) this.#note(seen, reason.completeBy)
        else seen.working = true
        return
      case 'planning':
        seen.working = true
        return
      case 'suspended':
        this.#note(seen, reason.until, reason.next?.at)
        return
      case 'scheduled':
      case 'queue-full':
      case 'rate-limit':
      case 'timer':
      case 'signal':
        this.#note(seen, reason.until)
        return
      case 'retry':
        this.#note(seen, reason.at)
        return
      case 'breaker':
        this.#note(seen, reason.nextProbe)
        return
      case 'moving':
      case 'queued':
      case 'step-queued':
      case 'concurrency':
      case 'node-lost':
      case 'frozen':
      case 'predecessor':
      case 'lock':
      case 'paused':
      case 'child':
        seen.vague = true
    }
  }

  #note(seen: Seen, ...instants: (Date | undefined)[]): void {
    for (const at of instants) {
      if (!at) continue
      if (at.getTime() > this.#now()) seen.instants.push(at.getTime())
      // It has come, and is noticed with somebody's next look.
      else seen.vague = true
    }
  }
}
