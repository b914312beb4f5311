import type { SpanContext } from '@opentelemetry/api'
import type { MetricName } from './catalogue.ts'

export type Labels = Readonly<Record<string, string>>

/** A gauge as it was read. */
export interface Reading {
  name: MetricName
  value: number
  labels: Labels
}

/** Where numbers go. */
export interface Sink {
  /** To a counter, or to what goes up and down. */
  add(name: MetricName, value: number, labels: Labels): void
  /** To a histogram. `span`: what it is an example of, if that is sampled. */
  record(name: MetricName, value: number, labels: Labels, span: SpanContext | null): void
}
