import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { span } from '../part/time.tsx'
import { t } from '../shell/preference.ts'

/** How far the copy is behind that lists are read from, where there is one. */
export function Standby() {
  const health = useQuery<Api['Health']>('/health?report=true&check=replica')
  const [found] = health.value?.checks ?? []
  const behind = found?.code === 'replica-behind' ? Number(found.details?.ms) : 0
  if (!(behind > 0)) return null
  return (
    <p class="note" role="status">
      {t().standby(span(behind))}
    </p>
  )
}
