import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { type Means, onTasks } from '../command.ts'
import { exported } from '../exported.ts'

/** A task as a file, for looking at it elsewhere and for `triarch replay`. */
export function addExport(program: Command, means: Means): void {
  program
    .command('export')
    .description('a task with its history as JSON; what is marked as secret is not in it')
    .argument('<id>', 'the id of the task')
    .option('--output <file>', 'into this file; the standard output when not given')
    .action((id: string, _, command: Command) =>
      onTasks<{ output?: string }>(means, command, async ({ session, options }) => {
        const task = session.triarch.task(id)
        const text = `${JSON.stringify(exported(await task.status(), await task.export()), null, 2)}\n`
        if (options.output === undefined) means.terminal.out(text)
        else writeFileSync(options.output, text, { flag: 'wx' })
      }),
    )
}
