/** Triarch for OpenTelemetry. */

export { listeners } from './listeners.ts'
export type { Observed } from './metric/gauges.ts'
export { type OpenTelemetry, type OpenTelemetryOptions, openTelemetry } from './telemetry.ts'
export { traceHeaders } from './trace/carrier.ts'
export { SpanIds } from './trace/ids.ts'
