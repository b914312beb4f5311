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
  /** Only children started by this step. */
  step?: number
}

/** Throws UNKNOWN_OPTION, INVALID_OPTION. */
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
  const ofStep: RowCondition[] =
    step === undefined ? [] : [{ column: 'parentStep', test: { type: 'number', least: step, most: step } }]
  return readPage(connection, { where: [...where, ...ofStep], ...page, order: 'oldest' })
}
