/** Tasks of a Triarch server, from anywhere with fetch. */

export { connect } from './connect.ts'
export type { ConnectOptions, ConnectRetryOptions } from './options.ts'
