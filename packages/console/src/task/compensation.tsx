import type { Api } from '../api/client.ts'
import type { Step } from '../api/types.ts'
import { State } from '../part/state.tsx'
import { Time } from '../part/time.tsx'
import { t } from '../shell/preference.ts'
import { Acts } from './acts.tsx'

/** Its undo has failed, and nobody tries it again by himself. */
export function isStuck(task: Api['Task'], { status, error }: Step): boolean {
  return status === 'compensating' && task.status === 'paused' && error !== undefined
}

/** The way back: what is undone, is being undone, is stuck, and what stands; the last that was done first, as it goes. */
export function Compensation({ task, steps, reload }: { task: Api['Task']; steps: Step[]; reload: () => void }) {
  const path = steps.filter(({ status }) => ['success', 'compensating', 'compensated'].includes(status)).reverse()
  if (!path.some(({ status }) => status !== 'success')) return null
  return (
    <section class="undoing" aria-label={t().wayBack}>
      <h3>{t().wayBack}</h3>
      <ol>
        {path.map((step) => (
          <li key={step.id}>
            <span class="what">
              <span class="faint">{step.id}</span> {step.name}
            </span>
            <span>
              {step.status === 'success' ? (
                <Standing task={task} step={step} />
              ) : isStuck(task, step) ? (
                <>
                  <strong class="bad">{t().stuck}</strong> {step.error?.message}
                </>
              ) : (
                <State of={step.status} />
              )}
            </span>
            <span class="ways">
              {isStuck(task, step) ? (
                <Acts acts={['retryUndo', 'skipUndo']} about={{ task, step: step.id }} done={reload} isFirst />
              ) : (
                step.status === 'compensated' && <Time at={step.endedAt} />
              )}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

/** What is left of a step that nobody undoes now. */
function Standing({ task, step }: { task: Api['Task']; step: Step }) {
  if (!step.undoable) return <>{t().noUndo}</>
  return <>{task.status === 'stopped' ? t().stands : t().toBeUndone}</>
}
