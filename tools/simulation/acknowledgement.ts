import { apply } from '../../packages/triarch/src/kernel/apply.ts'
import { newState } from '../../packages/triarch/src/kernel/state.ts'
import { legibleOutline } from '../../packages/triarch/src/store/record.ts'
import type { SharedStore } from '../../packages/triarch/src/testing/shared.ts'
import type { AgentMessage, AgentResponse } from '../../packages/triarch/src/wire/message.ts'
import { ticketOf } from '../../packages/triarch/src/wire/ticket.ts'
import { asWritten } from './poison.ts'

const RECORDS = `
SELECT h.at, h.events FROM triarch_history h JOIN triarch_tasks t ON t.key = h.task WHERE t.id = ? ORDER BY h.seq`
const LETTERS = 'SELECT i.message FROM triarch_inbox i JOIN triarch_tasks t ON t.key = i.task WHERE t.id = ?'

/** What servers acknowledge is durable: in the history, or on its way into it. */
export class Acknowledgements {
  readonly #store: SharedStore
  readonly #faults: string[]
  /** Attempts that were answered, by their names: those whose outcome is to be recorded before that is acknowledged. */
  readonly #answered = new Set<string>()

  /** `faults`: where what is not as it should be is written down. */
  constructor(store: SharedStore, faults: string[]) {
    this.#store = store
    this.#faults = faults
  }

  /** By an agent's process, of a server. */
  asked(message: AgentMessage): void {
    if (message.type === 'suspend' || (message.type === 'reply' && message.outcome.kind !== 'withdrawn'))
      this.#answered.add(message.attempt)
  }

  /** By a server. */
  said({ messages }: AgentResponse): void {
    for (const message of messages) {
      if (message.type !== 'ack' || message.late || !this.#answered.has(message.attempt)) continue
      const ticket = ticketOf(message.attempt.split('.')[1] ?? '')
      if (!ticket || this.#isRecorded(ticket)) continue
      const { task, step, operation, attempt } = ticket
      this.#faults.push(
        `the answer of ${operation} attempt ${attempt} of step ${step} of ${task} was acknowledged, and is not recorded`,
      )
    }
  }

  #isRecorded({ task, step: id, operation, attempt }: NonNullable<ReturnType<typeof ticketOf>>): boolean {
    const { database } = this.#store
    const state = newState(task)
    for (const { at, events } of database.all<{ at: number; events: string }>(RECORDS, task))
      for (const event of legibleOutline(asWritten(events)) ?? []) {
        apply(state, event, at, [])
        const { type } = event
        // Its step may be held, as it is, for somebody to decide.
        if (type === 'attemptFailed' && event.id === id && event.operation === operation && event.attempt === attempt)
          return true
      }
    const step = state.steps.get(id)
    const isOpen = step?.status === 'pending' || step?.status === 'running'
    if (!isOpen || step.operation !== operation || step.attempt !== attempt) return true
    return database.all<{ message: string }>(LETTERS, task).some(({ message }) => {
      const reply = JSON.parse(message) as { type: string; step?: number; attempt?: number }
      return reply.type === 'reply' && reply.step === id && reply.attempt === attempt
    })
  }
}
