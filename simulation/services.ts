import type { Agent, Workflow } from '../packages/triarch/src/index.ts'
import { workload } from '../packages/triarch/test/crash/workload.ts'
import { type Blueprint, blueprint } from './blueprint.ts'
import { type Program, program } from './program.ts'
import { type Diary, type Yard, yard } from './yard.ts'

/** The actions that programs and plans are made of. */
export type Services = Omit<ReturnType<typeof workload>['shop'], 'agent'> & Omit<Yard, 'agent'>

export interface Definitions {
  agents: Agent[]
  programs: Workflow<Program, unknown>
  plans: Workflow<Blueprint, unknown>
}

/** All that a node or an application knows; without a diary, nothing of it is ever run. */
export function definitions(diary: Diary | null): Definitions {
  const { shop } = workload(diary)
  const dockyard = yard(diary)
  const services: Services = { ...shop, dock: dockyard.dock, build: dockyard.build }
  const plans = blueprint(services)
  return { agents: [shop.agent, dockyard.agent], programs: program(diary, services, plans), plans }
}
