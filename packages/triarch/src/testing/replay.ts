import type { Workflow } from '../definition/definition.ts'
import { EventLoopYield } from '../environment/event-loop-yield.ts'
import { TriarchError } from '../error/error.ts'
import { toRecord } from '../error/record.ts'
import type { ErrorRecord } from '../kernel/json.ts'
import { type Rebuilt, rebuild } from '../kernel/rebuild.ts'
import { replay } from '../scheduler/function/replay.ts'
import { FunctionRun } from '../scheduler/function/run.ts'
import { DEFAULT_PAYLOAD_LIMIT } from '../value/payload.ts'
import { eventsOfExport, type TaskExport } from '../view/export.ts'
import { VirtualEnvironment } from './virtual.ts'

/**
 * The result of comparing code with a history.
 * @example
 * const { decisions, error } = await replayHistory(await task.export(), [fulfil])
 * if (error) throw new Error(`after ${decisions} decisions: ${error.message}`)
 */
export interface ReplayReport {
  /** The name of the workflow. */
  workflow: string
  /** The version of the workflow. */
  version: string
  /** Number of decisions of the current or last run, all of which were compared. */
  decisions: number
  /** HISTORY_MISMATCH, WORKFLOW_MISUSE or another error of the code; UNKNOWN_WORKFLOW: it was not given. Absent: they agree. */
  error?: ErrorRecord
}

/**
 * Runs the code of a workflow against the history of a task, as a node does that takes the task over: each decision is compared, and no
 * step is run. The history is the result of `task.export()`, also from a file. A plan has no code to compare. Throws HISTORY_CORRUPT,
 * HISTORY_FORMAT_UNKNOWN.
 * @example
 * const task = triarch.tasks.get('o-1')
 * const report = await replayHistory(await task.export(), [fulfil])
 */
export async function replayHistory(exported: TaskExport, workflows: readonly Workflow[]): Promise<ReplayReport> {
  const rebuilt = rebuiltFrom(exported)
  const { workflow: name, version } = rebuilt.state
  const report: ReplayReport = { workflow: name, version, decisions: rebuilt.decisions.length }
  const workflow = workflows.find((one) => one.name === name && one.version === version)
  if (!workflow) {
    const unknown = new TriarchError('UNKNOWN_WORKFLOW', `workflow "${name}" version "${version}" was not given`)
    return { ...report, error: toRecord(unknown) }
  }
  if (!rebuilt.state.begun || workflow.definition.run === undefined) return report
  const environment = new VirtualEnvironment()
  const strays: unknown[] = []
  const run = new FunctionRun(workflow, rebuilt, DEFAULT_PAYLOAD_LIMIT, (error) => strays.push(error))
  await replay({ environment, eventLoopYield: new EventLoopYield(environment) }, run, rebuilt)
  const error = run.failure ?? strays[0]
  return error ? { ...report, error: toRecord(error) } : report
}

function rebuiltFrom(exported: TaskExport): Rebuilt {
  const { task } = exported
  const corrupt = (cause?: unknown) =>
    new TriarchError('HISTORY_CORRUPT', `the history of task "${task}" has gaps, or contradicts itself`, { cause })
  const whole = exported.records.every(({ seq, error, missing }, index) => seq === index + 1 && !error && !missing)
  const dated = eventsOfExport(exported)
  if (!whole || dated[0]?.event.type !== 'submitted') throw corrupt()
  try {
    return rebuild(task, dated)
  } catch (cause) {
    throw corrupt(cause)
  }
}
