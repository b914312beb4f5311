import { storeCalls } from '../calls.ts'
import type { ImportedTask, SweepReport, Transition } from '../port.ts'
import type { NotifyWhen } from './file-notifier.ts'
import type { Arguments, OperationName, Operations } from './runner.ts'

/** A finished call, and whether this process processes work itself. */
interface Done<Name extends OperationName> {
  name: Name
  args: Arguments<Name>
  result: ReturnType<Operations[Name]>
  works: boolean
}

/** Returns when other processes are notified of the call; null: never. */
export function notifyWhen<Name extends OperationName>({ name, args, result, works }: Done<Name>): NotifyWhen | null {
  const { wakes } = storeCalls[name]
  if (wakes === undefined || (name === 'sweep' && foundNothing(result as SweepReport | null))) return null
  if (name === 'importTask' && !(result === true && (args[0] as ImportedTask).ready)) return null
  if (name === 'commit') return notifyWhenOfCommit(args[0] as readonly Transition[])
  return works && wakes === 'work' ? 'soon' : 'now'
}

/**
 * A process that waits for the end of a task is notified at once, because this process cannot do that for it; one that
 * only watches is notified with the next commit.
 */
function notifyWhenOfCommit(batch: readonly Transition[]): NotifyWhen {
  if (batch.some(isForOthers)) return 'soon'
  return batch.some(({ snapshot }) => snapshot?.status === 'stopped') ? 'now' : 'later'
}

/** Nearly all sweeps recover nothing: other processes are not woken for those. */
function foundNothing(report: SweepReport | null): boolean {
  if (!report) return true
  const { deadNodes, releasedTasks, expiredSteps, overdueTasks } = report
  return deadNodes.length + releasedTasks + expiredSteps + overdueTasks === 0
}

/** Whether the transition may give other nodes something to do. */
function isForOthers({ work, withdraw, children, posts, gates, release }: Transition): boolean {
  const handed = work.length + withdraw.length + children.length + posts.length
  return handed > 0 || gates !== undefined || release?.ready === true
}
