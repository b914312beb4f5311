import { TriarchError } from '../error/error.ts'
import { toRecord } from '../error/record.ts'
import type { AlertCode } from '../kernel/alert.ts'
import { mayExist } from '../kernel/child/again.ts'
import type { Decision } from '../kernel/event.ts'
import { isFull } from '../kernel/load.ts'
import { assertSound } from '../kernel/soundness.ts'
import { isDispatchable, isWider } from '../kernel/step/dispatch.ts'
import { hold } from '../kernel/step/failure.ts'
import { close } from '../kernel/task/close.ts'
import { hookTasks } from '../kernel/task/hook.ts'
import { notifyParent } from '../kernel/task/stop.ts'
import { emit, type Turn } from '../kernel/turn.ts'
import { unreadSignals } from '../kernel/wait/mailbox.ts'
import type { NewTask } from '../store/port.ts'
import type { Command } from './command.ts'
import type { Driver } from './driver.ts'
import { batchChild, childParent, childTask, hookTask } from './transition.ts'

/** Takes the code's decisions into the turn, as far as the turn has room. */
export function decide(turn: Turn, commands: Command[], children: NewTask[]): void {
  for (;;) {
    const { status, closing, pause } = turn.state
    // A paused task takes no decisions, just as it delivers no outcomes to the code.
    if (status === 'paused' && !closing && !pause?.broken) return
    // Decisions are void once the task unwinds, or while it waits for a corrected version of its code.
    const isVoid = closing !== null || status === 'stopped' || status === 'paused'
    if (!isVoid && commands.length > 0 && isFull(turn)) return
    const command = commands.shift()
    if (!command) return
    const { decision } = command
    // A signal that came for a wait that was cancelled is kept for the next run of a task that continues as new.
    if (isVoid && !(decision.type === 'waitCancelled' && closing?.cause === 'continue')) continue
    if (decision.type === 'threw' && decision.rescue === 'pause') {
      emit(turn, { type: 'paused', reason: 'error', error: decision.error })
      alert(turn, 'error', decision.error.message)
      continue
    }
    if (command.refused !== undefined) refuse(turn, decision, command.refused)
    const again = askAgain(turn, command)
    emit(turn, again ? { ...decision, ...again } : decision)
    const child = childTask(turn, command)
    if (!child) continue
    children.push(child)
    turn.load.size += child.events.length
  }
}

/** If the task may have used the child's id before, the child is asked for its outcome; it is created only if it no longer exists. */
function askAgain(turn: Turn, { decision, child }: Command): { asked: true } | null {
  if (decision.type !== 'childStarted' || child?.ifExists === undefined || !mayExist(turn.state, decision.task))
    return null
  const { task, workflow, version } = decision
  const { input, ifExists, completeWithin } = child
  const message = { type: 'again' as const, parent: childParent(turn, decision), workflow, version, input, ifExists }
  const secretTexts = turn.state.secrets?.texts.within(input) ?? []
  const rest = {
    ...(completeWithin !== undefined && { completeWithin }),
    ...(secretTexts.length > 0 && { secretTexts }),
  }
  turn.posts.push({
    task,
    message: { ...message, ...rest },
    control: true,
  })
  return { asked: true }
}

/** Nothing took the signal. The history records the reason, so that the sender's mistake can be found. */
function refuse(turn: Turn, decision: Decision, reason: string): void {
  emit(turn, { type: 'messageIgnored', message: 'event', ...('name' in decision && { name: decision.name }), reason })
  alert(turn, 'signal', reason, 'SIGNAL_REFUSED')
}

/** The code cannot go on as it is: the task pauses until an operator resumes it with a corrected version. */
export function pauseFor(turn: Turn, error: TriarchError): void {
  const { state } = turn
  if (state.status === 'paused' || state.status === 'stopped' || state.closing) return
  const reason = error.code === 'HISTORY_MISMATCH' ? 'mismatch' : 'error'
  emit(turn, { type: 'paused', reason, error: toRecord(error) })
  alert(turn, reason, error.message)
}

/** Ends a turn: applies the limits, then what the kernel concludes from the turn's events. */
export function conclude(turn: Turn, driver: Driver, children: NewTask[], size: number): void {
  bound(turn, size)
  close(turn)
  holdLost(turn, driver)
  notifyParent(turn)
  for (const spawn of turn.spawned) children.push(batchChild(turn, spawn))
  for (const hook of hookTasks(turn)) children.push(hookTask(turn, hook))
  assertSound(turn)
}

/** A task that exceeds its limits is undone, with an error that names the limit. */
export function bound(turn: Turn, size = 0): void {
  const { state } = turn
  // A task that is being rewound is read anew first; only then is it known what is left of it.
  if (turn.reload || state.status === 'paused' || state.status === 'stopped' || state.closing) return
  const error = outgrown(turn, size)
  if (!error) return
  emit(turn, { type: 'closing', cause: 'limit', compensate: true, error: toRecord(error) })
}

function outgrown({ state, limits }: Turn, size: number): TriarchError | null {
  const advice = 'use continueAsNew or children'
  const { history, historyBytes = Number.POSITIVE_INFINITY } = limits
  // Messages that others sent and that the task did not ask for do not count here: they have limits of their own.
  const count = state.ordinal - state.asides
  const unread = count > history || size > historyBytes ? unreadSignals(state) : null
  if (unread && count - unread.letters > history)
    return new TriarchError('HISTORY_TOO_LONG', `the history has more than ${history} events: ${advice}`)
  if (unread && size - unread.bytes > historyBytes)
    return new TriarchError('HISTORY_TOO_LONG', `the history has more than ${historyBytes} bytes: ${advice}`)
  if (isWider(state, limits.fanOut))
    return new TriarchError('FAN_OUT_TOO_WIDE', `more than ${limits.fanOut} steps, timers, waits and children at once`)
  return null
}

function alert(turn: Turn, cause: string, message: string, code?: AlertCode): void {
  turn.alerts.push({ task: turn.state.id, workflow: turn.state.workflow, cause, message, ...(code && { code }) })
}

/** A local step or undo whose code no longer exists would wait for ever, so it is held for an operator's decision. */
function holdLost(turn: Turn, driver: Driver): void {
  const { state, at } = turn
  if (!driver.misses || state.status === 'stopped') return
  for (const step of state.steps.values()) {
    if (!driver.misses(step) || !isDispatchable(state, step, at)) continue
    const message = `the workflow has no code for step ${step.id} (${step.name}) any more`
    hold(turn, step, step.operation === 'undo' ? 'undo' : 'error', {
      name: 'TriarchError',
      code: 'HISTORY_MISMATCH',
      message,
    })
  }
}
