import { SEPARATOR } from '../kernel/child/child.ts'
import type { RowCondition } from '../store/port.ts'
import { checkInteger, checkOptions, HIGHEST_NUMBER } from '../value/options.ts'
import { conditionsOf } from '../view/condition.ts'
import { type ListOptions, listedBy } from '../view/query.ts'
import type { Connection } from './connection.ts'
import { readPage, type TaskPage } from './page.ts'

/**
 * Which of a task's children to list.
 * @example const { tasks } = await task.children({ step: 3, outcome: 'error' })
 */
export interface ChildrenOptions extends Pick<ListOptions, 'status' | 'outcome' | 'workflow' | 'cursor' | 'limit'> {
  /** Only those that this step of the task started. */
  step?: number
}

/** Reads on until a page is full: children of other steps lie in between. Throws UNKNOWN_OPTION, INVALID_OPTION. */
export async function listChildren(
  connection: Connection,
  parent: string,
  { step, ...options }: ChildrenOptions,
): Promise<TaskPage> {
  checkOptions('children', options, ['status', 'outcome', 'workflow', 'cursor', 'limit'])
  if (step !== undefined) checkInteger('children: step', step, 1, HIGHEST_NUMBER)
  const { filter, page } = listedBy({ ...options, parent })
  await connection.opened()
  const { where } = conditionsOf(filter, connection.environment.now())
  // Those of which no step is known may be of this one.
  const ofStep = (test: { least: number } | { most: number }): RowCondition => {
    return { column: 'parentStep', not: true, test: { type: 'number', ...test } }
  }
  const query = { ...page, order: 'oldest' as const }
  if (step === undefined) return readPage(connection, { where, ...query })
  const steps = [ofStep({ most: step - 1 }), ofStep({ least: step + 1 })]
  return readPage(connection, { where: [...where, ...steps], ...query }, ({ id, parentStep }) => {
    return parentStep === step || isOf(id, parent, step)
  })
}

/** The ids that the engine gives to children end with the step, and the place in it: for those whose row does not name it. */
function isOf(id: string, parent: string, step: number): boolean {
  if (!id.startsWith(parent)) return false
  const rest = id.slice(parent.length)
  const place = rest.startsWith('.') ? rest.slice(1) : rest.slice(rest.lastIndexOf(SEPARATOR) + 1)
  const prefix = `${step}`
  return place.startsWith(prefix) && (place.length === prefix.length || '.-'.includes(place.charAt(prefix.length)))
}
