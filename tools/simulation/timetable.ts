import type { ScheduleWrite, SubmitOutcome } from '../../packages/triarch/src/store/port.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { SharedStore } from '../../packages/triarch/src/testing/shared.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import type { Evidence } from '../../packages/triarch/test/crash/evidence.ts'
import type { SchedulePlan } from './plan.ts'

/** How far behind a schedule may be once all has been quiet for a while (ms). */
const BEHIND = 3_000

/** How far a schedule is, as its row says. */
interface Progress {
  next: number | null
  last: number | null
  paused: unknown
}

interface Course {
  plan: SchedulePlan
  progress: Progress | null
  /** Ids of the tasks it has asked for. */
  asked: Set<string>
  /** Those of them that came to be. */
  made: Set<string>
}

/**
 * Watches schedules as their rows are written: each occurrence is started, skipped or missed once, as the schedule's own
 * rule says, whoever leads meanwhile. Reckons with the grid of instants alone, and knows nothing of how the engine does.
 */
export class Timetable {
  readonly #world: World
  readonly #store: SharedStore
  readonly #courses: Map<string, Course>
  readonly #faults: string[] = []

  constructor(world: World, store: SharedStore, schedules: readonly SchedulePlan[]) {
    this.#world = world
    this.#store = store
    this.#courses = new Map(
      schedules.map((plan) => [plan.name, { plan, progress: null, asked: new Set(), made: new Set() }]),
    )
  }

  readonly observe = ({ name, args }: LinkCall, answer: unknown): void => {
    if (name !== 'writeSchedule' || answer === null) return
    const write = args[0] as ScheduleWrite
    const course = this.#courses.get(write.name)
    if (!course) return
    const progress = JSON.parse(write.state) as Progress
    const fault = (text: string) => this.#faults.push(`${write.name}: ${text}`)
    if (write.fence && course.progress) this.#fired(course, course.progress, progress, fault)
    if (!write.fence && progress.paused && course.progress) this.#paused(course, course.progress, fault)
    for (const [index, { id }] of write.tasks.entries())
      this.#started(course, id, (answer as SubmitOutcome[])[index], fault)
    if (write.fence) this.#chosen(course, write, { before: course.progress, after: progress }, fault)
    course.progress = progress
  }

  /** Nothing was early, and nothing was passed over. */
  #fired({ plan }: Course, before: Progress, after: Progress, fault: (text: string) => void): void {
    if (after.last !== null && after.last > this.#world.now) fault(`${after.last - this.#world.now} ms early`)
    if (before.next === null || after.last === before.last) return
    if (after.next !== (after.last ?? 0) + plan.every)
      fault(`goes on ${(after.next ?? 0) - (after.last ?? 0)} ms later`)
  }

  #paused(_: Course, before: Progress, fault: (text: string) => void): void {
    const late = this.#world.now - (before.next ?? this.#world.now)
    if (late > BEHIND && before.paused === null) fault(`is ${late} ms behind, though all was quiet`)
  }

  /** Of those that were due at once the latest, unless they were too old. */
  #chosen(
    { plan }: Course,
    { tasks }: ScheduleWrite,
    { before, after }: { before: Progress | null; after: Progress },
    fault: (text: string) => void,
  ): void {
    const due: number[] = []
    for (let at = before?.next ?? Number.POSITIVE_INFINITY; at <= (after.last ?? 0); at += plan.every) due.push(at)
    const started = tasks.map(({ id }) => Date.parse(id.slice(plan.name.length + 1)))
    const wanted = due.slice(-plan.limit)
    for (const at of started)
      if (!wanted.includes(at)) fault(`started ${at}, of ${due.join()} with room for ${plan.limit}`)
    const recent = (at: number) => plan.within === undefined || this.#world.now - at <= plan.within
    for (const at of wanted) if (!started.includes(at) && recent(at)) fault(`left out ${at} of ${due.join()}`)
  }

  #started(course: Course, id: string, outcome: SubmitOutcome | undefined, fault: (text: string) => void): void {
    if (course.asked.has(id)) fault(`${id} was started twice`)
    course.asked.add(id)
    if (outcome?.created) {
      course.made.add(id)
      return
    }
    const { heldBy } = outcome ?? {}
    if (heldBy === undefined) return void fault(`${id} was there before it was started`)
    const holder = this.#store.database.get<{ status: string }>('SELECT status FROM triarch_tasks WHERE id = ?', heldBy)
    if (course.plan.overlap !== 'skip') fault(`${id} was left out, though its schedule skips none`)
    if (holder?.status === 'stopped' || !course.made.has(heldBy)) fault(`${id} was skipped for ${heldBy}`)
  }

  /** One task an occurrence, no more, none lost. */
  judge({ tasks }: Evidence): string[] {
    const known = new Set(tasks.map(({ row }) => row.id))
    const strange = (id: string) => {
      const [name = ''] = id.split('@')
      return this.#courses.has(name) && !this.#courses.get(name)?.made.has(id) && !id.includes('~')
    }
    return [
      ...this.#faults,
      ...[...this.#courses.values()].flatMap(({ made }) =>
        [...made].filter((id) => !known.has(id)).map((id) => `${id} was started and is lost`),
      ),
      ...[...known].filter(strange).map((id) => `${id} is there, and its schedule did not start it`),
    ]
  }
}
