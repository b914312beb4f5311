import type { Agent, Workflow } from '../../packages/triarch/src/index.ts'
import { workload } from '../../packages/triarch/test/crash/workload.ts'
import type { Bank } from './bank.ts'
import { type Blueprint, blueprint } from './blueprint.ts'
import type { Version } from './plan.ts'
import { type Program, program } from './program.ts'
import { type Diary, type Yard, yard } from './yard.ts'

/** The actions that programs and plans are made of. */
export type Services = Omit<ReturnType<typeof workload>['shop'], 'agent'> &
  Omit<Yard, 'agent'> &
  Partial<Omit<Bank, 'agent'>>

export interface Definitions {
  agents: Agent[]
  programs: Workflow<Program, unknown>
  /** The same, a version later. */
  newer: Workflow<Program, unknown>
  plans: Workflow<Blueprint, unknown>
}

/** All that a node or an application knows; without a diary, nothing of it is ever run. `own`: in worlds with a bank, that. */
export function definitions(diary: Diary | null, strict: boolean = false, own: Bank | null = null): Definitions {
  const { shop } = workload(diary)
  const dockyard = yard(diary)
  const services: Services = {
    ...shop,
    dock: dockyard.dock,
    build: dockyard.build,
    weigh: dockyard.weigh,
    ...(own && { quote: own.quote }),
  }
  const plans = blueprint(services)
  const of = (version: Version) => program(diary, services, plans, { version, strict })
  const agents = [shop.agent, dockyard.agent, ...(own ? [own.agent] : [])]
  return { agents, programs: of('1'), newer: of('2'), plans }
}
