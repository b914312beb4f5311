import type { ImportedTask, SweepReport, Transition } from '../port.ts'
import type { NotifyWhen } from './file-notifier.ts'
import type { Arguments, OperationName, Operations } from './runner.ts'

/** Reads, and writes that nobody waits for. What is not named here the compiler wants in the table below. */
type Silent =
  | ('acquit' | 'adoptWork' | 'alertPosts' | 'alerts' | 'audit' | 'backlogs' | 'beat' | 'beatWork' | 'breakers')
  | ('bury' | 'changes' | 'claim' | 'counts' | 'dropSchedule' | 'elect' | 'fly' | 'follow' | 'forget')
  | ('heads' | 'held' | 'inbox' | 'invalidated' | 'keyMark' | 'keys' | 'land' | 'lead' | 'leaders')
  | ('letters' | 'list' | 'locks' | 'logs' | 'look' | 'lost' | 'marks' | 'nextWake' | 'nodes' | 'owned')
  | ('parked' | 'probes' | 'prune' | 'pulses' | 'quarantine' | 'queued' | 'queues' | 'recall' | 'records')
  | ('recount' | 'remember' | 'replay' | 'schedules' | 'seats' | 'settingChanges' | 'settings')
  | ('settleAlertPost' | 'takeWork' | 'tallies' | 'tally' | 'task' | 'trimAudit' | 'useKeys' | 'waiting')
  | ('writeAlert' | 'writeAudit' | 'writeKey' | 'writeLogs' | 'writeProbes' | 'secrets' | 'writeSecret')

/** What others wait for: `work`, which a node of this process may take up as well, or what it can do nothing about. */
const told: Readonly<Record<Exclude<OperationName, Silent>, 'work' | 'done'>> = {
  ...{ commit: 'work', submit: 'work', importTask: 'work', post: 'work', effect: 'work', sweep: 'work' },
  ...{ lift: 'work', cut: 'work', terminate: 'work', resign: 'work', invalidate: 'work' },
  ...{ writeSchedule: 'work', writeBreaker: 'work', writeSetting: 'work' },
  ...{ reply: 'done', leave: 'done' },
}

/** What was asked of the store and answered, and whether this process takes up what there is to do. */
interface Done<Name extends OperationName> {
  name: Name
  args: Arguments<Name>
  result: ReturnType<Operations[Name]>
  works: boolean
}

/** When other processes are to hear of it; null: never. */
export function newsOf<Name extends OperationName>({ name, args, result, works }: Done<Name>): NotifyWhen | null {
  const what = (told as Partial<Record<OperationName, 'work' | 'done'>>)[name]
  if (what === undefined || (name === 'sweep' && foundNothing(result as SweepReport | null))) return null
  if (name === 'importTask' && !(result === true && (args[0] as ImportedTask).ready)) return null
  if (name === 'commit') return newsOfCommit(args[0] as readonly Transition[])
  return works && what === 'work' ? 'soon' : 'now'
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
