import type { Api } from '../api/client.ts'
import type { Growing } from '../api/growing.ts'
import type { Step } from '../api/types.ts'
import { Empty } from '../part/empty.tsx'
import { State } from '../part/state.tsx'
import { span } from '../part/time.tsx'
import { ask, place } from '../shell/place.ts'
import { t } from '../shell/preference.ts'
import { type Attempt, attemptsOf } from './attempt.ts'
import { Compensation } from './compensation.tsx'
import type { HistoryRecord } from './history.tsx'
import { Detail } from './step.tsx'
import { scaleOf, timelineOf } from './timeline.ts'
import { Axis, Track, Zoom } from './track.tsx'

const none: readonly Attempt[] = []

/** Each step with its bar on the time line; opened, with all that is known of it. */
export function Steps({
  path,
  task,
  steps,
  held,
  records,
  reload,
}: {
  path: string
  /** Steps that something keeps back, by their numbers. */
  held: ReadonlySet<number>
  task: Api['Task']
  steps: Step[]
  records: Growing<HistoryRecord>
  reload: () => void
}) {
  if (steps.length === 0) return <Empty text={t().noSteps} />
  const now = Date.now()
  const isCut = place.value.search.get('idle') !== 'full'
  const scale = scaleOf(steps, now, isCut)
  const bars = new Map(timelineOf(steps, now, scale).map((bar) => [bar.id, bar]))
  const tried = Map.groupBy(attemptsOf(records.rows, null), ({ step }) => step)
  const opened = place.value.search.get('step')
  return (
    <>
      <Compensation task={task} steps={steps} reload={reload} />
      <Zoom scale={scale} isCut={isCut} />
      <ol class="steps">
        {steps.map((step) => {
          const bar = bars.get(step.id)
          const isOpen = opened === String(step.id)
          return (
            <li key={step.id} class={step.status}>
              <button
                type="button"
                class="row"
                data-row
                aria-expanded={isOpen}
                onClick={() => ask('step', isOpen ? null : String(step.id))}
              >
                <span class="what">
                  <span class="faint">{step.id}</span> {step.name}
                </span>
                <State of={step.status} />
                <Track
                  {...{ bar, scale, status: step.status, tried: tried.get(step.id) ?? none, isHeld: held.has(step.id) }}
                />
                <span class="number">{bar ? span(bar.ms) : '–'}</span>
                <span class="number faint">{step.attempts > 1 ? `×${step.attempts}` : ''}</span>
              </button>
              {isOpen && <Detail {...{ path, task, step, records, reload }} />}
            </li>
          )
        })}
      </ol>
      {bars.size > 0 && (
        <div class="steps bare">
          <Axis scale={scale} />
        </div>
      )}
    </>
  )
}
