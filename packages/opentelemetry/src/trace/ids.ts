import { createHash } from 'node:crypto'
import type { Span } from '@opentelemetry/api'
import { randomHex } from '../environment.ts'

/**
 * The ids of spans. Those of a task and of its steps follow from the task's id, so that every process knows them: one that runs an attempt
 * makes its span a child of the step's, which another process ends weeks later. All other ids are random.
 * @example const ids = new SpanIds()
 * const sdk = { idGenerator: ids }
 */
export class SpanIds {
  #next: { trace: string; span: string } | null = null

  /**
   * For the SDK: 32 hexadecimal characters.
   * @example const trace = otel.ids.generateTraceId()
   */
  generateTraceId(): string {
    return this.#next?.trace ?? randomHex(16)
  }

  /**
   * For the SDK: 16 hexadecimal characters.
   * @example const span = otel.ids.generateSpanId()
   */
  generateSpanId(): string {
    return this.#next?.span ?? randomHex(8)
  }

  /** @internal */
  make(trace: string, span: string, start: () => Span): Span {
    this.#next = { trace, span }
    try {
      return start()
    } finally {
      this.#next = null
    }
  }
}

/** The id that follows from these: the same in each process. */
export function derived(length: 16 | 32, ...parts: readonly (string | number)[]): string {
  const text = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, length)
  return /^0+$/.test(text) ? text.replace(/0$/, '1') : text
}
