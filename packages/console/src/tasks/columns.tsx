import type { ComponentChildren } from 'preact'
import type { Task } from '../api/types.ts'
import { Link, taskPath } from '../part/link.tsx'
import { isNarrow } from '../part/narrow.ts'
import { State } from '../part/state.tsx'
import type { Column } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { Waits } from '../part/waits.tsx'
import { ask } from '../shell/place.ts'
import { t } from '../shell/preference.ts'

const cells = {
  workflow: ({ workflow }) => <span class="clip name">{workflow}</span>,
  version: ({ version }) => <span class="faint">{version}</span>,
  status: ({ status, outcome }) => <State of={status === 'stopped' ? outcome : status} />,
  waits: ({ waits }) => <Waits of={waits} />,
  reason: ({ pause, error, pausedBy = [] }) => (
    <span class="faint clip">
      {pause?.error?.message ??
        error?.message ??
        pause?.reason ??
        pausedBy.map((it) => `${it.name}: ${it.reason} (${it.actor})`).join('; ')}
    </span>
  ),
  why: (task) => <span class="brief">{task.waits?.length ? cells.waits(task) : cells.reason(task)}</span>,
  failures: ({ failures }) => failures,
  priority: ({ priority }) => priority,
  tags: ({ tags }) => (
    <span class="faint clip">
      {Object.entries(tags)
        .map(([name, value]) => `${name}: ${value}`)
        .join(', ')}
    </span>
  ),
  parent: ({ parent }) => (parent ? <Link to={taskPath(parent)}>{parent}</Link> : ''),
  node: ({ lockedBy }) => <span class="faint">{lockedBy ?? ''}</span>,
  submitted: ({ submittedAt }) => <Time at={submittedAt} />,
  updated: ({ updatedAt }) => <Time at={updatedAt} />,
} satisfies Record<string, (task: Task) => ComponentChildren>

export type ColumnName = keyof typeof cells
const names = Object.keys(cells) as ColumnName[]
const numbers: readonly ColumnName[] = ['failures', 'priority']
/** For each width those that there is room for. */
const few: readonly ColumnName[] = ['status', 'why']
const many: readonly ColumnName[] = ['workflow', 'status', 'waits', 'reason', 'submitted', 'updated']

/** Those that the address names; the usual ones, if it names none. */
export function chosenOf(said: string | null): readonly ColumnName[] {
  const found = said?.split(',')
  return found === undefined ? (isNarrow.value ? few : many) : names.filter((it) => found.includes(it))
}

export function columnsOf(chosen: readonly ColumnName[]): Column<Task>[] {
  return [
    { title: t().task, cell: ({ id }) => <Link to={taskPath(id)}>{id}</Link> },
    ...chosen.map((name) => ({ title: t().columns[name], cell: cells[name], isNumber: numbers.includes(name) })),
  ]
}

export function ColumnChoice({ chosen }: { chosen: readonly ColumnName[] }) {
  const change = (name: ColumnName) => {
    const now = chosen.includes(name) ? chosen.filter((it) => it !== name) : [...chosen, name]
    const usual = isNarrow.value ? few : many
    const isUsual = now.length === usual.length && usual.every((it) => now.includes(it))
    ask('columns', isUsual ? null : now.join(',') || 'none')
  }
  return (
    <details class="menu">
      <summary>{t().columns.title}</summary>
      <fieldset>
        <legend class="sr">{t().columns.title}</legend>
        {names.map((name) => (
          <label key={name}>
            <input type="checkbox" checked={chosen.includes(name)} onChange={() => change(name)} />
            {t().columns[name]}
          </label>
        ))}
      </fieldset>
    </details>
  )
}
