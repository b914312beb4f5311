import { SEPARATOR } from '../kernel/child/child.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { type ListOptions, listQuery } from '../view/query.ts'
import type { TaskInfo } from '../view/status.ts'
import type { Connection } from './connection.ts'

/**
 * Some of many tasks.
 * @example
 * const page = await triarch.list({ limit: 50 })
 * const rest = page.next === undefined ? null : await triarch.list({ cursor: page.next })
 */
export interface TaskPage {
  /** The tasks of this page. */
  tasks: TaskInfo[]
  /** Cursor of the next page; absent on the last. */
  next?: string
}

/**
 * Which of a task's children to list.
 * @example const { tasks } = await task.children({ step: 3, result: 'error' })
 */
export interface ChildrenOptions extends Pick<ListOptions, 'status' | 'result' | 'workflow' | 'cursor' | 'limit'> {
  /** Only those that this step of the task started. */
  step?: number
}

/** Reads on until a page is full: children of other steps lie in between. Throws UNKNOWN_OPTION, INVALID_OPTION. */
export async function listChildren(
  connection: Connection,
  parent: string,
  { step, ...options }: ChildrenOptions,
): Promise<TaskPage> {
  checkOptions('children', options, ['status', 'result', 'workflow', 'cursor', 'limit'])
  if (step !== undefined) checkInteger('children: step', step, 1, Number.MAX_SAFE_INTEGER)
  const query = {
    ...listQuery(options),
    parent,
    order: 'oldest' as const,
    ...(step !== undefined && { parentStep: step }),
  }
  await connection.opened()
  const found: TaskInfo[] = []
  let last: number | undefined
  for (let { after } = query; ; after = last) {
    const rows = await connection.store.list({ ...query, ...(after !== undefined && { after }) })
    for (const row of rows) {
      if (found.length === query.limit) return { tasks: found, next: String(last) }
      last = row.key
      if (step === undefined || row.parentStep === step || isOf(row.id, parent, step))
        found.push(await connection.shown(row))
    }
    if (rows.length < query.limit) return { tasks: found }
  }
}

/** The ids that the engine gives to children end with the step, and the place in it: for those whose row does not name it. */
function isOf(id: string, parent: string, step: number): boolean {
  if (!id.startsWith(parent)) return false
  const rest = id.slice(parent.length)
  const place = rest.startsWith('.') ? rest.slice(1) : rest.slice(rest.lastIndexOf(SEPARATOR) + 1)
  const prefix = `${step}`
  return place.startsWith(prefix) && (place.length === prefix.length || '.-'.includes(place.charAt(prefix.length)))
}
