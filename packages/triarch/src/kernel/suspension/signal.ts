import type { Message } from '../message.ts'
import { remarkOf } from '../remark.ts'
import type { TaskState } from '../state.ts'
import { idempotencyKey } from '../step/dispatch.ts'
import type { Step } from '../step/step.ts'
import { emit, messageIgnored, type Turn } from '../turn.ts'
import type { SelfSignal } from './suspension.ts'

/** Takes a signal from outside for a step that waits, or may wait again after what it does now. */
export function signalled(turn: Turn, message: Extract<Message, { type: 'signal' }>): void {
  const { state } = turn
  const step = state.steps.get(message.step)
  const gone = whySpent(state, message)
  if (!step || gone) return messageIgnored(turn, message, gone ?? '')
  // A held step must wait for an operator's decision first, so the signal does not wake it.
  const queued = step.held !== null && step.status === 'suspended'
  emit(turn, {
    type: 'stepSignalled',
    id: step.id,
    name: message.name,
    payload: message.payload,
    ...(queued && { queued }),
    ...remarkOf(message),
  })
}

/** Why the step of a token can never take a signal again; null: it can, now or later. */
export function whySpent(state: TaskState, { step: id, key }: { step: number; key: string }): string | null {
  const step = state.steps.get(id)
  if (state.status === 'stopped' || state.closing) return 'the task stops or has stopped'
  if (!step || step.status === 'compensating') return `step ${id} is done`
  // Verification and run share one key.
  return key === idempotencyKey(state, step) ? null : `step ${id} began anew since, under another token`
}

/**
 * Emits the due timeouts of suspended steps, and the due signals they sent to themselves, in order. Returns steps past their complete-by.
 */
export function ring(turn: Turn): Step[] {
  const { state, at } = turn
  const due: { at: number; id: number; name: string; payload: SelfSignal['payload']; own: boolean }[] = []
  const expired: Step[] = []
  for (const [id, { until, selfSignals }] of state.suspensions) {
    const step = state.steps.get(id)
    if (step?.status === 'suspended' && step.expiresAt !== null && step.expiresAt <= at) expired.push(step)
    if (until !== null && until <= at) due.push({ at: until, id, name: 'timeout', payload: null, own: false })
    for (const sent of selfSignals) if (sent.at <= at) due.push({ ...sent, id, own: true })
  }
  due.sort((a, b) => a.at - b.at || a.id - b.id)
  for (const { id, name, payload, own, at: rings } of due) {
    // Another signal woke the step meanwhile, so its timeout is void.
    if (!own && state.suspensions.get(id)?.until !== rings) continue
    emit(turn, { type: 'stepSignalled', id, name, payload, ...(own && { selfSignalAt: rings }) })
  }
  return expired.filter((step) => step.status === 'suspended')
}
