import { type Action, type Agent, agent, type StepContext, type StepSignal } from '../../packages/triarch/src/index.ts'
import type { Place } from '../../packages/triarch/test/crash/ledger.ts'
import {
  type Book,
  type Done,
  type Order,
  perform,
  placeOf,
  quick,
  takeBack,
} from '../../packages/triarch/test/crash/workload.ts'
import { fit } from './censor.ts'

/** What the services write down, and what they tell the world outside. */
export interface Diary extends Book {
  /** A step waits, and goes on when somebody gives it a signal by this token. */
  tell(token: string): void
  /** Resolves at once, but for the first who asks for it: he waits for ever. */
  outside(key: string): Promise<void>
  /** Something is around this attempt. */
  wrap(place: Place): void
}

/** How a step waits. */
export interface Visit extends Order {
  /** It gives up waiting and goes on after this long (ms); never. */
  waits?: number
  /** It wakes by itself after this long, and waits on (ms). */
  rings?: number
  /** Wants to be told when its task stops. */
  wary?: boolean
}

export interface Yard {
  agent: Agent
  /** Waits until somebody outside says so. */
  dock: Action<Visit, Done>
  /** Done in two phases. */
  build: Action<Order, Done>
  /** Whose input or output is refused, if it says so. */
  weigh: Action<Weight, Done>
}

export interface Weight extends Order {
  unfit?: 'input' | 'output'
}

/** Services for steps that wait and steps that are finalized. */
export function yard(diary: Diary | null): Yard {
  const own = agent('yard', { concurrency: 3 })
  const base = { retry: quick, undoRetry: quick, attemptWithin: 400 }
  const undo = (action: string) => ({
    undo: ({ input }: { input: Order }, step: StepContext) => takeBack(diary, action, input, step),
  })
  return {
    agent: own,
    dock: own.action('dock', {
      ...base,
      ...undo('dock'),
      run: (visit: Visit, step: StepContext, event?: StepSignal) => stay(diary, visit, step, event),
    }) as Action<Visit, Done>,
    build: own.action('build', {
      ...base,
      ...undo('build'),
      run: (order: Order, step: StepContext) => perform(diary, 'build', order, step),
      finalize: (_: { input: Order }, step: StepContext) => perform(diary, 'finalize', {}, step),
    }) as Action<Order, Done>,
    weigh: own.action('weigh', {
      ...base,
      input: fit<Weight>('input'),
      output: fit<Done>('output'),
      run: async ({ unfit, ...order }: Weight, step: StepContext) => {
        const done = await perform(diary, 'weigh', order, step)
        return unfit ? { ...done, unfit } : done
      },
    }) as Action<Weight, Done>,
  }
}

async function stay(diary: Diary | null, visit: Visit, step: StepContext, event?: StepSignal): Promise<Done> {
  const { waits, rings, wary, ...order } = visit
  if (event && event.name !== 'alarm') return perform(diary, 'dock', order, step)
  diary?.write('call', placeOf('run', 'dock', step))
  if (event) await diary?.pause(40, step.signal)
  // Nobody comes for who waits for a time only, and nobody comes twice.
  else if (waits === undefined) diary?.tell(step.token)
  const events = rings === undefined || event ? [] : [{ name: 'alarm', in: rings }]
  return step.suspend({
    signals: events,
    ...(waits !== undefined && { timeout: waits }),
    ...(wary && { onCancel: true }),
  })
}
