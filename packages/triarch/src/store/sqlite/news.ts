import { storeCalls } from '../calls.ts'
import type { ImportedTask, SweepReport, Transition } from '../port.ts'
import type { NotifyWhen } from './file-notifier.ts'
import type { Arguments, OperationName, Operations } from './runner.ts'

/** What was asked of the store and answered, and whether this process takes up what there is to do. */
interface Done<Name extends OperationName> {
  name: Name
  args: Arguments<Name>
  result: ReturnType<Operations[Name]>
  works: boolean
}

/** When other processes are to hear of it; null: never. */
export function newsOf<Name extends OperationName>({ name, args, result, works }: Done<Name>): NotifyWhen | null {
  const { wakes } = storeCalls[name]
  if (wakes === undefined || (name === 'sweep' && foundNothing(result as SweepReport | null))) return null
  if (name === 'importTask' && !(result === true && (args[0] as ImportedTask).ready)) return null
  if (name === 'commit') return newsOfCommit(args[0] as readonly Transition[])
  return works && wakes === 'work' ? 'soon' : 'now'
}

/** Who waits for an end waits for nothing that this process could do; who only watches sees the next commit as well. */
function newsOfCommit(batch: readonly Transition[]): NotifyWhen {
  if (batch.some(isForOthers)) return 'soon'
  return batch.some(({ snapshot }) => snapshot?.status === 'stopped') ? 'now' : 'later'
}

/** As nearly all sweeps do: others are not woken for those. */
function foundNothing(report: SweepReport | null): boolean {
  if (!report) return true
  const { deadNodes, releasedTasks, expiredSteps, overdueTasks } = report
  return deadNodes.length + releasedTasks + expiredSteps + overdueTasks === 0
}

/** Others may have something to do. */
function isForOthers({ work, withdraw, children, posts, gates, release }: Transition): boolean {
  const handed = work.length + withdraw.length + children.length + posts.length
  return handed > 0 || gates !== undefined || release?.ready === true
}
