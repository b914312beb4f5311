import { type Agent, TransientError } from '../../packages/triarch/src/index.ts'
import type { TakeWork } from '../../packages/triarch/src/store/port.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import { type AttemptCall, sabotagedAgent } from '../../packages/triarch/src/testing/sabotage.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import type { Plan } from './plan.ts'

/** Between which bounds each process finds how many attempts of an agent run at a time, and when its service is not well (ms). */
export interface AdaptivePlan {
  least: number
  most: number
  /** How long the service takes, when it is well; and a hundred times that, or it fails at half of it. */
  takes: number
  ills: { at: number; ms: number; fails: boolean }[]
  /** Steps that come once all is well again. */
  after: number
}

/** The task of those steps. */
export const AFTERWARDS = 'afterwards'
/** So many attempts that fail, one after the other, are enough for a limit to fall; so many that succeed, for it to rise again. */
const FALLS = 60
const RISES = 60

/** How one process does, of one agent. */
interface Course {
  running: number
  /** Failed since the service fell ill. */
  failed: number
  /** Done since it is well for good, while more waited; and the most slots that were used then, those included for which a queue was asked. */
  done: number
  peak: number
}

/** Limits that follow services: when these are ill and well again, and how many attempts run then. */
export class Adaptive {
  readonly #world: World
  readonly #plan: AdaptivePlan | null
  /** A middleware throws at every fourth first attempt: the service is never well for who cannot see which of the two did. */
  readonly #troubled: boolean
  /** When the faults are over (ms). */
  readonly #well: number
  readonly #courses = new Map<Machine, Map<string, Course>>()
  readonly #begun = new Set<number>()
  readonly #faults: string[] = []

  constructor(world: World, { adaptive, chaos, settings }: Plan) {
    this.#world = world
    this.#plan = adaptive ?? null
    this.#troubled = settings.strict !== undefined
    this.#well = chaos
  }

  /** The agent with its limit, before a service that is ill now and then. */
  agent(machine: Machine, agent: Agent): Agent {
    const plan = this.#plan
    if (!plan) return agent
    const { least, most } = plan
    return sabotagedAgent(Object.freeze({ ...agent, concurrency: most, least }), async (call, work) => {
      const course = this.#begin(machine, agent.name, call)
      try {
        return await this.#serve(machine, course, work)
      } finally {
        course.running--
      }
    })
  }

  async #serve(machine: Machine, course: Course, work: () => unknown): Promise<unknown> {
    const { takes, after } = this.#plan as AdaptivePlan
    const ill = this.#illness
    const wait = (ms: number) => new Promise<void>((resolve) => void machine.timer(ms, resolve))
    if (!ill) course.failed = 0
    if (ill?.fails) {
      await wait(takes / 2)
      course.failed++
      throw new TransientError('injected: the service is overloaded')
    }
    // Its answer comes late, not what it does: who asked may not wait any more.
    const done = await work()
    await wait(ill ? takes * 100 : takes)
    if (this.#world.elapsed > this.#well && this.#begun.size < after) course.done++
    return done
  }

  get #illness(): AdaptivePlan['ills'][number] | undefined {
    const now = this.#world.elapsed
    return this.#plan?.ills.find(({ at, ms }) => now >= at && now < at + ms)
  }

  #begin(machine: Machine, agent: string, { task, step }: AttemptCall): Course {
    const { least, most } = this.#plan as AdaptivePlan
    const agents = this.#courses.get(machine) ?? new Map<string, Course>()
    this.#courses.set(machine, agents)
    const course = agents.get(agent) ?? { running: 0, failed: 0, done: 0, peak: 0 }
    agents.set(agent, course)
    course.running++
    if (task === AFTERWARDS) this.#begun.add(step)
    if (this.#world.elapsed > this.#well) course.peak = Math.max(course.peak, course.running)
    const low = Math.max(least, Math.ceil(most / 2))
    if (machine.alive && this.#illness?.fails && course.failed >= FALLS && course.running > low)
      this.#faults.push(`${machine.name} runs ${course.running} of ${agent} after ${course.failed} failed, of ${most}`)
    return course
  }

  /** Slots are held while a queue is asked: where its answer is farther away than an attempt takes, they and the others never run at once. */
  readonly observe = ({ machine, name, args }: LinkCall): void => {
    if (!this.#plan || name !== 'takeWork' || this.#world.elapsed <= this.#well) return
    for (const { agent, limit } of (args[0] as TakeWork).agents) {
      const course = this.#courses.get(machine)?.get(agent)
      if (course) course.peak = Math.max(course.peak, course.running + limit)
    }
  }

  /** Limits that do not fall while their service is ill, and those that do not rise when it is well again. */
  get faults(): string[] {
    if (!this.#plan) return []
    const { least, most } = this.#plan
    const low = [...this.#courses].flatMap(([{ name }, agents]) =>
      [...agents].flatMap(([agent, { done, peak }]) =>
        !this.#troubled && done >= RISES && peak <= least && least < most
          ? [
              `${name} has done ${done} attempts of ${agent} since it is well, and never used more than ${peak} slots of ${most}`,
            ]
          : [],
      ),
    )
    return [...this.#faults, ...low]
  }
}
