/** Triarch over HTTP. */

export type { Listening, ListenOptions } from './listen.ts'
export type { MetricsSource, Principal, ServerLimits, ServerOptions } from './options.ts'
export type { ProbedEndpoint } from './probe/options.ts'
export { createProber, type ProbeChange, type Prober, type ProberOptions } from './probe/prober.ts'
export { createServer, type TriarchServer } from './server.ts'
