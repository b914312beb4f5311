import type { Api } from '../api/client.ts'
import { deed } from '../part/asking.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { State } from '../part/state.tsx'
import { t } from '../shell/preference.ts'
import { isStuck } from './compensation.tsx'
import { type Act, deedOf } from './deeds.ts'

type Reason = Api['Explanation']['reasons'][number] & {
  step?: number
  task?: string
  holder?: string
  name?: string
  breaker?: string
  action?: string
}

/** Why the task does not move, or how it ended: the first thing to know, with what can be done about it. */
export function Why({
  task,
  explanation,
  steps,
  reload,
}: {
  task: Api['Task']
  explanation: Api['Explanation']
  steps: Api['Steps']['steps']
  reload: () => void
}) {
  const isStopped = task.status === 'stopped'
  return (
    <section class={`why ${isStopped ? task.outcome : task.status}`} aria-label={t().whyWaits}>
      <h2>
        {isStopped ? t().whyStopped : t().whyWaits} <State of={isStopped ? task.outcome : task.status} />
      </h2>
      <ul>
        {(explanation.reasons as Reason[]).map((reason) => (
          <li key={`${reason.code} ${reason.step ?? ''} ${reason.text}`}>
            <span>{reason.text}</span>
            <Ways reason={reason} task={task} steps={steps} reload={reload} />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** What leads on from a reason: what to press, or where to go. */
function Ways({
  reason,
  task,
  steps,
  reload,
}: {
  reason: Reason
  task: Api['Task']
  steps: Api['Steps']['steps']
  reload: () => void
}) {
  const { code, step } = reason
  const about = steps.find(({ id }) => id === step)
  const acts: Act[] =
    about && isStuck(task, about)
      ? ['retryUndo', 'skipUndo']
      : code === 'held' || (code === 'paused' && step !== undefined)
        ? ['retry', 'skip']
        : code === 'paused' || code === 'quarantined'
          ? ['resume']
          : code === 'frozen'
            ? ['thaw']
            : code === 'signal'
              ? ['signal']
              : []
  const other = code === 'child' || code === 'predecessor' ? reason.task : code === 'lock' ? reason.holder : undefined
  return (
    <span class="ways">
      {acts.map((act, index) => (
        <button
          key={act}
          type="button"
          class={index === 0 ? 'primary' : undefined}
          onClick={() => {
            deed.value = deedOf(act, { task, step, input: about?.input, signal: reason.name }, reload)
          }}
        >
          {t().act[act]}
        </button>
      ))}
      {other !== undefined && <Link to={taskPath(other)}>{other}</Link>}
      {(code === 'breaker' ||
        code === 'no-agent' ||
        code === 'step-queued' ||
        code === 'concurrency' ||
        code === 'agent-paused') && <Link to="/agents">{t().agents}</Link>}
      {(code === 'no-scheduler' || code === 'node-lost') && <Link to="/nodes">{t().nodes}</Link>}
    </span>
  )
}
