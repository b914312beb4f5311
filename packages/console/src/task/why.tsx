import { agentPath } from '../agents/path.ts'
import { type Api, post } from '../api/client.ts'
import { useRight } from '../api/right.ts'
import type { Step } from '../api/types.ts'
import { deed } from '../part/asking.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { State } from '../part/state.tsx'
import { Time } from '../part/time.tsx'
import { settingPath } from '../settings/settings.tsx'
import { t } from '../shell/preference.ts'
import type { WaitFacts } from '../text/task/why.ts'
import { Acts } from './acts.tsx'
import { isStuck } from './compensation.tsx'
import type { About, TaskAct } from './deeds.ts'

type Reason = Omit<WaitFacts, 'step'> & {
  code: string
  text: string
  step?: number
  since?: string
  until?: string
  at?: string
  completeBy?: string
  nextProbe?: string
}

interface WhyProps {
  task: Api['Task']
  explanation: Api['Explanation']
  steps: readonly Step[]
  signals: About['signals']
  reload: () => void
}

/** Why the task does not move, or how it ended: the first thing to know, with who can end it and what can be done about it. */
export function Why({ task, explanation, steps, signals, reload }: WhyProps) {
  const isStopped = task.status === 'stopped'
  const reasons = allOf(task, explanation.reasons as Reason[])
  return (
    <section class={`why ${isStopped ? task.outcome : task.status}`} aria-label={t().whyWaits}>
      <h2>
        {isStopped ? t().whyStopped : t().whyWaits} <State of={isStopped ? task.outcome : task.status} />
      </h2>
      <ul>
        {reasons.map((reason) => {
          const about = steps.find(({ id }) => id === reason.step)
          const words = t().why.reasons[reason.code]
          const told = toldOf(task, reason, about)
          const ends = typeof words?.ends === 'function' ? words.ends(told) : words?.ends
          return (
            <li key={`${reason.code} ${reason.step ?? ''} ${reason.text}`}>
              <span>
                {words ? words.says(told) : reason.text} <When of={reason} />
                {reason.code === 'batch' && typeof reason.total === 'number' && (
                  <progress
                    max={reason.total}
                    value={(reason.success ?? 0) + (reason.failed ?? 0) + (reason.cancelled ?? 0)}
                    aria-label={t().progress}
                  />
                )}
                {ends && <span class="note ends">{ends}</span>}
              </span>
              <Ways {...{ reason, task, about, signals, reload }} />
            </li>
          )
        })}
      </ul>
      {explanation.holds.length > 0 && (
        <ul class="holds">
          {explanation.holds.map(({ lock, since }) => (
            <li key={lock}>
              <span>
                {t().why.holds(lock)}{' '}
                <span class="faint">
                  {t().why.since} <Time at={since} />
                </span>
              </span>
              <Link to="/locks">{t().locks}</Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** With each step that waits for an operator: what is paused speaks of the first only. */
function allOf({ status, steps }: Api['Task'], reasons: readonly Reason[]): Reason[] {
  if (status !== 'paused') return [...reasons]
  const named = new Set(reasons.map(({ step }) => step))
  const others = steps.filter(({ id, held }) => held !== undefined && !named.has(id))
  return [
    ...reasons,
    ...others.map(({ id, name, held, error }): Reason => {
      return { code: 'held', step: id, cause: held ?? '', text: name, ...(error && { error: error.message }) }
    }),
  ]
}

/** What the words are made of: with what is known of the step beside the reason. */
function toldOf({ pause }: Api['Task'], reason: Reason, about: Step | undefined): WaitFacts {
  const { step, outcome, error = about?.error?.message ?? pause?.error?.message } = reason
  return {
    ...reason,
    step: step === undefined ? '' : `${step}${about ? ` (${about.name})` : ''}`,
    ...(error !== undefined && reason.code !== 'step' && { error }),
    ...(outcome !== undefined && { outcome: t().states[outcome] ?? outcome }),
    ...(reason.status !== undefined && { status: t().states[reason.status] ?? reason.status }),
    byHand: reason.state === 'open' && reason.nextProbe === undefined,
    ...(reason.state !== undefined && { state: t().states[reason.state] ?? reason.state }),
  }
}

/** Since when, and until when. */
function When({ of: { since, until, at, completeBy, nextProbe } }: { of: Reason }) {
  const words = t().why
  const instants = [
    [words.since, since],
    [words.until, until],
    [words.again, at],
    [words.givenUp, completeBy],
    [words.probe, nextProbe],
  ] as const
  return (
    <>
      {instants.map(
        ([name, instant]) =>
          instant !== undefined && (
            <span key={name} class="faint when">
              {name} <Time at={instant} />
            </span>
          ),
      )}
    </>
  )
}

/** What leads on from a reason: what to press, or where to go. */
function Ways({
  reason,
  task,
  about,
  signals,
  reload,
}: Pick<WhyProps, 'task' | 'signals' | 'reload'> & { reason: Reason; about: Step | undefined }) {
  const { code, step } = reason
  const other = code === 'child' || code === 'predecessor' ? reason.task : code === 'lock' ? reason.holder : undefined
  const to = placesOf(reason)
  return (
    <span class="ways">
      <Acts
        acts={about && isStuck(task, about) ? ['retryUndo', 'skipUndo'] : actsOf(code, step)}
        about={{ task, step, input: about?.input, signal: reason.name, signals }}
        done={reload}
        isFirst
      />
      {code === 'breaker' && reason.breaker !== undefined && <CloseBreaker name={reason.breaker} done={reload} />}
      {other !== undefined && <Link to={taskPath(other)}>{other}</Link>}
      {code === 'frozen' && reason.planned !== undefined && (
        <Link to={`${taskPath(task.id)}?tab=graph`}>{t().why.readPlan}</Link>
      )}
      {to && <Link to={to[0]}>{to[1]}</Link>}
    </span>
  )
}

function actsOf(code: string, step: number | undefined): readonly TaskAct[] {
  switch (code) {
    case 'held':
      return ['retry', 'skip']
    case 'paused':
      return step === undefined ? ['resume'] : ['retry', 'skip']
    case 'quarantined':
      return ['resume']
    case 'frozen':
      return ['thaw']
    case 'signal':
      return ['signal']
    case 'stalled':
      return ['cancel']
    default:
      return []
  }
}

function placesOf({ code, agent, workflow, action }: Reason): [path: string, name: string] | null {
  // An action is called after its agent.
  const whose = action?.slice(0, action.indexOf('.'))
  switch (code) {
    case 'no-agent':
      return ['/agents', t().agents]
    case 'breaker':
    case 'step-queued':
    case 'concurrency':
    case 'rate-limit':
      return whose ? [agentPath(whose), t().one.agent(whose)] : ['/agents', t().agents]
    case 'agent-paused':
      return [settingPath(`triarch.agent.${agent}`), t().settings]
    case 'workflow-paused':
      return [settingPath(`triarch.workflow.${workflow}`), t().settings]
    case 'no-scheduler':
    case 'node-lost':
    case 'queued':
      return ['/nodes', t().nodes]
    default:
      return null
  }
}

function CloseBreaker({ name, done }: { name: string; done: () => void }) {
  const may = useRight('breakers')
  return (
    <button
      type="button"
      disabled={!may}
      title={may ? undefined : t().one.needs('breakers')}
      onClick={() => {
        deed.value = {
          ...{ title: t().act.close, will: t().will.close, isReasonNeeded: true },
          act: async (given) => {
            await post(`/breakers/${encodeURIComponent(name)}/close`, given)
            done()
          },
        }
      }}
    >
      {t().why.closeBreaker}
    </button>
  )
}
