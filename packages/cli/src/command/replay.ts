import type { Command } from 'commander'
import { replayHistory } from 'triarch/testing'
import { appOf } from '../app.ts'
import { read } from '../argument.ts'
import type { CommandDeps } from '../command.ts'
import { exitCodes } from '../exit.ts'
import { imported } from '../exported.ts'
import type { Shared } from '../place.ts'
import { Report } from '../report.ts'

/** Whether a change of a workflow's code is safe for a task that began before it. */
export function addReplay(program: Command, means: CommandDeps): void {
  program
    .command('replay')
    .description("whether today's code still agrees with a history; ends with 1 when it does not")
    .argument('<history>', 'a file that triarch export wrote')
    .argument('<module>', 'the module that exports the workflow')
    .action(async (path: string, module: string, _, command: Command) => {
      const history = imported(read(path), path)
      const { workflows } = await appOf(module)
      const report = new Report(means.terminal, command.optsWithGlobals<Shared>())
      const found = await report.during('replay', replayHistory(history, workflows))
      const { workflow, version, decisions, error } = found
      report.one(found, {
        task: history.task,
        workflow: `${workflow}@${version}`,
        decisions,
        agrees: error ? 'no' : 'yes',
        error: error && [error.code, error.message].filter(Boolean).join(': '),
      })
      if (error) means.end(exitCodes.failed)
    })
}
