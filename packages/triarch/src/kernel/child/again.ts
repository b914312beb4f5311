import type { Json } from '../json.ts'
import type { Message } from '../message.ts'
import type { TaskState } from '../state.ts'
import { continueAsNew } from '../task/renew.ts'
import { tellParent } from '../task/stop.ts'
import { emit, stale, type Turn } from '../turn.ts'
import { childRefused } from './refusal.ts'

/**
 * Whether a child with an id of its own may exist already because its parent started it before. Then the transition that would create it
 * asks it instead. A child that this run already waits for is no earlier one.
 */
export function mayExist({ firstId, generation, children }: TaskState, task: string): boolean {
  for (const child of children.values()) {
    if (child.task !== task) continue
    return child.status === 'stopped' || child.mode === 'start'
  }
  return firstId > 1 || generation > 0
}

/**
 * Handles the request of a parent for a child that it started before: the child begins anew, continues for the step that asks now, or
 * refuses because it is another task.
 */
export function askedAgain(turn: Turn, message: Extract<Message, { type: 'again' }>): void {
  const { state, at } = turn
  const { parent, ifExists, input, completeWithin, secretTexts } = message
  const { task, step } = parent
  // The child was created for this step, or has handled its request before.
  if (state.parent?.task === task && state.parent.step === step) return stale(turn)
  const mine = state.parent?.task === task && state.parent.ordinal === undefined
  const alike = state.workflow === message.workflow && state.version === message.version
  if (!mine || !alike || ifExists === 'reject') return refuse(turn, message)
  const completeBy = completeWithin === undefined ? null : at + completeWithin
  if (state.status === 'stopped' && ifExists === 'renew')
    return continueAsNew(turn, {
      ...{ input, nextId: state.endId, pendingSignals: [], fromStart: true, parent, completeBy },
      ...(secretTexts && { secretTexts }),
    })
  if (ifExists !== 'return' && !equal(state.input, input)) return refuse(turn, message)
  emit(turn, { type: 'adopted', parent })
  if (turn.state.status === 'stopped') tellParent(turn, parent)
}

function refuse(turn: Turn, { parent: { task, step } }: Extract<Message, { type: 'again' }>): void {
  const error = childRefused({ child: turn.state.id, code: 'TASK_EXISTS' })
  turn.posts.push({ task, message: { type: 'child', step, result: 'error', error }, control: true })
}

function equal(a: Json, b: Json): boolean {
  return sorted(a) === sorted(b)
}

function sorted(value: Json): string {
  return JSON.stringify(value, (_, part: Json) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
