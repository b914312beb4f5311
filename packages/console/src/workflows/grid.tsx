import { useEffect, useState } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { getSteps } from '../api/steps.ts'
import type { Step, Task } from '../api/types.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { State } from '../part/state.tsx'
import { instant, Time } from '../part/time.tsx'
import { t } from '../shell/preference.ts'

/** Runs beside each other, and names of steps below each other. */
const RUNS = 15
const STEPS = 40

/** What became of each step in the last runs of a workflow. */
export function Grid({ workflow }: { workflow: string }) {
  const filter = encodeURIComponent(`workflow:${JSON.stringify(workflow)}`)
  const page = useQuery<Api['TaskPage']>(`/tasks?filter=${filter}&limit=${RUNS}`, `/tasks/events?filter=${filter}`)
  const runs = page.value?.tasks ?? []
  const steps = useSteps(runs)
  const names = [...new Set(runs.flatMap(({ id }) => steps.get(id)?.steps.map(({ name }) => name) ?? []))]
  return (
    <>
      <h2>{t().figures.lastRuns}</h2>
      {page.error && <Failure error={page.error} retry={page.reload} />}
      {page.value && runs.length === 0 && <Empty text={t().figures.noRuns} />}
      {runs.length > 0 && (
        <section class="table grid" aria-label={t().figures.lastRuns} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t().step}</th>
                {runs.map(({ id, status, outcome, submittedAt }) => (
                  <th key={id} scope="col">
                    <Link to={taskPath(id)} title={instant(submittedAt)}>
                      {id}
                    </Link>
                    <State of={status === 'stopped' ? outcome : status} />
                    <Time at={submittedAt} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {names.slice(0, STEPS).map((name) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  {runs.map(({ id }) => (
                    <td key={id}>
                      <Cell steps={steps.get(id)?.steps.filter((step) => step.name === name) ?? []} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {names.length > STEPS && <p class="note">{t().figures.firstSteps(STEPS, names.length)}</p>}
    </>
  )
}

/** One step, or as many as have the name: the one that is worst off, and how many there are. */
function Cell({ steps }: { steps: readonly Step[] }) {
  const worst = steps.find(({ status }) => status === 'error') ?? steps.find(({ endedAt }) => !endedAt) ?? steps[0]
  if (!worst) return <span class="faint">–</span>
  return (
    <>
      <State of={worst.status} /> {steps.length > 1 && <span class="faint">×{steps.length}</span>}
    </>
  )
}

/** The steps of each run, asked for again only when the run has changed. */
function useSteps(runs: readonly Task[]): ReadonlyMap<string, { at: string; steps: Step[] }> {
  const [known, set] = useState<ReadonlyMap<string, { at: string; steps: Step[] }>>(new Map())
  const changed = runs.filter(({ id, updatedAt }) => known.get(id)?.at !== updatedAt)
  const wanted = changed.map(({ id, updatedAt }) => `${id} ${updatedAt}`).join('\n')
  useEffect(() => {
    if (wanted === '') return
    const end = new AbortController()
    void (async () => {
      for (const { id, updatedAt } of changed) {
        // One that is gone, or cannot be asked for now, is shown without its steps.
        const found = await getSteps<Api['Steps']>(`${taskPath(id)}/steps`, end.signal).catch(() => null)
        if (end.signal.aborted) return
        set((old) => new Map(old).set(id, { at: updatedAt, steps: found?.steps ?? [] }))
      }
    })()
    return () => end.abort()
  }, [wanted])
  return known
}
