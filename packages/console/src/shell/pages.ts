import type { ComponentType } from 'preact'
import { AgentPage } from '../agents/agent.tsx'
import { Agents } from '../agents/agents.tsx'
import { Alerts } from '../alerts/alerts.tsx'
import type { Api } from '../api/client.ts'
import { principal } from '../api/right.ts'
import { Audit } from '../audit/audit.tsx'
import { ApiKeys } from '../keys/keys.tsx'
import { Locks } from '../locks/locks.tsx'
import { Nodes } from '../nodes/nodes.tsx'
import { Operations } from '../operations/operations.tsx'
import { Overview } from '../overview/overview.tsx'
import { SchedulePage } from '../schedules/schedule.tsx'
import { Schedules } from '../schedules/schedules.tsx'
import { SettingPage } from '../settings/setting.tsx'
import { Settings } from '../settings/settings.tsx'
import { Start } from '../start/start.tsx'
import { Statistics } from '../statistics/statistics.tsx'
import { TaskPage } from '../task/task.tsx'
import { Tasks } from '../tasks/tasks.tsx'
import type { Texts } from '../text/en.ts'
import { WorkflowPage } from '../workflows/workflow.tsx'
import { Workflows } from '../workflows/workflows.tsx'

export interface Page {
  name: keyof Texts & string
  path: string
  /** After `g`. */
  key: string
  component: ComponentType
  /** One of what it lists, at a path below. */
  one?: ComponentType
  /** Other pages lead there: it is not named above each of them. */
  isLed?: true
  /** Only for whom this says; for everybody. */
  isFor?: (who: Api['Principal']) => boolean
}

export const pages: readonly Page[] = [
  { name: 'overview', path: '/', key: 'o', component: Overview },
  { name: 'tasks', path: '/tasks', key: 't', component: Tasks, one: TaskPage },
  { name: 'workflows', path: '/workflows', key: 'w', component: Workflows, one: WorkflowPage },
  { name: 'statistics', path: '/statistics', key: 'c', component: Statistics },
  { name: 'agents', path: '/agents', key: 'a', component: Agents, one: AgentPage },
  { name: 'nodes', path: '/nodes', key: 'n', component: Nodes },
  { name: 'locks', path: '/locks', key: 'l', component: Locks },
  { name: 'schedules', path: '/schedules', key: 's', component: Schedules, one: SchedulePage },
  { name: 'operations', path: '/operations', key: 'p', component: Operations },
  { name: 'alerts', path: '/alerts', key: 'r', component: Alerts },
  { name: 'settings', path: '/settings', key: 'e', component: Settings, one: SettingPage },
  { name: 'audit', path: '/audit', key: 'u', component: Audit },
  {
    ...{ name: 'apiKeys', path: '/keys', key: 'k', component: ApiKeys },
    isFor: ({ keys, rights }) => keys && rights.includes('keys'),
  },
  { name: 'startTask', path: '/start', key: '+', component: Start, isLed: true },
]

/** Whether there is such a page for who asks; null: the server has not said yet who that is. */
export function isThere({ isFor }: Page): boolean | null {
  return isFor === undefined ? true : principal.value && isFor(principal.value)
}

/** What is shown at a path; null: nothing is there. */
export function pageOf(path: string): { page: Page; component: ComponentType } | null {
  const page = pages.find((one) => one.path === path)
  if (page) return { page, component: page.component }
  for (const page of pages) if (page.one && path.startsWith(`${page.path}/`)) return { page, component: page.one }
  return null
}
