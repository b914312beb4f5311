import type { Triarch } from '../client/triarch.ts'
import { messageOf } from '../error/error.ts'
import type { Reason } from '../view/reason.ts'
import { type Prospect, WHILE } from './skipping.ts'

/** Largest number of tasks that are explained. */
const MOST = 100

interface TaskProspect {
  instants: number[]
  working: boolean
  /** The task waits for something of the engine without a known instant. */
  vague: boolean
}

/** Predicts what tasks wait for, and until when, from their `explain`. */
export class Foresight {
  readonly #triarch: Triarch
  readonly #now: () => number
  /** The explanations, by task, for which time was already allowed to pass without a known instant. */
  readonly #granted = new Map<string, string>()

  constructor(triarch: Triarch, now: () => number) {
    this.#triarch = triarch
    this.#now = now
  }

  async of(task: string): Promise<Prospect> {
    const seen: TaskProspect = { instants: [], working: false, vague: false }
    const known = new Set([task])
    let text = ''
    // The task, and those it waits for, directly or indirectly.
    for (const id of known) {
      const said = await this.#explain(id, seen, known)
      if (id === task) text = said
    }
    if (seen.instants.length === 0 && !seen.working) await this.#others(seen, known)
    let at: number | null = seen.instants.length > 0 ? Math.min(...seen.instants) : null
    if (at === null && seen.vague && this.#granted.get(task) !== text) {
      this.#granted.set(task, text)
      // Polls of nodes and sweeps of supervisors happen within this time.
      at = this.#now() + WHILE
    }
    return { at, working: seen.working, text }
  }

  /** Examines all other tasks, which may do something for this one. */
  async #others(seen: TaskProspect, known: ReadonlySet<string>): Promise<void> {
    // If the engine was stopped meanwhile, there are no other tasks to examine.
    const { tasks } = await this.#triarch.tasks
      .list({ filter: '-status:stopped', limit: MOST })
      .catch(() => ({ tasks: [] }))
    for (const { id } of tasks) if (!known.has(id)) await this.#explain(id, seen, new Set())
  }

  async #explain(id: string, seen: TaskProspect, known: Set<string>): Promise<string> {
    try {
      const { text, reasons } = await this.#triarch.tasks.get(id).explain()
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

  #read(reason: Reason, seen: TaskProspect): void {
    switch (reason.code) {
      case 'step':
        // An attempt that runs nowhere is given up at its complete-by.
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

  #note(seen: TaskProspect, ...instants: (Date | undefined)[]): void {
    for (const at of instants) {
      if (!at) continue
      if (at.getTime() > this.#now()) seen.instants.push(at.getTime())
      // The instant has passed, and the next poll will notice it.
      else seen.vague = true
    }
  }
}
