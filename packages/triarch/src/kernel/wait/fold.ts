import { deliver } from '../delivery.ts'
import type { Folds } from '../fold.ts'
import { decided } from '../state.ts'
import type { WaitDecision, WaitFact } from './event.ts'
import { putSignal, takeSignal } from './mailbox.ts'

export const waitFolds: Folds<WaitDecision | WaitFact> = {
  timerStarted(state, { id, until }) {
    decided(state, id)
    state.timers.set(id, until)
  },
  timerFired(state, { id }, _at, deliveries) {
    state.timers.delete(id)
    deliver(state, deliveries, { id, ok: true, value: null })
  },
  waitStarted(state, event, _at, deliveries) {
    decided(state, event.id)
    const signal = takeSignal(state, event)
    if (signal) deliver(state, deliveries, { id: event.id, ok: true, value: signal.payload })
  },
  signalReceived(state, event, _at, deliveries) {
    const id = putSignal(state, event)
    if (id !== undefined) deliver(state, deliveries, { id, ok: true, value: event.payload })
  },
  waitTimedOut(state, { id }, _at, deliveries) {
    const name = state.waits.get(id)?.name ?? ''
    state.waits.delete(id)
    deliver(state, deliveries, { id, ok: false, reason: 'timeout', name })
  },
}
