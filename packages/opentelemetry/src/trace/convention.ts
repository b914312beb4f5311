// What OpenTelemetry's semantic conventions (1.45) have for who sends and who processes: a submission and a step's request are messages.
import type { Attributes } from '@opentelemetry/api'

const SYSTEM = 'triarch'

/** Of who sends: a submission to a workflow, a step's request to an agent. Without an id: it has none yet, or nobody here knows it. */
export function sent(destination: string, operation: 'submit' | 'request', id: string | undefined): Attributes {
  return {
    ...{ 'messaging.system.name': SYSTEM, 'messaging.operation.type': 'send', 'messaging.operation.name': operation },
    ...{ 'messaging.destination.name': destination, ...(id !== undefined && { 'messaging.message.id': id }) },
  }
}

/** Of who processes it. What belongs to one task is one conversation. */
export function processed(destination: string, operation: string, of: { task: string; id?: string }): Attributes {
  return {
    ...{
      'messaging.system.name': SYSTEM,
      'messaging.operation.type': 'process',
      'messaging.operation.name': operation,
    },
    ...{ 'messaging.destination.name': destination, 'messaging.message.conversation_id': of.task },
    ...(of.id !== undefined && { 'messaging.message.id': of.id }),
  }
}

/** The agent of an action such as `payments.charge`. */
export function agentOf(action: string): string {
  return action.slice(0, action.indexOf('.'))
}
