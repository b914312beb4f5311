import type { Operation } from '../kernel/step/step.ts'
import type { PauseCause } from '../kernel/task/pause.ts'
import type { BreakerPhase } from '../policy/breaker.ts'

/** Why a task does not move: what it waits for, in words and as data. Instants as Dates. */
export type Reason = {
  text: string
} /** It has stopped, and nothing will happen by itself; `error`: why, if it did not succeed. */ & (
  | { code: 'stopped'; outcome: string; error?: string }
  /** An operator, a failure or a missing lock holds it; `step`: the step it is about; `reason`, `actor`: what whoever paused it gave. */
  | { code: 'paused'; cause: PauseCause; since: Date; reason?: string; actor?: string; step?: number }
  /**
   * It was set apart, for it harmed whoever had it; `cause`: as in TASK_QUARANTINED. Only an operator ends that. `broken`: the
   * records that are missing or cannot be read; resume({ after }) goes on from the one before.
   */
  | { code: 'quarantined'; since: Date; cause?: string; error?: string; broken?: { from: number; to: number } }
  /** A step waits for an operator while others go on. */
  | { code: 'held'; step: number; cause: PauseCause; error?: string }
  /** Its time has not come. */
  | { code: 'scheduled'; until: Date }
  /** It waits until somebody approves it, by a thaw; `planned`: how many steps its plan has, which can be read before that. */
  | { code: 'frozen'; planned?: number }
  /** A task it comes after has not stopped. */
  | { code: 'predecessor'; task: string; status: string }
  /** Another task holds the lock; `ahead`: how many have it or are before this one in line. */
  | { code: 'lock'; lock: string; holder: string; since: Date; ahead: number }
  /**
   * It is not taken yet: `most` tasks of its workflow wait already, as many as may (`maxQueued`). It is submitted when there is room, and
   * refused `until` then; `ahead`: how many submissions are before it in that process, which alone knows of it.
   */
  | { code: 'queue-full'; workflow: string; most: number; ahead: number; since: Date; until: Date }
  /**
   * It waits for a scheduler that has room; `ahead`: how many of its kind are before it by priority, then by when they came. Schedulers with
   * `ageing` may take it before some of them.
   */
  | { code: 'queued'; ahead: number }
  /** No living node runs this version of its workflow. */
  | { code: 'no-scheduler'; workflow: string; version: string }
  /** The node that has it gives no sign of life; a supervisor will take it away. */
  | { code: 'node-lost'; node: string; step?: number }
  /** The code that plans it is at work. */
  | { code: 'planning'; since: Date }
  /** An attempt runs; `node` is where. Without it: in a process of remote agents, awaited until `completeBy`, or longer while a server hears of it. */
  | {
      code: 'step'
      step: number
      operation: Operation
      action: string
      attempt: number
      node?: string
      since: Date
      completeBy?: Date
    }
  /**
   * An attempt waits for a free slot of its agent; `ahead`: how many are before it in the queue. `pool`: where slots are parted by priority, the
   * one that it is for, at which priority the high one begins (`from`), and how many slots it has on all nodes together.
   */
  | {
      code: 'step-queued'
      step: number
      operation: Operation
      action: string
      ahead: number
      since: Date
      pool?: { name: 'high' | 'rest'; from: number; slots: number }
    }
  /** The circuit breaker of its service keeps an attempt from starting; `waiting`: how many wait for it, counted up to 10,000. */
  | {
      code: 'breaker'
      step: number
      operation: Operation
      action: string
      breaker: string
      state: BreakerPhase
      since: Date
      nextProbe?: Date
      waiting: number
    }
  /** The rate limit of its agent, or of its action, keeps an attempt from starting before `until`; `ahead`: how many are before it. */
  | {
      code: 'rate-limit'
      step: number
      operation: Operation
      action: string
      limit: string
      until: Date
      ahead: number
      since: Date
    }
  /**
   * As many attempts of its agent, or of its action, run over all nodes as may: `running` of `most`; `waiting`: how many wait in the queue,
   * counted up to 10,000; `ahead`: how many of them are before it.
   */
  | {
      code: 'concurrency'
      step: number
      operation: Operation
      action: string
      limit: string
      running: number
      most: number
      waiting: number
      ahead: number
      since: Date
    }
  /** An operator has paused the agent: nothing of it begins, on any node. */
  | {
      code: 'agent-paused'
      step: number
      operation: Operation
      action: string
      agent: string
      reason: string
      actor: string
      since: Date
    }
  /** An operator has paused its workflow: nobody takes it up. */
  | { code: 'workflow-paused'; workflow: string; reason: string; actor: string; since: Date }
  /** No living node has the action. */
  | { code: 'no-agent'; step: number; operation: Operation; action: string; since: Date }
  /** The last attempt failed, or its agent put it off; the next comes `at`. */
  | { code: 'retry'; step: number; operation: Operation; action: string; attempt: number; at: Date; error?: string }
  /** A step waits for a signal, by its resume token; `until`: its timeout. */
  | { code: 'suspended'; step: number; action: string; since: Date; until?: Date; next?: { name: string; at: Date } }
  /** A batch: its children run. `total`: null while its source has more. */
  | {
      code: 'batch'
      step: number
      action: string
      since: Date
      total: number | null
      started: number
      pending: number
      success: number
      failed: number
      cancelled: number
    }
  /** It sleeps. */
  | { code: 'timer'; until: Date }
  /** It waits for a signal of this name. */
  | { code: 'signal'; name: string; since: Date; until?: Date }
  | { code: 'child'; task: string; workflow: string; status: string }
  /** Its code waits for something that is no task call, and nothing else is outstanding. */
  | { code: 'stalled'; since: Date }
  /** A node has it and nothing keeps it: it moves, or will at once. */
  | { code: 'moving'; node?: string }
)

/**
 * What a task waits for, as `explain` tells it.
 * @example
 * const { text, reasons } = await triarch.task('o-1').explain()
 * if (reasons.some(({ code }) => code === 'no-agent')) console.error(text)
 */
export interface Explanation {
  /** The id of the task. */
  task: string
  /** The name of its workflow. */
  workflow: string
  /** The status of the task; `unsubmitted` of a submission that waits for room. */
  status: string
  /** All of it in one text. */
  text: string
  /** What it waits for, the most telling first; several when it waits for several things at once. */
  reasons: Reason[]
  /** Locks that are its own now, whatever it waits for; the first 20. */
  holds: { lock: string; since: Date }[]
}

/** What kind of wait it is: stable, for programs. */
export type ReasonCode = Reason['code']

/** An instant as people read it, always alike. */
export function clock(at: Date): string {
  return at
    .toISOString()
    .replace('T', ' ')
    .replace(/(\.000)?Z$/, ' UTC')
}

/** A span in its largest two units. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const first = parts.findIndex(([count]) => count > 0)
  if (first < 0) return '0 s'
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}

/** From so many on, a place in line may be counted no further. */
const FEW = 1_000

export function before(count: number): string {
  if (count >= FEW) return `${count.toLocaleString('en')} or more are before it`
  return count === 0 ? 'nobody is before it' : `${count} ${count === 1 ? 'is' : 'are'} before it`
}
