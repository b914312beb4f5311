import type { AgentInfo, BreakerInfo, NodeInfo } from 'triarch'
import { type Column, instant, tableOf } from '../table.ts'
import type { Failing, Snapshot } from './snapshot.ts'

export const sections = ['agents', 'nodes', 'failing', 'breakers'] as const
export type Section = (typeof sections)[number]

/** What the person chose, and how the last look went. */
export interface View {
  columns: number
  lines: number
  colour: boolean
  interval: number
  isHeld: boolean
  /** One section, over the whole screen; null: all of them. */
  section: Section | null
  /** Rows of it that are above the screen. */
  scroll: number
  /** Why the last look failed. */
  error: string | null
}

/** Everything as lines that fit the screen. */
export function pictureOf(snapshot: Snapshot | null, view: View): string[] {
  const { columns, lines, colour } = view
  const head = headOf(snapshot, view)
  const foot = cut(
    'q quit  p hold  r now  + - pace  a agents  n nodes  f failing  b breakers  o all  j k scroll',
    columns,
  )
  const room = Math.max(0, lines - head.length - 1)
  const body = snapshot ? bodyOf(snapshot, view, room) : []
  const shown = [...head, ...body].slice(0, Math.max(0, lines - 1))
  while (shown.length < lines - 1) shown.push('')
  return [...shown, colour ? `\u001b[7m${foot.padEnd(columns)}\u001b[0m` : foot]
}

function headOf(snapshot: Snapshot | null, { columns, interval, isHeld, error }: View): string[] {
  const pace = isHeld ? 'held' : `every ${interval / 1_000} s`
  if (!snapshot) return [cut(`triarch top  ${error ?? 'looking …'}`, columns), '']
  const { counts, rates, at } = snapshot
  const { truncated = [] } = counts
  const count = (name: 'tasks' | 'ready' | 'work' | 'inbox') =>
    `${name} ${counts[name]}${truncated.includes(name) ? '+' : ''}`
  const lines = [
    `triarch top  ${instant(new Date(at))} UTC  ${pace}`,
    `${count('tasks')}  ${count('ready')}  ${count('work')}  ${count('inbox')}  submitted ${rates.submitted.toFixed(1)}/s  ended ${rates.ended.toFixed(1)}/s`,
    ...(error === null ? [] : [`the last look failed: ${error}`]),
    '',
  ]
  return lines.map((line) => cut(line, columns))
}

function bodyOf(snapshot: Snapshot, view: View, room: number): string[] {
  if (view.section !== null) {
    const [heading = '', ...rows] = tableLines(snapshot, view.section, view)
    return [heading, ...rows.slice(Math.min(view.scroll, Math.max(0, rows.length - 1)))].slice(0, room)
  }
  // Each has its share of the screen; what one does not need is for those below it.
  const lines: string[] = []
  for (const [at, section] of sections.entries()) {
    const share = Math.max(3, Math.floor((room - lines.length) / (sections.length - at)))
    const own = tableLines(snapshot, section, view)
    const fits =
      own.length <= share - 1
        ? own
        : [...own.slice(0, share - 2), cut(`  … ${own.length - share + 2} more`, view.columns)]
    lines.push(...fits, '')
  }
  return lines.slice(0, room)
}

const agents: readonly Column<AgentInfo & { at: number }>[] = [
  ['AGENT', ({ name }) => name],
  ['NODES', ({ nodes }) => nodes.length],
  ['SLOTS', ({ nodes }) => nodes.reduce((sum, { slots = 0 }) => sum + slots, 0) || ''],
  ['WAITING', ({ queue }) => `${queue.depth}${queue.truncated ? '+' : ''}`],
  ['OLDEST', ({ queue, at }) => (queue.oldest?.since ? ageOf(at - queue.oldest.since.getTime()) : '')],
]
const nodes: readonly Column<NodeInfo & { at: number }>[] = [
  ['NODE', ({ id }) => id],
  ['ROLES', ({ roles }) => roles.join(' ')],
  ['UP', ({ startedAt, at }) => ageOf(at - startedAt.getTime())],
  ['WHERE', ({ place }) => place && `${place.host} ${place.pid}`],
]
const failing: readonly Column<Failing>[] = [
  ['WORKFLOW', ({ workflow }) => workflow],
  ['PAUSED', ({ paused }) => paused],
  ['FAILED 1H', ({ failed }) => failed],
  ['ABOUT', ({ error }) => error],
]
const breakers: readonly Column<BreakerInfo>[] = [
  ['BREAKER', ({ name }) => name],
  ['STATE', ({ state, keyed }) => (keyed ? 'by key' : state)],
  ['WAITING', ({ waiting }) => waiting],
  ['NEXT PROBE', ({ nextProbe }) => nextProbe],
]

/** Headings and rows; or that there is nothing. */
function tableLines({ at, ...snapshot }: Snapshot, section: Section, { columns: width, colour }: View): string[] {
  const on = { width, colour } as Parameters<typeof tableOf>[2]
  const dated = <R>(rows: readonly R[]) => rows.map((row) => ({ ...row, at }))
  const byWaiting = snapshot.agents.toSorted((a, b) => b.queue.depth - a.queue.depth)
  const tables: Record<Section, [rows: number, table: string, none: string]> = {
    agents: [byWaiting.length, tableOf(agents, dated(byWaiting), on), 'no agent'],
    nodes: [snapshot.nodes.length, tableOf(nodes, dated(snapshot.nodes), on), 'no node lives'],
    failing: [snapshot.failing.length, tableOf(failing, snapshot.failing, on), 'nothing fails'],
    breakers: [snapshot.breakers.length, tableOf(breakers, snapshot.breakers, on), 'all breakers are closed'],
  }
  const [count, table, none] = tables[section]
  return count === 0 ? [cut(none, width)] : table.split('\n')
}

/** In the largest unit that it fills. */
export function ageOf(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}

function cut(line: string, columns: number): string {
  return line.length > columns ? line.slice(0, columns) : line
}
