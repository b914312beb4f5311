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
import { unheard } from '../kernel/wait/mailbox.ts'
import type { NewTask } from '../store/port.ts'
import type { Command } from './command.ts'
import type { Driver } from './driver.ts'
import { batchChild, childParent, childTask, hookTask } from './transition.ts'

/** Takes down what the code has decided, as far as there is room in this turn. */
export function decide(turn: Turn, commands: Command[], children: NewTask[]): void {
  for (;;) {
    const { status, closing, pause } = turn.state
    // A pause holds back what the code asks for, as it holds back what it is told.
    if (status === 'paused' && !closing && !pause?.broken) return
    // Once the task unwinds, or its code waits for a mended version of itself, what it still asks for is void.
    const isVoid = closing !== null || status === 'stopped' || status === 'paused'
    if (!isVoid && commands.length > 0 && isFull(turn)) return
    const command = commands.shift()
    if (!command) return
    const { decision } = command
    // The next run finds the signal that came to nobody.
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

/** A child under an id that the task may have used before is asked itself; where it is not there any more, it is made. */
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

/** The signal is nobody's: the history says why, and somebody may find who sent it. */
function refuse(turn: Turn, decision: Decision, reason: string): void {
  emit(turn, { type: 'messageIgnored', message: 'event', ...('name' in decision && { name: decision.name }), reason })
  alert(turn, 'signal', reason, 'SIGNAL_REFUSED')
}

/** The code cannot go on as it is: the task waits for an operator and a mended version. */
export function pauseFor(turn: Turn, error: TriarchError): void {
  const { state } = turn
  if (state.status === 'paused' || state.status === 'stopped' || state.closing) return
  const reason = error.code === 'HISTORY_MISMATCH' ? 'mismatch' : 'error'
  emit(turn, { type: 'paused', reason, error: toRecord(error) })
  alert(turn, reason, error.message)
}

/** The end of each turn: what the kernel makes of all that happened in it. */
export function conclude(turn: Turn, driver: Driver, children: NewTask[], size: number): void {
  bound(turn, size)
  close(turn)
  holdLost(turn, driver)
  notifyParent(turn)
  for (const spawn of turn.spawned) children.push(batchChild(turn, spawn))
  for (const hook of hookTasks(turn)) children.push(hookTask(turn, hook))
  assertSound(turn)
}

/** A task that outgrew its bounds is undone, with an error that says which. */
export function bound(turn: Turn, size = 0): void {
  const { state } = turn
  // What goes back is read anew first: until then nobody knows what is left of it.
  if (turn.reload || state.status === 'paused' || state.status === 'stopped' || state.closing) return
  const error = outgrown(turn, size)
  if (!error) return
  emit(turn, { type: 'closing', cause: 'limit', compensate: true, error: toRecord(error) })
}

function outgrown({ state, limits }: Turn, size: number): TriarchError | null {
  const advice = 'use continueAsNew or children'
  const { history, historyBytes = Number.POSITIVE_INFINITY } = limits
  // What others sent and the task did not ask for is not its own doing: it has bounds of its own.
  const count = state.ordinal - state.asides
  const mail = count > history || size > historyBytes ? unheard(state) : null
  if (mail && count - mail.letters > history)
    return new TriarchError('HISTORY_TOO_LONG', `the history has more than ${history} events: ${advice}`)
  if (mail && size - mail.bytes > historyBytes)
    return new TriarchError('HISTORY_TOO_LONG', `the history has more than ${historyBytes} bytes: ${advice}`)
  if (isWider(state, limits.fanOut))
    return new TriarchError('FAN_OUT_TOO_WIDE', `more than ${limits.fanOut} steps, timers, waits and children at once`)
  return null
}

function alert(turn: Turn, cause: string, message: string, code?: AlertCode): void {
  turn.alerts.push({ task: turn.state.id, workflow: turn.state.workflow, cause, message, ...(code && { code }) })
}

/** A local step or undo whose code is not there any more would wait for ever: an operator decides. */
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
