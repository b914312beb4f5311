import { type Api, newKey, post } from '../api/client.ts'
import { type Deed, LaterOutcome } from '../part/asking.tsx'
import type { Schema } from '../part/shape.ts'
import { t } from '../shell/preference.ts'
import { lastOf, outcomeOf } from './outcome.ts'

export type TaskAct = 'cancel' | 'pause' | 'resume' | 'retry' | 'skip' | 'compensate' | 'thaw' | 'signal' | UndoAct
/** The same controls for a step whose undo is stuck: they mean something else there. */
type UndoAct = 'retryUndo' | 'skipUndo'

const controls: Readonly<Record<UndoAct, 'retry' | 'skip'>> = { retryUndo: 'retry', skipUndo: 'skip' }

export interface About {
  task: Api['Task']
  /** Which step it is about. */
  step?: number | undefined
  /** What that step was given. */
  input?: unknown
  /** The signal that is waited for. */
  signal?: string | undefined
  /** What its workflow declares of signals, as far as it is known. */
  signals?: Readonly<Record<string, { payload?: unknown }>> | undefined
}

/** What an operator may do to a task as it stands. */
export function possible({ status, outcome }: Api['TaskInfo']): TaskAct[] {
  if (status === 'stopped') {
    if (outcome === 'success' || outcome === 'warning') return ['compensate']
    return outcome === 'error' ? ['retry'] : []
  }
  if (status === 'paused') return ['resume', 'cancel']
  if (status === 'compensating') return ['pause']
  return ['signal', 'pause', 'cancel']
}

export function deedOf(act: TaskAct, { task, step, input, signal, signals }: About, done: () => void): Deed {
  const control = act === 'retryUndo' || act === 'skipUndo' ? controls[act] : act
  const path = `/tasks/${encodeURIComponent(task.id)}`
  const payload = signal === undefined ? undefined : signals?.[signal]?.payload
  const fields: Deed['fields'] =
    act === 'skip'
      ? [{ name: 'output', label: `${t().output} (JSON)`, json: true, initial: null }]
      : act === 'retry' && step !== undefined
        ? [{ name: 'input', label: `${t().input} (JSON)`, json: true, initial: input }]
        : act === 'signal'
          ? [
              ...(signal === undefined ? [{ name: 'name', label: t().name, options: Object.keys(signals ?? {}) }] : []),
              isSchema(payload)
                ? { name: 'payload', label: t().acting.payload, json: true, schema: payload }
                : { name: 'payload', label: t().value, json: true, initial: null },
            ]
          : []
  return {
    title: t().act[act],
    will: t().will[act],
    fields,
    isReasonNeeded: act === 'cancel' || control === 'skip' || act === 'compensate',
    isRisky: act === 'cancel' || act === 'compensate' || act === 'skipUndo',
    act: async (given) => {
      const about = {
        ...((control === 'retry' || control === 'skip') && step !== undefined && { step }),
        ...(act === 'signal' && signal !== undefined && { name: signal }),
      }
      const [key, last] = [newKey(), await lastOf(path)]
      await post(`${path}/${control}`, { ...about, ...given }, key)
      done()
      return last === 0 ? undefined : new LaterOutcome(outcomeOf(path, key, last).finally(done))
    },
  }
}

function isSchema(said: unknown): said is Schema {
  return typeof said === 'object' && said !== null && Object.keys(said).length > 0
}
