import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Download } from '../part/json.tsx'
import { Link } from '../part/link.tsx'
import { ask, go, place } from '../shell/place.ts'
import { t } from '../shell/preference.ts'
import { Entries } from './entries.tsx'

const filters = ['actor', 'action', 'subject'] as const

/** Who did what to the system. */
export function Audit() {
  const { search } = place.value
  const asked = new URLSearchParams({ limit: '100' })
  for (const name of [...filters, 'cursor']) {
    const value = search.get(name)
    if (value !== null) asked.set(name, value)
  }
  const page = useQuery<Api['AuditPage']>(`/audit?${asked}`)
  const names = { actor: t().who, action: t().what, subject: t().on }
  return (
    <>
      <h1>{t().audit}</h1>
      <form
        class="buttons"
        onSubmit={(event) => {
          event.preventDefault()
          const given = new URLSearchParams()
          for (const [name, value] of new FormData(event.currentTarget))
            if (typeof value === 'string' && value !== '') given.set(name, value)
          go(`/audit?${given}`)
        }}
      >
        {filters.map((name) => (
          <label key={`${name} ${search.get(name) ?? ''}`}>
            {names[name]} <input name={name} defaultValue={search.get(name) ?? ''} maxLength={300} />
          </label>
        ))}
        <button type="submit">{t().show}</button>
        {page.value && <Download of={page.value.entries} name="audit" />}
      </form>
      {page.error && <Failure error={page.error} retry={page.reload} />}
      {page.value?.entries.length === 0 && <Empty text={t().noAudit} />}
      {page.value && page.value.entries.length > 0 && <Entries entries={page.value.entries} />}
      <p class="buttons">
        {search.has('cursor') && (
          <button type="button" onClick={() => ask('cursor', null)}>
            {t().newest}
          </button>
        )}
        {page.value?.next !== undefined && (
          <button type="button" onClick={() => ask('cursor', page.value?.next ?? null)}>
            {t().older}
          </button>
        )}
      </p>
    </>
  )
}

/** What people and programs did to one task. */
export function TaskAudit({ id }: { id: string }) {
  const subject = `task:${id}`
  const page = useQuery<Api['AuditPage']>(`/audit?${new URLSearchParams({ subject, limit: '100' })}`)
  if (page.error && !page.value) return <Failure error={page.error} retry={page.reload} />
  if (page.value?.entries.length === 0) return <Empty text={t().noAudit} />
  if (!page.value) return null
  return (
    <>
      <Entries entries={page.value.entries} />
      {page.value.next !== undefined && (
        <p class="buttons">
          <Link to={`/audit?${new URLSearchParams({ subject, cursor: page.value.next })}`} class="button">
            {t().older}
          </Link>
        </p>
      )}
    </>
  )
}
