import type { Operation } from '../kernel/step/step.ts'
import type { PauseCause } from '../kernel/task/pause.ts'
import type { BreakerPhase } from '../policy/breaker.ts'

/** One reason for which a task does not move, as text and as data. Instants are Dates. */
export type Reason = {
  text: string
} /** It has stopped, and nothing will happen by itself; `error`: why, if it did not succeed. */ & (
  | { code: 'stopped'; outcome: string; error?: string }
  /**
   * An operator, a failure or a missing lock holds the task; `step`: the one that caused it; `reason`, `actor`: those of the person who
   * paused it.
   */
  | { code: 'paused'; cause: PauseCause; since: Date; reason?: string; actor?: string; step?: number }
  /**
   * The task is quarantined because it harmed its owners; `cause`: as in TASK_QUARANTINED. Only an operator ends that. `broken`: the
   * records that are missing or cannot be read; resume({ after }) goes on from the one before.
   */
  | { code: 'quarantined'; since: Date; cause?: string; error?: string; broken?: { from: number; to: number } }
  /** A step waits for an operator while others go on. */
  | { code: 'held'; step: number; cause: PauseCause; error?: string }
  /** The task's start time has not come. */
  | { code: 'scheduled'; until: Date }
  /** The task waits for its approval, by a thaw; `planned`: number of steps of its plan, which can be read before that. */
  | { code: 'frozen'; planned?: number }
  /** A predecessor has not stopped. */
  | { code: 'predecessor'; task: string; status: string }
  /** Another task holds the lock; `ahead`: number of tasks that hold it or wait before this one. */
  | { code: 'lock'; lock: string; holder: string; since: Date; ahead: number }
  /**
   * The submission is not accepted yet: `most` tasks of its workflow wait already, the largest number allowed (`maxQueued`). It is
   * submitted when there is room, and refused at `until`. `ahead`: number of submissions before it in that process, the only one that knows
   * of it.
   */
  | { code: 'queue-full'; workflow: string; most: number; ahead: number; since: Date; until: Date }
  /**
   * The task waits for a scheduler with room; `ahead`: number of tasks of its kind before it, by priority and then by arrival. Schedulers
   * with `ageing` may take it before some of them.
   */
  | { code: 'queued'; ahead: number }
  /** No living node runs this version of its workflow. */
  | { code: 'no-scheduler'; workflow: string; version: string }
  /** The node that owns the task gives no sign of life; a supervisor will take the task away. */
  | { code: 'node-lost'; node: string; step?: number }
  /** The planning code runs. */
  | { code: 'planning'; since: Date }
  /**
   * An attempt runs on `node`. Without `node`: in a process of remote agents, awaited until `completeBy`, or longer while a server hears
   * from it.
   */
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
   * An attempt waits for a free slot of its agent; `ahead`: number of requests before it in the queue. `pool`: if slots are divided by
   * priority, the pool that serves it, the priority at which the high pool begins (`from`), and the pool's slots on all nodes.
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
  /**
   * The circuit breaker of the service keeps an attempt from starting; `waiting`: number of requests that wait for it, counted up to
   * 10,000.
   */
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
  /** The rate limit of the agent or action keeps an attempt from starting before `until`; `ahead`: number of requests before it. */
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
   * The concurrency limit of the agent or action over all nodes is reached: `running` of `most`. `waiting`: number of requests in the
   * queue, counted up to 10,000; `ahead`: how many of them are before it.
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
  /** An operator has paused the agent: none of its attempts begins, on any node. */
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
  /** An operator has paused the workflow: its tasks are not taken. */
  | { code: 'workflow-paused'; workflow: string; reason: string; actor: string; since: Date }
  /** No living node has the action. */
  | { code: 'no-agent'; step: number; operation: Operation; action: string; since: Date }
  /** The last attempt failed, or its agent put it off; the next one starts `at`. */
  | { code: 'retry'; step: number; operation: Operation; action: string; attempt: number; at: Date; error?: string }
  /** A step waits for a signal by its resume token; `until`: its timeout. */
  | { code: 'suspended'; step: number; action: string; since: Date; until?: Date; next?: { name: string; at: Date } }
  /** The children of a batch run. `total`: null while its source has more. */
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
  /** The task sleeps. */
  | { code: 'timer'; until: Date }
  /** The task waits for a signal of this name. */
  | { code: 'signal'; name: string; since: Date; until?: Date }
  | { code: 'child'; task: string; workflow: string; status: string }
  /** The code waits for something that is not a call of its task, and nothing else is outstanding. */
  | { code: 'stalled'; since: Date }
  /** A node owns the task and nothing holds it back: it moves, or will at once. */
  | { code: 'moving'; node?: string }
)

/**
 * The answer of `explain`: what a task waits for.
 * @example
 * const { text, reasons } = await triarch.tasks.get('o-1').explain()
 * if (reasons.some(({ code }) => code === 'no-agent')) console.error(text)
 */
export interface Explanation {
  /** The id of the task. */
  task: string
  /** The name of its workflow. */
  workflow: string
  /** The status of the task; `unsubmitted` of a submission that waits for room. */
  status: string
  /** The whole explanation as text. */
  text: string
  /** The reasons, most important first; several if it waits for several things at once. */
  reasons: Reason[]
  /** Locks that the task holds now; the first 20. */
  holds: { lock: string; since: Date }[]
}

/** The kind of a reason: stable, for programs. */
export type ReasonCode = Reason['code']

/** An instant in a fixed format for people. */
export function clock(at: Date): string {
  return at
    .toISOString()
    .replace('T', ' ')
    .replace(/(\.000)?Z$/, ' UTC')
}

/** A span in its two largest units. */
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

/** From this number on, a place in the queue may be a lower bound. */
const FEW = 1_000

export function before(count: number): string {
  if (count >= FEW) return `${count.toLocaleString('en')} or more are before it`
  return count === 0 ? 'nobody is before it' : `${count} ${count === 1 ? 'is' : 'are'} before it`
}
