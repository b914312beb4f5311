import { idempotencyKey } from './dispatch.ts'
import type { Message } from './message.ts'
import type { Alarm, Step } from './state.ts'
import { emit, type Turn } from './turn.ts'

/** Takes an event from outside. False: nobody waits for it (any more). */
export function signalled(turn: Turn, message: Extract<Message, { type: 'signal' }>): boolean {
  const { state } = turn
  const step = state.steps.get(message.step)
  if (
    !step ||
    (step.status !== 'running' && step.status !== 'suspended') ||
    idempotencyKey(state, step) !== message.key
  )
    return false
  if ((state.suspensions.get(step.id)?.queue.length ?? 0) >= turn.limits.mailbox || state.unwinding) return false
  emit(turn, { type: 'stepSignalled', id: step.id, name: message.name, payload: message.payload })
  return true
}

/** Alarms and timeouts of suspended steps whose instant has come, in order. Steps past their complete-by are returned. */
export function ring(turn: Turn): Step[] {
  const { state, at } = turn
  const due: { at: number; id: number; name: string; payload: Alarm['payload']; alarm: boolean }[] = []
  const expired: Step[] = []
  for (const [id, { until, alarms }] of state.suspensions) {
    const step = state.steps.get(id)
    if (step?.status === 'suspended' && step.expiresAt !== null && step.expiresAt <= at) expired.push(step)
    if (until !== null && until <= at) due.push({ at: until, id, name: 'timeout', payload: null, alarm: false })
    for (const alarm of alarms) if (alarm.at <= at) due.push({ ...alarm, id, alarm: true })
  }
  due.sort((a, b) => a.at - b.at || a.id - b.id)
  for (const { id, name, payload, alarm, at: rings } of due) {
    // Another event woke it meanwhile: it is not late any more.
    if (!alarm && state.suspensions.get(id)?.until !== rings) continue
    emit(turn, { type: 'stepSignalled', id, name, payload, ...(alarm && { alarm: rings }) })
  }
  return expired.filter((step) => step.status === 'suspended')
}
