import {
  type PlanContext,
  type Planned,
  type Templated,
  type Workflow,
  workflow,
} from '../../packages/triarch/src/index.ts'
import type { Done, Order } from '../../packages/triarch/test/crash/workload.ts'
import type { ShopAction } from './program.ts'
import type { Services } from './services.ts'
import type { Visit } from './yard.ts'

/** One part of a plan. Steps are numbered in the order in which they are planned. */
export type Part =
  | {
      do: 'step'
      action: ShopAction | 'dock' | 'build'
      order?: Order & Visit
      /** Steps whose outputs its input is made of, and steps that it only comes after. */
      refers?: number[]
      follows?: number[]
      rescue?: 'skip' | 'pause' | 'fail' | 'compensate'
    }
  | { do: 'sequence' | 'concurrence'; of: Part[] }

export interface Blueprint {
  parts: Part[]
}

/** The workflow that plans what it is given. Its output are the steps' own numbers. */
export function blueprint(shop: Services): Workflow<Blueprint, unknown> {
  return workflow('blueprint', {
    plan({ parts }: Blueprint, plan) {
      const steps: Planned<Done>[] = []
      draw(parts, { plan, shop, steps })
      return steps.map(({ output }) => output.step)
    },
  }) as Workflow<Blueprint, unknown>
}

interface Table {
  plan: PlanContext
  shop: Services
  steps: Planned<Done>[]
}

function draw(parts: readonly Part[], table: Table): void {
  const { plan, shop, steps } = table
  for (const part of parts) {
    if (part.do !== 'step') {
      plan[part.do](() => draw(part.of, table))
      continue
    }
    const { action, order = {}, refers = [], follows = [], rescue } = part
    const of = (numbers: readonly number[]) => numbers.flatMap((number) => steps[number] ?? [])
    const input = { ...order, after: of(refers).map(({ output }) => output.step) }
    const options = { after: of(follows), ...(rescue && { rescue }) }
    steps.push(plan.step(shop[action] as Services['build'], input as Templated<Order>, options))
  }
}
