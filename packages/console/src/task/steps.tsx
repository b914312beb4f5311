import type { Api } from '../api/client.ts'
import { deed } from '../part/asking.tsx'
import { Empty } from '../part/empty.tsx'
import { Value } from '../part/json.tsx'
import { State } from '../part/state.tsx'
import { span, Time } from '../part/time.tsx'
import { ask, place } from '../shell/place.ts'
import { t } from '../shell/preference.ts'
import { Compensation, isStuck, UndoWays } from './compensation.tsx'
import { deedOf } from './deeds.ts'
import { timelineOf } from './timeline.ts'

type Step = Api['Steps']['steps'][number]

/** Each step with its bar on the time line; opened, with all that is known of it. */
export function Steps({ task, steps, reload }: { task: Api['Task']; steps: Step[]; reload: () => void }) {
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
              {isOpen && <Detail task={task} step={step} reload={reload} />}
            </li>
          )
        })}
      </ol>
    </>
  )
}

function Detail({ task, step, reload }: { task: Api['Task']; step: Step; reload: () => void }) {
  const { id, action, input, output, error, attempts, requestedAt, endedAt, hints } = step
  const isHeld = step.status === 'error' && task.status !== 'stopped'
  return (
    <div class="detail">
      <dl class="facts">
        <Fact name={t().action}>{action ?? '–'}</Fact>
        <Fact name={t().attempts}>{attempts}</Fact>
        <Fact name={t().started}>
          <Time at={requestedAt} />
        </Fact>
        <Fact name={t().last}>
          <Time at={endedAt} />
        </Fact>
        {hints.length > 0 && <Fact name={t().hints}>{hints.join(', ')}</Fact>}
      </dl>
      {error && (
        <div class="failure">
          <strong>{error.code ?? error.name}</strong> {error.message}
        </div>
      )}
      {isStuck(task, step) && (
        <p class="buttons">
          <UndoWays task={task} step={step} reload={reload} />
        </p>
      )}
      {isHeld && (
        <p class="buttons">
          {(['retry', 'skip'] as const).map((act) => (
            <button
              key={act}
              type="button"
              onClick={() => {
                deed.value = deedOf(act, { task, step: id, input }, reload)
              }}
            >
              {t().act[act]}
            </button>
          ))}
        </p>
      )}
      <div class="columns">
        <div>
          <h3>{t().input}</h3>
          <Value of={input} label={`${t().input} ${id}`} />
        </div>
        <div>
          <h3>{t().output}</h3>
          <Value of={output} label={`${t().output} ${id}`} />
        </div>
      </div>
    </div>
  )
}

export function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
