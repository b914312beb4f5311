import type { Agent, Triarch, Workflow } from 'triarch'

/**
 * A part of what Triarch can do, as the smallest program that shows it, and what is done with it from outside. Its code replays
 * recordings for ever: once it was recorded it changes no more than its words must. What is new is a feature of its own.
 */
export interface Feature {
  /** Of its files, too. */
  readonly name: string
  readonly workflows: readonly Workflow[]
  readonly agents?: readonly Agent[]
  /** In the order of their instants. */
  readonly script: readonly Act[]
  /** How long it is left alone after the last act (s); an hour. */
  readonly rest?: number
}

/** One call that changes something, at this distance from the beginning (s): where all is cut off, it was made or it was not. */
export interface Act {
  readonly at: number
  readonly do: (hands: Hands) => unknown
  /** Done anew in every process, as a program does with what it says at its start. */
  readonly always?: true
}

/** What a script has at hand. */
export interface Hands {
  readonly triarch: Triarch
  /** The process dies, and another one is started. */
  crash(): void
}
