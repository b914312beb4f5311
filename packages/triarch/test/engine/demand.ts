import { agent, type TriarchOptions, workflow } from '../../src/index.ts'

export const pace = { lease: '1s', sweep: '100ms', poll: '20ms', notices: false } as const

const gate = Promise.withResolvers<void>()
/** Nothing is lifted or hauled before it is open. */
export const open = (): void => gate.resolve()

const crane = agent('crane', { concurrency: 2 })
const lift = crane.action('lift', { run: () => gate.promise })
export const load = workflow('load', { run: (_: null, task) => task.run(lift) })
/** What is under way holds its scheduler. */
export const haul = workflow('haul', { run: (_: null, task) => task.run('local', () => gate.promise) })

/** What a process of each kind is, of which there are as many as are asked for. */
export const kinds: Readonly<Record<string, Partial<TriarchOptions>>> = {
  agent: { roles: ['agent'], agents: [crane] },
  scheduler: { roles: ['scheduler'], workflows: [haul], limits: { tasks: 2 } },
}
