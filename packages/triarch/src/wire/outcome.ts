import { TriarchError } from '../error/error.ts'
import { toRecord } from '../error/record.ts'
import { checkedWait } from '../error/step-error.ts'
import type { Outcome, Reply } from '../kernel/message.ts'
import type { Operation } from '../kernel/step/step.ts'
import { encode } from '../value/payload.ts'
import type { RemoteOutcome, RemotePage } from './message.ts'
import type { Answer } from './unacknowledged.ts'

/** A page may be this many times as large as another payload, as for agents in the same process. */
const PAGE_PAYLOADS = 64

/** Converts an agent's answer into an outcome. An answer that cannot be recorded becomes a failure of the agent, whose work may be done. */
export function outcomeOf(answer: Answer, operation: Operation, payload: number): Outcome {
  try {
    return answer.type === 'suspend'
      ? suspension(answer, operation, payload)
      : result(answer.outcome, operation, payload)
  } catch (error) {
    const done = answer.type === 'reply' && answer.outcome.kind === 'done'
    return {
      ...{ kind: 'failed', error: toRecord(error), retryable: false, unknown: true },
      ...(done && { done: true as const }),
    }
  }
}

/** The answer's checkpoint; undefined if there is none or it cannot be recorded. */
export function checkpointOf({ checkpoint }: Answer, payload: number): Reply['checkpoint'] {
  try {
    return checkpoint === undefined ? undefined : encode(checkpoint, 'checkpoint', payload)
  } catch {
    return undefined
  }
}

function result(outcome: RemoteOutcome, operation: Operation, payload: number): Outcome {
  switch (outcome.kind) {
    case 'done': {
      const { output, cached } = outcome
      const given = operation === 'undo' ? null : encode(output, 'output', payload)
      return { kind: 'done', output: given, ...(cached && { cached }) }
    }
    case 'not-done':
    case 'unknown':
      if (operation === 'verify') return outcome
      throw new TriarchError('STEP_MISUSE', `only verify can answer "${outcome.kind}"`)
    case 'withdrawn':
      return { kind: 'withdrawn', after: checkedWait(outcome.after) ?? 0 }
    case 'failed': {
      const { error, retryable, unknown, done, lost, cached } = outcome
      const retryAfter = checkedWait(outcome.retryAfter)
      return {
        ...{ kind: 'failed', error: toRecord(error), retryable },
        ...(retryAfter !== undefined && { retryAfter }),
        ...(unknown && { unknown }),
        ...(done && { done }),
        ...(lost && { lost }),
        ...(cached && { cached }),
      }
    }
  }
}

function suspension(answer: Extract<Answer, { type: 'suspend' }>, operation: Operation, payload: number): Outcome {
  if (operation !== 'run') throw new TriarchError('STEP_MISUSE', 'only run can be suspended')
  const { timeout, signals = [], checkpoint, progress, onCancel, page } = answer
  return {
    kind: 'suspended',
    ...(timeout !== undefined && { timeout }),
    ...(signals.length > 0 && {
      alarms: signals.map((it) => ({
        in: it.in,
        name: it.name,
        payload: encode(it.payload, `payload of signal "${it.name}"`, payload),
      })),
    }),
    ...(checkpoint !== undefined && { checkpoint: encode(checkpoint, 'checkpoint', payload) }),
    ...(progress !== undefined && { progress: encode(progress, 'progress', payload) }),
    ...(onCancel && { wary: onCancel }),
    ...(page && { page: pageOf(page, payload) }),
  }
}

function pageOf({ offset, items, last, digest }: RemotePage, payload: number) {
  encode(items, 'a page of a batch', payload * PAGE_PAYLOADS)
  return {
    offset,
    last,
    ...(digest !== undefined && { digest }),
    items: items.map(({ input, exclusive = [] }, n) => ({
      input: encode(input, `input of child ${offset + n}`, payload),
      ...(exclusive.length > 0 && { exclusive }),
    })),
  }
}

/** Converts the other way, on the agent's side. */
export function answerOf(attempt: string, { outcome, checkpoint }: Reply): Answer {
  if (outcome.kind === 'suspended') {
    const { kind: _, alarms, wary, ...rest } = outcome
    return {
      ...{ type: 'suspend', attempt, ...rest },
      ...(alarms && { signals: alarms }),
      ...(wary && { onCancel: wary }),
    }
  }
  const told: RemoteOutcome = outcome.kind === 'failed' ? failure(outcome) : outcome
  return { type: 'reply', attempt, outcome: told, ...(checkpoint !== undefined && { checkpoint }) }
}

function failure({ lost, ...outcome }: Extract<Outcome, { kind: 'failed' }>): RemoteOutcome {
  return { ...outcome, ...(lost === 'stop' || lost === 'alive' ? { lost } : {}) }
}

/** For an abort of an attempt that was answered through another server: the caller still reserves a slot for it. */
export function forgotten(attempt: string, { code, message }: TriarchError): Answer {
  const error = { name: 'TriarchError', code, message }
  return { type: 'reply', attempt, outcome: { kind: 'failed', error, retryable: true, unknown: true } }
}

/** The attempt did not begin: there was no slot, or it came too late. */
export const noPlace = { kind: 'withdrawn', after: 250 } as const
