import { closeSync, openSync, writeSync } from 'node:fs'
import type { Command } from 'commander'
import type { TaskPage, TriarchClient } from 'triarch'
import { type CommandDeps, onTasks } from '../command.ts'
import { exitCodes, Failure, usage } from '../exit.ts'
import { type Exported, exported } from '../exported.ts'
import type { Measure } from '../progress.ts'
import { dataOf } from '../table.ts'

/** Tasks that one look asks for. */
const PAGE = 100

interface ExportFlags {
  output?: string
  filter?: string
  secrets?: boolean
}

/** Tasks as a file, for looking at them elsewhere, for `triarch replay` and `triarch import`. */
export function addExport(program: Command, means: CommandDeps): void {
  program
    .command('export')
    .description(
      'a task with its history as JSON, or all that fit a filter, one a line and the newest first, so that children come before parents',
    )
    .argument('[id]', 'the id of the task')
    .option('--filter <filter>', 'all tasks that fit, such as status:paused')
    .option('--secrets', 'also what is marked as secret, readable: import takes no other; only straight on a store')
    .option('--output <file>', 'into this new file; the standard output when not given')
    .action((id: string | undefined, _, command: Command) =>
      onTasks<ExportFlags>(means, command, async ({ session: { triarch }, report, options }) => {
        const { output, filter, secrets } = options
        if ((id === undefined) === (filter === undefined)) throw usage('give the id of a task, or --filter')
        if (secrets && !('open' in triarch))
          throw new Failure(exitCodes.usage, 'NEEDS_STORE', '--secrets needs the store itself: give --store')
        const file = output === undefined ? null : openSync(output, 'wx', 0o600)
        const write = (text: string) => (file === null ? means.terminal.out(text) : void writeSync(file, text))
        const one = async (task: string): Promise<Exported> => {
          const handle = triarch.tasks.get(task)
          return exported(await handle.status(), await handle.export(secrets ? { secrets } : {}))
        }
        const measure: Measure = { done: 0, total: null }
        const all = async () => {
          if (id !== undefined) return write(`${dataOf(await one(id), 2)}\n`)
          measure.total = (await triarch.tasks.count({ filter: filter as string })).count
          for await (const task of fitting(triarch, filter as string)) {
            write(`${dataOf(await one(task))}\n`)
            measure.done++
          }
        }
        try {
          await report.during('export', all(), async () => (id === undefined ? measure : null))
        } finally {
          if (file !== null) closeSync(file)
        }
        if (file !== null && id === undefined)
          report.one({ tasks: measure.done }, { tasks: measure.done, file: output })
      }),
    )
}

/** Newest first: what is submitted meanwhile is not among them. */
async function* fitting(triarch: TriarchClient, filter: string): AsyncGenerator<string> {
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page: TaskPage = await triarch.tasks.list({ filter, limit: PAGE, ...(cursor !== undefined && { cursor }) })
    for (const { id } of page.tasks) yield id
    cursor = page.next
  }
}
