import {
  type BreakerPhase,
  type BreakerRule,
  givenOf,
  NOTHING,
  type Seen,
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
 * A circuit breaker as it stands.
 * @example const { state, waiting, nextProbe } = await triarch.breaker('payments').info()
 */
export interface BreakerInfo {
  /** Its agent, or `agent#key`. */
  name: string
  /** The name of its agent. */
  agent: string
  /** Of which key; undefined: of the whole agent. */
  key: string | undefined
  /** The agent has one for each key: this one says only that, and never opens. */
  keyed: boolean
  /** Whether it lets attempts through. */
  state: BreakerPhase
  /** Since when. */
  since: Date
  /** Before that nothing is tried while it is open; undefined: it is not open, or only an operator closes it. */
  nextProbe: Date | undefined
  /** It is open, its next probe is due, and no step waits that could be the probe: the next step of the agent is. */
  idle?: true
  /** How many requests wait in its queue; nothing is counted beyond 10,000. */
  waiting: number
  /** What nodes told of their attempts, as far as the window reaches back: all answers, the ill and the slow ones. Nothing while all is well. */
  seen: { answers: number; ill: number; slow: number }
  /** The numbers that it goes by. */
  rule: BreakerRule
  /** How often it opened by itself since the service was well: each time it stays open twice as long. */
  streak: number
  /** The attempts that are out to try the service, or a part of what waits; undefined: none are. */
  wave: BreakerWave | undefined
  /** The last changes, oldest first: 20 at most. */
  changes: BreakerChange[]
}

/**
 * One change of a circuit breaker.
 * @example const [last]: BreakerChange[] = (await triarch.breaker('payments').info()).changes.slice(-1)
 */
export interface BreakerChange {
  /** When. */
  at: Date
  /** What it was. */
  from: BreakerPhase
  /** What it came to be. */
  to: BreakerPhase
  /** The id of the node that told of it, or what the operator gave as `actor`. */
  actor: string
  /** Why, in words. */
  reason: string
}

/**
 * Attempts that a circuit breaker lets go together: its probes, or, once those were answered, a part of what waits.
 * @example const { wave }: { wave: BreakerWave | undefined } = await triarch.breaker('payments').info()
 */
export interface BreakerWave {
  /** Which one it is since the breaker is there, from 1. */
  number: number
  /** Of how many attempts, over all nodes. */
  size: number
  /** How many of those nodes were given leave to start. */
  given: number
  /** What came back of them so far. */
  seen: { answers: number; ill: number; slow: number }
}

function waveInfo(wave: Wave): BreakerWave {
  const { answers, ill, slow } = wave.shares.reduce<Seen>(sum, NOTHING)
  return { number: wave.number, size: wave.size, given: givenOf(wave), seen: { answers, ill, slow } }
}

/** Null: there is no row, or it cannot be read. */
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

/** What its state means for who waits. */
export function keeperText(breaker: BreakerInfo): string {
  const { waiting } = breaker
  const many = waiting >= MOST_COUNTED ? `${MOST_COUNTED.toLocaleString('en')} or more` : waiting.toLocaleString('en')
  return `${breakerText(breaker)}, ${many} ${waiting === 1 ? 'step waits' : 'steps wait'}`
}

/** The same without how many wait. */
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
