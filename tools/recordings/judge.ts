import { isDeepStrictEqual } from 'node:util'
import type { Json } from 'triarch'
import { EventLoopYield } from '../../packages/triarch/src/environment/event-loop-yield.ts'
import { rebuild } from '../../packages/triarch/src/kernel/rebuild.ts'
import { replay } from '../../packages/triarch/src/scheduler/function/replay.ts'
import { FunctionRun } from '../../packages/triarch/src/scheduler/function/run.ts'
import { datedEvents } from '../../packages/triarch/src/scheduler/history.ts'
import type { TaskRow } from '../../packages/triarch/src/store/port.ts'
import type { SharedStore } from '../../packages/triarch/src/testing/shared.ts'
import { VirtualEnvironment } from '../../packages/triarch/src/testing/virtual.ts'
import { World } from '../../packages/triarch/src/testing/world.ts'
import { infoOf } from '../../packages/triarch/src/view/status.ts'
import type { Feature } from './feature.ts'
import type { Recording } from './recording.ts'
import { seed } from './seed.ts'
import { Stage } from './stage.ts'
import { codeOf, type View, viewOf } from './view.ts'

const PAYLOAD = 262_144
/** Time that a task has to come to its end after it was taken over (s), in looks that become longer. */
const LONGEST = 2 * 86_400
/** What the application meets when what it asks for is done already, or is not to be done yet. */
const tolerated = new Set(['TASK_STOPPED', 'TASK_NOT_PAUSED', 'ILLEGAL_MOVE', 'LOCK_HELD'])

/** The tasks as today's code shows them from the whole recording. */
export async function shown(store: SharedStore, feature: Feature, recording: Recording): Promise<View[]> {
  const world = new World()
  const stage = new Stage({ feature, store, world })
  try {
    seed(store, recording, recording.commits.length)
    return await stage.during(() => Promise.all(recording.tasks.map(({ id }) => viewOf(stage.triarch, id))))
  } finally {
    stage.leave()
  }
}

/** Where the code of today and a recorded history disagree, by task. */
export async function mismatches({ workflows }: Feature, { commits, tasks }: Recording): Promise<string[]> {
  const found: string[] = []
  const environment = new VirtualEnvironment()
  const eventLoopYield = new EventLoopYield(environment)
  for (const { id, workflow: name } of tasks) {
    const records = commits.flatMap(({ records = [] }) => records).filter(({ task }) => task === id)
    const rebuilt = rebuild(id, datedEvents(records))
    const { version, begun } = rebuilt.state
    const workflow = workflows.find((one) => one.name === name && one.version === version)
    if (!workflow) found.push(`${id}: nobody knows ${name} in version ${version}`)
    else if (begun && workflow.definition.run) {
      const strays: unknown[] = []
      const driver = new FunctionRun(workflow, rebuilt, PAYLOAD, (error) => strays.push(error))
      await replay({ environment, eventLoopYield }, driver, rebuilt)
      for (const error of [driver.failure ?? [], strays].flat()) found.push(`${id}: ${String(error)}`)
    }
  }
  return found
}

/** The ends of the tasks, where all stopped after so many commits and another process went on. */
export async function takenOver(
  store: SharedStore,
  feature: Feature,
  recording: Recording,
  count: number,
): Promise<End[]> {
  const world = new World({ seed: count })
  world.now = recording.commits[count - 1]?.at ?? recording.began
  const stage = new Stage({ feature, store, world })
  try {
    seed(store, recording, count)
    await stage.start()
    for (const [index, act] of feature.script.entries()) {
      const done = (recording.acts[index] ?? 0) < count
      if (done && !act.always) continue
      await world.run(Math.max(0, recording.began + act.at * 1_000 - world.now))
      const error = (await stage.act(act)) as { code?: string } | undefined
      if (error && !tolerated.has(error.code ?? '')) throw error
    }
    const wanted = recording.tasks.map(endOf)
    const found = () => recording.tasks.map(({ id }) => endIn(store, id))
    for (let [waited, look] = [0, 1]; waited < LONGEST; waited += look, look *= 2) {
      await world.run(look * 1_000)
      if (isDeepStrictEqual(found(), wanted)) break
    }
    return found()
  } finally {
    stage.leave()
  }
}

/** What must be the same however often a task is taken over: not how often its steps were tried, nor what says so. */
export interface End {
  id: string
  status: string
  result: string
  output: Json | null
  error: string | null
  pause: string | null
}

export function endOf({ id, status, result, output = null, error, pause }: View): End {
  return { id, status, result, output, error: error?.split(':')[0] ?? null, pause: pause ?? null }
}

function endIn(store: SharedStore, id: string): End {
  const row = store.perform('task', [id]) as TaskRow | null
  if (!row) return { id, status: 'unknown', result: 'unknown', output: null, error: null, pause: null }
  const { status, outcome: result, output = null, error, pause } = infoOf(row)
  return { id, status, result, output, error: error ? codeOf(error) : null, pause: pause?.cause ?? null }
}
