import { Coverage } from './coverage.ts'
import { enumerate, type Strike } from './enumerate.ts'
import type { FeatureName } from './feature.ts'
import type { Plan } from './plan.ts'
import { type Report, run } from './run.ts'
import { swarm } from './swarm.ts'

/** A plan whose run broke a rule. */
export interface Failure {
  name: string
  plan: Plan
  violations: string[]
}

/** Of so many seeds, one is run twice: it must be the same course of events. */
const TWICE_EVERY = 25

/** Many runs, what they covered, and those that broke a rule. */
export class Campaign {
  readonly coverage: Coverage = new Coverage()
  readonly failures: Failure[] = []
  /** Faults fired, by kind. */
  readonly fired: Record<string, number> = {}
  runs = 0
  /** Plans that were run twice and compared. */
  repeated = 0
  /** Virtual time (ms), calls to the store, and events that happened in all runs. */
  elapsed = 0
  calls = 0
  steps = 0
  readonly #twiceEvery: number
  readonly #failed: (failure: Failure) => void

  /** Tells each failure as it is found. */
  constructor(failed: (failure: Failure) => void = () => undefined, twiceEvery: number = TWICE_EVERY) {
    this.#failed = failed
    this.#twiceEvery = twiceEvery
  }

  /** `only`: the seed's course of events in a world that has this feature, and no other. */
  async seed(seed: number, only?: FeatureName): Promise<void> {
    await this.plan(`seed ${seed}`, swarm(seed, only), seed % this.#twiceEvery === 0)
  }

  async plan(name: string, plan: Plan, twice: boolean = true): Promise<void> {
    const report = await run(plan)
    this.#count(report)
    const { violations } = report
    this.#judge(name, plan, twice ? [...violations, ...(await this.#repeat(plan, report))] : violations)
  }

  /** The scenario, and each of its calls hurt in each of these ways. */
  async scenario(name: string, plan: Plan, strikes?: readonly Strike[]): Promise<number> {
    this.#judge(name, plan, await this.#repeat(plan, await run(plan)))
    const { runs, failures } = await enumerate(plan, strikes, (report) => this.#count(report))
    for (const failure of failures) this.#judge(name, failure.plan, failure.violations)
    return runs
  }

  /** A failure that shows only outside of the run. */
  reject(name: string, violation: string): void {
    const seed = /^seed (\d+)$/.exec(name)?.[1]
    this.#judge(name, swarm(Number(seed ?? 1)), [violation])
  }

  async #repeat(plan: Plan, { hash, steps }: Report): Promise<string[]> {
    this.repeated++
    const again = await run(plan)
    if (again.hash === hash && again.steps === steps) return []
    return [`determinism: the second run has ${again.hash} in ${again.steps} events, the first had ${hash} in ${steps}`]
  }

  #count(report: Report): void {
    this.runs++
    this.elapsed += report.elapsed
    this.calls += report.calls
    this.steps += report.steps
    for (const [kind, times] of Object.entries(report.fired)) this.fired[kind] = (this.fired[kind] ?? 0) + times
    // What broke a rule may not even be readable.
    if (report.violations.length === 0) this.coverage.add(report.evidence)
  }

  #judge(name: string, plan: Plan, violations: string[]): void {
    if (violations.length === 0) return
    const failure = { name, plan, violations }
    this.failures.push(failure)
    this.#failed(failure)
  }
}
