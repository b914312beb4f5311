import type { Api } from '../api/client.ts'
import { useFigures } from '../api/figures.ts'
import { useQuery } from '../api/query.ts'
import { Failure } from '../part/failure.tsx'
import { Download } from '../part/json.tsx'
import { t } from '../shell/preference.ts'
import { linesOf } from '../statistics/lines.ts'
import { Standing } from '../statistics/standing.tsx'
import { Versions } from './versions.tsx'

/** Workflows, their versions, which living nodes run them, and how they did in the last day. */
export function Workflows() {
  const workflows = useQuery<Api['Workflows']>('/workflows')
  const figures = useFigures(['workflow', 'outcome'], 24, { kind: 'task' })
  const counted = figures.value !== null && figures.value.asOf !== null ? figures.value : null
  return (
    <>
      <div class="heading">
        <h1>{t().workflows}</h1>
        <Download of={workflows.value?.workflows ?? null} name="workflows" />
      </div>
      {workflows.error && <Failure error={workflows.error} retry={workflows.reload} />}
      {workflows.value && (
        <Versions of={workflows.value.workflows} lines={counted ? linesOf(counted.rows, 'workflow') : undefined} />
      )}
      {counted && <Standing of={counted} />}
    </>
  )
}
