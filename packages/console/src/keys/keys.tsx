import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { type Right, useRights } from '../api/right.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Download } from '../part/json.tsx'
import { Offer } from '../part/offer.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { ask, place } from '../shell/place.ts'
import { t } from '../shell/preference.ts'
import { making, revoking, rotating } from './deeds.ts'

type Key = Api['Key']

const snippet = "triarch key create billing --rights read,start --expires 90d --reason 'a new service'"

/** Who may ask by a key, until when, and for what; never what only its holder knows. */
export function ApiKeys() {
  const cursor = place.value.search.get('cursor')
  const page = useQuery<Api['KeyPage']>(`/keys?${new URLSearchParams({ limit: '100', ...(cursor && { cursor }) })}`)
  const mine = useRights() ?? []
  const keys = page.value?.keys
  const columns: Column<Key>[] = [
    { title: t().name, cell: (key) => <Named of={key} /> },
    { title: t().status, cell: (key) => <Standing of={key} /> },
    { title: t().key.rights, cell: ({ rights }) => <span class="rights">{rights.join(', ')}</span> },
    { title: t().key.made, cell: ({ made }) => <Word of={made} /> },
    { title: t().key.ends, cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : t().key.never) },
    { title: t().key.used, cell: ({ usedAt }) => (usedAt ? <Time at={usedAt} /> : t().key.neverUsed) },
    {
      title: t().actions,
      cell: (key) => key.status === 'active' && <Ways of={key} mine={mine} reload={page.reload} />,
    },
  ]
  return (
    <>
      <div class="heading">
        <h1>{t().apiKeys}</h1>
        <span class="ways">
          <Download of={keys && keys.length > 0 ? keys : null} name="keys" />
          <Offer may isFirst of={() => making(mine, page.reload)}>
            {t().key.make}
          </Offer>
        </span>
      </div>
      {page.error && <Failure error={page.error} retry={page.reload} />}
      {keys?.length === 0 && <Empty text={t().key.none} snippet={snippet} />}
      {keys && keys.length > 0 && (
        <Table label={t().apiKeys} rows={keys} columns={columns} keyOf={({ name }) => name} />
      )}
      <p class="buttons">
        {cursor !== null && (
          <button type="button" onClick={() => ask('cursor', null)}>
            {t().key.first}
          </button>
        )}
        {page.value?.next !== undefined && (
          <button type="button" onClick={() => ask('cursor', page.value?.next ?? null)}>
            {t().more}
          </button>
        )}
      </p>
    </>
  )
}

function Named({ of: { name, note } }: { of: Key }) {
  return (
    <>
      <strong>{name}</strong>
      {note !== undefined && <span class="note ends">{note}</span>}
    </>
  )
}

/** Whether it holds; and what was done to it, by whom and why. */
function Standing({ of: { status, rotated, overlapsUntil, revoked } }: { of: Key }) {
  return (
    <>
      <State of={status} />
      {revoked && (
        <span class="note ends">
          <Word of={revoked} />
        </span>
      )}
      {status === 'active' && rotated && (
        <span class="note ends">
          {t().key.rotated} <Word of={rotated} />
        </span>
      )}
      {status === 'active' && overlapsUntil !== undefined && (
        <span class="note ends">
          {t().key.former} <Time at={overlapsUntil} />
        </span>
      )}
    </>
  )
}

function Word({ of: { actor, at, reason } }: { of: Key['made'] }) {
  return (
    <>
      <Time at={at} /> · {actor}
      {reason !== '' && <span class="note ends">{reason}</span>}
    </>
  )
}

/** Whoever lacks one of its rights could have them all by another secret of it. */
function Ways({ of: key, mine, reload }: { of: Key; mine: readonly Right[]; reload: () => void }) {
  const mayRotate = key.rights.every((right) => mine.includes(right))
  return (
    <span class="ways" title={mayRotate ? undefined : t().key.lacks}>
      <Offer may={mayRotate} of={() => rotating(key.name, reload)}>
        {t().key.rotate}
      </Offer>
      <Offer may of={() => revoking(key.name, reload)}>
        {t().key.revoke}
      </Offer>
    </span>
  )
}
