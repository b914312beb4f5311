import { invariant } from './invariant.ts'
import type { PlanState } from './plan/plan.ts'
import type { TaskState } from './state.ts'
import { isOutstanding, type Turn } from './turn.ts'

/** Checks the invariants of a task at the end of a turn: a few comparisons, and more only once the task has stopped. */
export function assertSound({ state, events, reload }: Pick<Turn, 'state' | 'events' | 'reload'>): void {
  // After a rewind the state is only known once the history has been read again.
  if (reload) return
  const { status, result, pause, closing, undoBegun, firstId, nextId, endId, plan } = state
  invariant(status !== 'stopped' || result !== 'pending', 'a task that has stopped has a result')
  invariant((status === 'paused') === (pause !== null), 'a task is paused for a reason, and has none otherwise')
  invariant(status !== 'compensating' || (closing !== null && undoBegun), 'a task is undone for a reason')
  invariant(firstId <= nextId && nextId <= endId, 'no decision has the id of another')
  if (plan) assertPlan(plan)
  if (status === 'stopped' && events.some(({ type }) => type === 'stopped')) assertEnded(state)
}

function assertPlan({ open, left, weight, finalized, finalizers }: PlanState): void {
  invariant(open >= 0 && left >= 0, 'a planned step is settled once')
  invariant(weight.done <= weight.all, 'no more of a plan is done than there is')
  invariant(finalized <= finalizers.length, 'no more of a plan is finalized than is to be')
}

/** Checks that nothing of a stopped task goes on. */
function assertEnded({ closing, timers, waits, mailbox, steps, locks }: TaskState): void {
  invariant(closing === null, 'a task that has stopped does not stop any more')
  invariant(timers.size + waits.size + mailbox.length === 0, 'a task that has stopped waits for nothing')
  for (const step of steps.values()) invariant(!isOutstanding(step), 'a task that has stopped has no attempt under way')
  for (const { standing } of locks.values()) invariant(standing !== 'held', 'a task that has stopped has no lock')
}
