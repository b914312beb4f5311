import type { Api } from '../api/client.ts'
import { text } from '../api/client.ts'
import type { Growing } from '../api/growing.ts'
import type { Step } from '../api/types.ts'
import { Download } from '../part/json.tsx'
import { State } from '../part/state.tsx'
import { instant, span } from '../part/time.tsx'
import { language, t } from '../shell/preference.ts'
import { attemptsOf } from './attempt.ts'
import { Compensation } from './compensation.tsx'
import type { HistoryRecord } from './history.tsx'
import { Wrong } from './step.tsx'

/** More would be a book: who wants all of them saves the page of steps as JSON. */
const MOST_STEPS = 200
/** Of a value, so many letters are printed. */
const MOST_LETTERS = 2_000

/** A task on paper: how it stands, what it gave, each step with its attempts. Instants are in full, for paper does not move. */
export function Report({
  task,
  steps,
  records,
  reload,
}: {
  task: Api['Task']
  steps: readonly Step[]
  records: Growing<HistoryRecord>
  reload: () => void
}) {
  const tried = Map.groupBy(attemptsOf(records.rows, null), ({ step }) => step)
  const first = records.rows[0]?.events[0]
  const facts: [string, string][] = [
    [t().workflow, `${task.workflow} ${task.version}`],
    [t().submitted, instant(task.submittedAt)],
    [t().updated, instant(task.updatedAt)],
    [t().one.printed, instant(new Date().toISOString())],
    ...Object.entries(task.tags),
  ]
  return (
    <article class="report" aria-label={t().one.report}>
      <p class="buttons">
        <Download of={{ task, steps }} name={`${task.id}-report`} />
        <button type="button" onClick={() => print()}>
          {t().one.print}
        </button>
      </p>
      <table>
        <tbody>
          {facts.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {first?.type === 'submitted' && <Said about={task.id} name={t().input} of={first.input} />}
      {task.error && <Wrong error={task.error} />}
      {task.output !== undefined && <Said about={task.id} name={t().output} of={task.output} />}
      <Compensation task={task} steps={[...steps]} reload={reload} />
      <h2>{t().steps}</h2>
      {steps.slice(0, MOST_STEPS).map((step) => (
        <section key={step.id} class="sheet-step">
          <h3>
            {step.id} {step.name} <State of={step.status} />
          </h3>
          <p class="faint">
            {step.requestedAt !== undefined && instant(step.requestedAt)}
            {step.requestedAt !== undefined && step.endedAt !== undefined && (
              <> · {span(Date.parse(step.endedAt) - Date.parse(step.requestedAt))}</>
            )}
            {step.action !== null && <> · {step.action}</>}
          </p>
          <Said about={`${step.id} ${step.name}`} name={t().input} of={step.input} />
          {step.output !== undefined && <Said about={`${step.id} ${step.name}`} name={t().output} of={step.output} />}
          {step.error && <Wrong error={step.error} />}
          {(tried.get(step.id)?.length ?? 0) > 1 && (
            <ol aria-label={t().attempts}>
              {tried.get(step.id)?.map(({ key, operation, state, endedAt, error }) => (
                <li key={key}>
                  {t().one.operations[operation]}: {t().states[state] ?? state}, {instant(endedAt)}
                  {error && ` – ${error.code ?? error.name}: ${error.message}`}
                </li>
              ))}
            </ol>
          )}
        </section>
      ))}
      {steps.length > MOST_STEPS && (
        <p class="note">{t().one.firstSteps(MOST_STEPS, steps.length.toLocaleString(language.value))}</p>
      )}
    </article>
  )
}

/** `about`: whose it is, for who hears of it alone. */
function Said({ about, name, of }: { about: string; name: string; of: unknown }) {
  const said = text(of, 2)
  return (
    <div>
      <strong>{name}</strong>
      <pre tabIndex={0} role="region" aria-label={`${about}: ${name}`}>
        {said.length > MOST_LETTERS
          ? `${said.slice(0, MOST_LETTERS)}… (${said.length.toLocaleString(language.value)})`
          : said}
      </pre>
    </div>
  )
}
