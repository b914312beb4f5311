import type { Command } from 'commander'
import type { AgentInfo, LeaderInfo, LockInfo, WorkflowInfo } from 'triarch'
import { type CommandDeps, onTasks } from '../command.ts'
import { everyPage } from '../pages.ts'
import { said } from '../pause.ts'
import type { Column } from '../table.ts'

const workflows: readonly Column<WorkflowInfo>[] = [
  ['WORKFLOW', ({ name }) => name],
  ['VERSIONS', ({ versions }) => versions.map(({ version, nodes }) => `${version} (${nodes.length})`).join(', ')],
  ['PAUSED', ({ pausedBy }) => pausedBy && said(pausedBy)],
  ['CLOSED', ({ closedBy }) => closedBy && said(closedBy)],
]

const agents: readonly Column<AgentInfo>[] = [
  ['AGENT', ({ name }) => name],
  ['NODES', ({ nodes }) => nodes.length],
  ['QUEUE', ({ queue }) => queue.depth],
  ['ACTIONS', ({ actions }) => actions.join(' ')],
  ['PAUSED', ({ pausedBy }) => pausedBy && said(pausedBy)],
]

const locks: readonly Column<LockInfo>[] = [
  ['LOCK', ({ name }) => name],
  ['HOLDER', ({ holder }) => holder],
  ['SINCE', ({ since }) => since],
  ['WAITING', ({ waiting, truncated }) => (truncated ? `${waiting} or more` : waiting)],
  ['NEXT', ({ next }) => next.map(({ task }) => task).join(' ')],
]

const leaders: readonly Column<LeaderInfo>[] = [
  ['NAME', ({ name }) => name],
  ['NODE', ({ node }) => node],
  ['TOKEN', ({ token }) => token],
]

/** What there is besides tasks, by name. */
export function addInventories(program: Command, means: CommandDeps): void {
  list(program, 'workflow', 'the workflows that living nodes run, with how many nodes run each version').action(
    (_, command: Command) =>
      onTasks(means, command, async ({ session: { triarch }, report }) => {
        const found = await everyPage(report, async (page) => {
          const { workflows, next } = await triarch.workflows.list(page)
          return { rows: workflows, next }
        })
        report.rows(workflows, found, 'no living node runs a workflow')
      }),
  )
  list(program, 'agent', 'the agents that living nodes host, and what waits for each').action((_, command: Command) =>
    onTasks(means, command, async ({ session: { triarch }, report }) => {
      const found = await everyPage(report, async (page) => {
        const { agents, next } = await triarch.agents.list(page)
        return { rows: agents, next }
      })
      report.rows(agents, found, 'no living node hosts an agent')
    }),
  )
  list(program, 'lock', 'the locks that tasks have, and who waits for them').action((_, command: Command) =>
    onTasks(means, command, async ({ session: { triarch }, report }) => {
      const found = await everyPage(report, async (page) => {
        const { locks, next } = await triarch.locks.list(page)
        return { rows: locks, next }
      })
      report.rows(locks, found, 'nobody has a lock')
    }),
  )
  list(program, 'leader', 'the names that processes lead by, and who does').action((_, command: Command) =>
    onTasks(means, command, async ({ session: { triarch }, report }) => {
      const found = await everyPage(report, async (page) => {
        const { leaders, next } = await triarch.leaders.list(page)
        return { rows: leaders, next }
      })
      report.rows(leaders, found, 'nobody ever led')
    }),
  )
}

function list(program: Command, kind: string, description: string): Command {
  return program.command(kind).description(`${kind}s`).command('list').description(description)
}
