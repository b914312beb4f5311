import { calmPlan, type Plan } from './plan.ts'

const whole = { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 } as const satisfies Plan['nodes'][number]

/** Plans that once broke a rule, made small: what was found is not lost when seeds come to mean other programs. */
export const regressions: Readonly<Record<string, Plan>> = {
  'an application whose first look at the store failed': calmPlan({
    seed: 156,
    nodes: [whole, whole],
    settings: { lease: 1_113, sweep: 180, poll: 50, tasks: 1_000, tellsChanges: true, distance: 0 },
    tasks: [{ id: 't0', at: 463, ops: [{ do: 'step', action: 'mail' }], startAt: 961 }],
    chaos: 4_000,
    calls: { unheard: 0.1, twice: 0.1, slow: 0.1 },
  }),
}
