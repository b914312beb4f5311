import type { Api } from '../api/client.ts'
import type { Growing } from '../api/growing.ts'
import { Empty } from '../part/empty.tsx'
import { State } from '../part/state.tsx'
import { span } from '../part/time.tsx'
import { ask, place } from '../shell/place.ts'
import { t } from '../shell/preference.ts'
import { Compensation } from './compensation.tsx'
import type { HistoryRecord } from './history.tsx'
import { Detail } from './step.tsx'
import { timelineOf } from './timeline.ts'

type Step = Api['Steps']['steps'][number]

/** Each step with its bar on the time line; opened, with all that is known of it. */
export function Steps({
  path,
  task,
  steps,
  records,
  reload,
}: {
  path: string
  task: Api['Task']
  steps: Step[]
  records: Growing<HistoryRecord>
  reload: () => void
}) {
  if (steps.length === 0) return <Empty text={t().noSteps} />
  const bars = new Map(timelineOf(steps, Date.now()).map((bar) => [bar.id, bar]))
  const opened = place.value.search.get('step')
  return (
    <>
      <Compensation task={task} steps={steps} reload={reload} />
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
                <span class="track" aria-hidden="true">
                  {bar && (
                    <span
                      class={`bar ${step.status}`}
                      style={{ left: `${bar.from * 100}%`, width: `max(3px, ${bar.size * 100}%)` }}
                    />
                  )}
                </span>
                <span class="number">{bar ? span(bar.ms) : '–'}</span>
                <span class="number faint">{step.attempts > 1 ? `×${step.attempts}` : ''}</span>
              </button>
              {isOpen && <Detail {...{ path, task, step, records, reload }} />}
            </li>
          )
        })}
      </ol>
    </>
  )
}
