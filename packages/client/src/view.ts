import type {
  AgentPage,
  Explanation,
  ExportedRecord,
  HealthReport,
  HistoryEntry,
  HistoryEvent,
  LeaderPage,
  LockPage,
  LogLine,
  LogPage,
  NodeInfo,
  PlanView,
  ScheduleInfo,
  StepView,
  TaskDetails,
  TaskInfo,
  TaskMoment,
  TaskPage,
  WorkflowPage,
} from 'triarch'
import { array, date, dated, object, text } from './shape.ts'

// What the server shows, as `Triarch` shows it: instants are Dates.

export function taskInfo(value: unknown): TaskInfo {
  const info = dated(value, 'submittedAt', 'updatedAt', 'wakeAt')
  text(info.id)
  text(info.status)
  if (!info.submittedAt || !info.updatedAt) throw new TypeError('no instants')
  const { waits, pausedBy, ...rest } = info
  return {
    ...rest,
    ...(waits !== undefined && { waits: array(waits, (wait) => dated(wait, 'until')) }),
    ...(pausedBy !== undefined && { pausedBy: array(pausedBy, (pause) => dated(pause, 'since')) }),
  } as unknown as TaskInfo
}

export function taskDetails(value: unknown): TaskDetails {
  array(object(value).steps, object)
  return taskInfo(value) as TaskDetails
}

export function taskPage(value: unknown): TaskPage {
  const page = object(value)
  return { ...page, tasks: array(page.tasks, taskInfo) }
}

export function logPage(value: unknown): LogPage {
  const page = object(value)
  return { ...page, lines: array(page.lines, logLine) } as LogPage
}

export function logLine(value: unknown): LogLine {
  return dated(value, 'at') as unknown as LogLine
}

export function taskMoment(value: unknown): TaskMoment {
  const moment = dated(value, 'at')
  const events = array(moment.events, historyEvent)
  return { ...moment, events, steps: stepViews(value) } as unknown as TaskMoment
}

export function stepViews(value: unknown): StepView[] {
  return array(object(value).steps, (it) => {
    const { cached, ...step } = dated(it, 'requestedAt', 'endedAt')
    return { ...step, ...(cached !== undefined && { cached: dated(cached, 'at') }) } as unknown as StepView
  })
}

export function historyEntries(value: unknown): HistoryEntry[] {
  return array(object(value).records, (record) => {
    const events = array(object(record).events, historyEvent)
    return { ...dated(record, 'at'), events } as unknown as HistoryEntry
  })
}

/** All instants that an event has. */
const instants = [
  'at',
  'until',
  'startAt',
  'startBefore',
  'completeBy',
  'startedAt',
  'endedAt',
  'selfSignalAt',
] as const

function historyEvent(value: unknown): HistoryEvent {
  const { next, selfSignals, cached, ...event } = dated(value, ...instants)
  text(event.type)
  return {
    ...event,
    ...(next !== undefined && { next: dated(next, 'at') }),
    ...(cached !== undefined && { cached: dated(cached, 'at') }),
    ...(selfSignals !== undefined && { selfSignals: array(selfSignals, (sent) => dated(sent, 'at')) }),
  } as unknown as HistoryEvent
}

export function exportedRecords(value: unknown): ExportedRecord[] {
  return array(object(value).records, (record) => {
    array(object(record).events, object)
    return record as ExportedRecord
  })
}

export function planView(value: unknown): PlanView | null {
  const { plan } = object(value)
  if (plan === null) return null
  array(object(plan).steps, object)
  return plan as PlanView
}

export function explanation(value: unknown): Explanation {
  const said = object(value)
  const reasons = array(said.reasons, (reason) => {
    const { next, ...rest } = dated(reason, 'since', 'until', 'completeBy', 'at')
    return { ...rest, ...(next !== undefined && { next: dated(next, 'at') }) }
  })
  return { ...said, reasons, holds: array(said.holds, (hold) => dated(hold, 'since')) } as unknown as Explanation
}

export function scheduleInfo(value: unknown): ScheduleInfo {
  const { paused, failing, ...rest } = dated(value, 'next', 'last')
  return {
    ...withPauses(rest),
    ...(paused !== undefined && { paused: dated(paused, 'since') }),
    ...(failing !== undefined && { failing: dated(failing, 'since') }),
  } as unknown as ScheduleInfo
}

/** What operators have paused, or closed, by settings; what they have not is not there. */
function withPauses({ pausedBy, closedBy, ...rest }: Record<string, unknown>): object {
  return {
    ...rest,
    ...(pausedBy !== undefined && { pausedBy: dated(pausedBy, 'since') }),
    ...(closedBy !== undefined && { closedBy: dated(closedBy, 'since') }),
  }
}

export function nodeInfos(value: unknown): NodeInfo[] {
  return array(object(value).nodes, (node) => {
    const { startedAt, leaseUntil, runs, place, ...rest } = object(node)
    array(rest.roles, text)
    return {
      ...{ ...rest, startedAt: date(startedAt), leaseUntil: date(leaseUntil) },
      ...{ runs, place },
    } as unknown as NodeInfo
  })
}

export function workflowPage(value: unknown): WorkflowPage {
  const page = object(value)
  const workflows = array(page.workflows, (workflow) => {
    const { name, versions, pausedBy, closedBy } = object(workflow)
    return { name: text(name), versions: array(versions, object), ...withPauses({ pausedBy, closedBy }) }
  })
  return { ...page, workflows } as unknown as WorkflowPage
}

export function agentPage(value: unknown): AgentPage {
  const page = object(value)
  const agents = array(page.agents, (agent) => {
    const { queue, ...rest } = object(agent)
    const { oldest, ...depth } = object(queue)
    return { ...withPauses(rest), queue: { ...depth, ...(oldest !== undefined && { oldest: dated(oldest, 'since') }) } }
  })
  return { ...page, agents } as unknown as AgentPage
}

export function leaderPage(value: unknown): LeaderPage {
  const page = object(value)
  const leaders = array(page.leaders, (leader) => {
    const { name, node, token } = object(leader)
    return { name: text(name), node: node === undefined ? undefined : text(node), token }
  })
  return { ...page, leaders } as unknown as LeaderPage
}

export function lockPage(value: unknown): LockPage {
  const page = object(value)
  const locks = array(page.locks, (lock) => {
    const { next, ...rest } = dated(lock, 'since')
    return { ...rest, next: array(next, (one) => dated(one, 'since')) }
  })
  return { ...page, locks } as unknown as LockPage
}

export function healthReport(value: unknown): HealthReport {
  const { checks, ...rest } = dated(value, 'at')
  text(rest.status)
  const reports = array(checks, (one) => {
    const { lastError, ...check } = dated(one, 'at', 'since')
    text(check.name)
    return { ...check, ...(lastError !== undefined && { lastError: dated(lastError, 'at') }) }
  })
  // Undefined is not said in JSON.
  return { node: undefined, ...rest, checks: reports } as unknown as HealthReport
}
