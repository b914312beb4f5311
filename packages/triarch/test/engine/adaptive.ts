import { setTimeout as passes } from 'node:timers/promises'
import { agent, type TriarchOptions, workflow } from '../../src/index.ts'

const bank = agent('bank', { concurrency: { each: 20, adaptive: true } })
/** A service that takes its time. */
const charge = bank.action('charge', { run: () => passes(5) })
export const charges = workflow('charges', { run: (_: null, task) => task.run(charge) })

/** A process that hosts the agent, and looks often. */
export const adaptive = {
  agents: [bank],
  workflows: [charges],
  lease: '1s',
  sweep: '100ms',
  poll: '20ms',
  notices: false,
} as const satisfies Partial<TriarchOptions>
