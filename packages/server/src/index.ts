/** Triarch over HTTP. */

export type { Listening, ListenOptions } from './listen.ts'
export type { MetricsSource, Principal, ServerLimits, ServerOptions } from './options.ts'
export { createServer, type TriarchServer } from './server.ts'
