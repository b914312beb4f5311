import {
  type AnswerCounts,
  type BreakerPhase,
  type BreakerRule,
  givenOf,
  NO_ANSWERS,
  sum,
  totalOf,
  type Wave,
} from '../policy/breaker.ts'
import { agentOfQueue, KEYED } from '../store/breaker.ts'
import { storedBreaker } from '../store/circuit.ts'
import type { BreakerRow } from '../store/port.ts'
import { MOST_COUNTED } from '../store/rows.ts'
import { clock } from './reason.ts'

/**
 * The current state of a circuit breaker.
 * @example const { state, waiting, nextProbe } = await triarch.breakers.get('payments').info()
 */
export interface BreakerInfo {
  /** The name of its agent, or `agent#key`. */
  name: string
  /** The name of its agent. */
  agent: string
  /** The key; undefined: the breaker is for the whole agent. */
  key: string | undefined
  /** The agent has one breaker for each key; this entry only records that, and never opens. */
  keyed: boolean
  /** Whether it lets attempts through. */
  state: BreakerPhase
  /** When it entered this state. */
  since: Date
  /** While it is open, no attempt starts before this instant; undefined: it is not open, or only an operator closes it. */
  nextProbe: Date | undefined
  /** It is open and its next probe is due, but no step waits; the agent's next step will be the probe. */
  idle?: true
  /** How many requests wait in its queue; counted up to 10,000. */
  waiting: number
  /** Answers that nodes have reported within the window: all, ill and slow ones. Nodes report nothing while all is well. */
  seen: { answers: number; ill: number; slow: number }
  /** The parameters of the breaker. */
  rule: BreakerRule
  /** How often it opened by itself since the service was last well; each time it stays open twice as long. */
  streak: number
  /** The probes, or the wave of waiting steps, that are under way; undefined: none. */
  wave: BreakerWave | undefined
  /** The latest changes, oldest first: 20 at most. */
  changes: BreakerChange[]
}

/**
 * One change of a circuit breaker.
 * @example const [last]: BreakerChange[] = (await triarch.breakers.get('payments').info()).changes.slice(-1)
 */
export interface BreakerChange {
  /** When the state changed. */
  at: Date
  /** The state before. */
  from: BreakerPhase
  /** The state after. */
  to: BreakerPhase
  /** The id of the node that reported it, or the `actor` that an operator gave. */
  actor: string
  /** The reason, for people. */
  reason: string
}

/**
 * Attempts that a circuit breaker lets through together: its probes or, once those have succeeded, a part of the waiting steps.
 * @example const { wave }: { wave: BreakerWave | undefined } = await triarch.breakers.get('payments').info()
 */
export interface BreakerWave {
  /** Number of the wave since the breaker exists, from 1. */
  number: number
  /** Number of its attempts, over all nodes. */
  size: number
  /** How many of them nodes may start or have started. */
  given: number
  /** Their answers so far. */
  seen: { answers: number; ill: number; slow: number }
}

function waveInfo(wave: Wave): BreakerWave {
  const { answers, ill, slow } = wave.shares.reduce<AnswerCounts>(sum, NO_ANSWERS)
  return { number: wave.number, size: wave.size, given: givenOf(wave), seen: { answers, ill, slow } }
}

/** The view of a breaker's row; null: it is empty or cannot be read. */
export function breakerInfo({ name, state: text, waiting }: BreakerRow, now: number): BreakerInfo | null {
  const stored = text === null ? null : storedBreaker(text)
  if (!stored) return null
  const { state, rule, keyed = false } = stored
  const at = name.indexOf(KEYED)
  const isIdle = state.phase === 'open' && state.until !== null && state.until <= now && waiting === 0
  return {
    ...{ name, agent: agentOfQueue(name), key: at < 0 ? undefined : name.slice(at + 1), keyed },
    state: state.phase,
    since: new Date(state.since),
    nextProbe: state.phase === 'open' && state.until !== null ? new Date(state.until) : undefined,
    ...(isIdle && { idle: true as const }),
    waiting,
    seen: { ...totalOf(state, rule, now) },
    ...{ rule: { ...rule }, streak: state.streak, wave: state.wave ? waveInfo(state.wave) : undefined },
    changes: state.moves.map(({ by, ...move }) => ({ ...move, actor: by, at: new Date(move.at) })),
  }
}

/** What the breaker's state means for the steps that wait, as text. */
export function keeperText(breaker: BreakerInfo): string {
  const { waiting } = breaker
  const many = waiting >= MOST_COUNTED ? `${MOST_COUNTED.toLocaleString('en')} or more` : waiting.toLocaleString('en')
  return `${breakerText(breaker)}, ${many} ${waiting === 1 ? 'step waits' : 'steps wait'}`
}

/** The same without the number of waiting steps. */
export function breakerText({ name, state, since, nextProbe, idle, changes }: BreakerInfo): string {
  const last = changes.at(-1)
  const why = last && `: ${last.reason}`
  const next = idle
    ? 'the next step probes'
    : nextProbe
      ? `next probe at ${clock(nextProbe)}`
      : 'until somebody closes it'
  if (state === 'open') return `the circuit breaker of ${name} is open since ${clock(since)}${why ?? ''}, ${next}`
  const what = state === 'half-open' ? 'is half-open, and its probes try the service' : 'lets go in waves what waited'
  return `the circuit breaker of ${name} ${what} since ${clock(since)}`
}
