import { useMemo, useState } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { Combobox } from '../part/combobox.tsx'
import { ask } from '../shell/place.ts'
import { t } from '../shell/preference.ts'
import { complete, type Known } from './completion.ts'
import { outcomes, statuses } from './states.ts'

/** Of the tasks that are shown, so many are looked at for values. */
const MOST_SHOWN = 200

/** The line that says which tasks; it completes fields, and the values of those whose values are known. */
export function Filter({ value, tasks }: { value: string; tasks: readonly Api['TaskInfo'][] }) {
  const [typed, type] = useState(value)
  const workflows = useQuery<Api['Workflows']>('/workflows', null, { once: true })
  const agents = useQuery<Api['Agents']>('/agents', null, { once: true })
  const nodes = useQuery<Api['Nodes']>('/nodes', null, { once: true })
  const known = useMemo(
    () => knownOf(workflows.value, agents.value, nodes.value, tasks),
    [workflows.value, agents.value, nodes.value, tasks],
  )
  const options = complete(typed, known).map(({ line, word }) => ({ key: line, label: word }))
  return (
    <form
      class="filter"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        ask('filter', typed.trim())
      }}
    >
      <Combobox
        label={t().filter}
        data-filter
        placeholder={t().filterHint}
        value={typed}
        options={options}
        onType={type}
        onTake={({ key }) => type(key)}
      />
      <button type="submit">{t().filter}</button>
    </form>
  )
}

/** Names come from what runs, tags and codes from the tasks that are shown. */
function knownOf(
  workflows: Api['Workflows'] | null,
  agents: Api['Agents'] | null,
  nodes: Api['Nodes'] | null,
  tasks: readonly Api['TaskInfo'][],
): Known {
  const shown = tasks.slice(0, MOST_SHOWN)
  const tags = Map.groupBy(
    shown.flatMap((task) => Object.entries(task.tags)),
    ([name]) => `tag.${name}`,
  )
  const free = ['id', 'parent', 'step', 'tag', 'age', 'idle', 'submitted', 'updated', 'priority', 'failures']
  const known: [string, (string | undefined)[]][] = [
    ['status', [...statuses]],
    ['outcome', ['pending', ...outcomes]],
    ['workflow', workflows?.workflows.map(({ name }) => name) ?? []],
    ['version', workflows?.workflows.flatMap(({ versions }) => versions.map(({ version }) => version)) ?? []],
    ['agent', agents?.agents.map(({ name }) => name) ?? []],
    ['node', nodes?.nodes.map(({ id }) => id) ?? []],
    ['error', shown.map(({ error, pause }) => (pause?.error ?? error)?.code)],
    ['cause', shown.map(({ pause }) => pause?.cause)],
    ['ready', ['true', 'false']],
    ['sort', ['newest', 'oldest']],
    ...free.map((field): [string, string[]] => [field, []]),
    ...[...tags].map(([name, values]): [string, string[]] => [name, values.map(([, value]) => value)]),
  ]
  const sorted = (values: (string | undefined)[]) => [...new Set(values.filter((it) => it !== undefined))].sort()
  return Object.fromEntries(known.map(([field, values]) => [field, sorted(values)]))
}
