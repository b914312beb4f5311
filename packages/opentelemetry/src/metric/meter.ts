import {
  type BatchObservableCallback,
  type Counter,
  type Histogram,
  type Meter,
  type Observable,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
  type UpDownCounter,
} from '@opentelemetry/api'
import { type MetricName, metrics } from './catalogue.ts'
import type { Gauges } from './gauges.ts'
import type { Labels, Sink } from './sink.ts'

/** The metrics of the catalogue on a meter of OpenTelemetry. */
export class MeterSink implements Sink {
  readonly #meter: Meter
  readonly #counters = new Map<MetricName, Counter | UpDownCounter>()
  readonly #histograms = new Map<MetricName, Histogram>()
  readonly #gauges = new Map<MetricName, Observable>()

  constructor(meter: Meter) {
    this.#meter = meter
    for (const name of Object.keys(metrics) as MetricName[]) {
      const { kind, unit, description, buckets } = metrics[name]
      if (kind === 'counter') this.#counters.set(name, meter.createCounter(name, { unit, description }))
      else if (kind === 'active') this.#counters.set(name, meter.createUpDownCounter(name, { unit, description }))
      else if (kind === 'gauge') this.#gauges.set(name, meter.createObservableGauge(name, { unit, description }))
      else {
        const advice = { explicitBucketBoundaries: [...(buckets ?? [])] }
        this.#histograms.set(name, meter.createHistogram(name, { unit, description, advice }))
      }
    }
  }

  add(name: MetricName, value: number, labels: Labels): void {
    this.#counters.get(name)?.add(value, labels)
  }

  /** In the span's context, where an SDK that keeps exemplars finds it. */
  record(name: MetricName, value: number, labels: Labels, span: SpanContext | null): void {
    this.#histograms.get(name)?.record(value, labels, span ? trace.setSpanContext(ROOT_CONTEXT, span) : ROOT_CONTEXT)
  }

  /** Reads these whenever metrics are collected. Gives what ends that. */
  observe(gauges: Gauges): () => void {
    const observables = [...this.#gauges.values()]
    const read: BatchObservableCallback = async (result) => {
      for (const { name, value, labels } of await gauges.read()) {
        const gauge = this.#gauges.get(name)
        if (gauge) result.observe(gauge, value, labels)
      }
    }
    this.#meter.addBatchObservableCallback(read, observables)
    return () => this.#meter.removeBatchObservableCallback(read, observables)
  }
}
