import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import type { Workflow } from '../api/types.ts'

/** What the server knows of one workflow, asked for once; null: nothing (yet), or not now. */
export function useWorkflow(name: string | null): Workflow | null {
  // Pages begin behind a name: behind all that stand before this one.
  const before = name === null ? '' : name.slice(0, -1)
  const said = new URLSearchParams({ limit: '100', ...(before !== '' && { cursor: before }) })
  const found = useQuery<Api['Workflows']>(name === null ? null : `/workflows?${said}`, null, { once: true })
  return found.value?.workflows.find((it) => it.name === name) ?? null
}
