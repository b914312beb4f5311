import { agent, workflow } from '../../src/index.ts'

export const pace = { lease: '1s', sweep: '100ms', poll: '20ms', notices: false } as const

const gate = Promise.withResolvers<void>()
const crane = agent('crane', { concurrency: 2 })
const lift = crane.action('lift', { run: () => gate.promise })
export const load = workflow('load', { run: (_: null, task) => task.run(lift) })
/** Nothing is lifted before it is open. */
export const gated = { agent: crane, open: () => gate.resolve() }
