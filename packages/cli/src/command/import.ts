import type { Command } from 'commander'
import { isTriarchError, type TaskHandle } from 'triarch'
import { actorOf } from '../actor.ts'
import { read } from '../argument.ts'
import { type CommandDeps, onTasks } from '../command.ts'
import { exitCodes } from '../exit.ts'
import { allImported } from '../exported.ts'
import type { Measure } from '../progress.ts'
import type { Column } from '../table.ts'

interface ImportFlags {
  go?: boolean
  reason?: string
  actor?: string
}

interface Result {
  id: string
  result: 'imported' | 'there' | 'refused'
  code?: string
  message?: string
}

const columns: readonly Column<Result>[] = [
  ['TASK', ({ id }) => id],
  ['RESULT', ({ result }) => result],
  ['WHY', ({ code, message }) => (code === undefined ? '' : `${code}: ${message}`)],
]

/** The other way of `export --secrets`. */
export function addImport(program: Command, means: CommandDeps): void {
  program
    .command('import')
    .description('takes tasks over with their histories, each whole or not at all; what is here already stays as it is')
    .argument('<file>', 'what triarch export --secrets wrote, or - for the standard input')
    .option('--go', 'tasks that have not stopped go on at once; else they are paused until you resume them')
    .option('--reason <text>', 'why: kept in the audit, and in the history of what is paused')
    .option('--actor <who>', 'who wants it; TRIARCH_ACTOR, else the user of this process (USER)')
    .action((path: string, _, command: Command) =>
      onTasks<ImportFlags>(means, command, async ({ session: { triarch }, report, options }) => {
        const histories = allImported(path === '-' ? await means.terminal.read() : read(path), path)
        const { go = false, reason, actor = actorOf(means.terminal) } = options
        const order = { paused: !go, ...(reason !== undefined && { reason }), ...(actor && { actor }) }
        const measure: Measure = { done: 0, total: histories.length }
        const results: Result[] = []
        const all = async () => {
          for (const history of histories) {
            results.push(await resultOf(history.task, () => triarch.tasks.import(history, order)))
            measure.done++
          }
        }
        // Alone it ends the command as any other error does.
        const [only] = histories
        if (histories.length === 1 && only) {
          const { id, isNew } = await report.during('import', triarch.tasks.import(only, order))
          const result = isNew === false ? 'there' : 'imported'
          // Programs are given a list, however many there are.
          if (report.isData) return report.rows(columns, [{ id, result }], '')
          return report.one({}, { task: id, result })
        }
        await report.during('import', all(), async () => measure)
        report.rows(columns, results, 'no task')
        if (results.some(({ result }) => result === 'refused')) means.end(exitCodes.failed)
      }),
    )
}

/** One that is refused keeps no other from coming. */
async function resultOf(id: string, work: () => Promise<TaskHandle>): Promise<Result> {
  try {
    return { id, result: (await work()).isNew === false ? 'there' : 'imported' }
  } catch (error) {
    if (!isTriarchError(error) || !ofTask.has(error.code)) throw error
    return { id, result: 'refused', code: error.code, message: error.message }
  }
}

const ofTask: ReadonlySet<string> = new Set(['IMPORT_REFUSED', 'IMPORT_TOO_LARGE', 'TASK_EXISTS', 'INVALID_NAME'])
