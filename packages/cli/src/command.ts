import type { Command } from 'commander'
import { Triarch } from 'triarch'
import { actorOf } from './actor.ts'
import { type App, appOf } from './app.ts'
import { type ExitCode, usage } from './exit.ts'
import { placeOf, type Shared } from './place.ts'
import { Report } from './report.ts'
import { type Session, sessionAt } from './session.ts'
import type { Terminal } from './terminal.ts'

/** What a command is given beside its arguments. */
export interface CommandDeps {
  readonly terminal: Terminal
  /** With which code the command ends, if not with 0. */
  readonly end: (exit: ExitCode) => void
}

/** Runs what a command does with tasks, wherever they are; the options are those of the command and those that all have. */
export async function onTasks<O extends object>(
  means: CommandDeps,
  command: Command,
  work: (of: { session: Session; report: Report; options: O & Shared }) => Promise<void>,
  app?: App,
): Promise<void> {
  const options = command.optsWithGlobals<O & Shared>()
  const report = new Report(means.terminal, options)
  await using session = await sessionAt(await placeOf(options, means.terminal), app)
  const { actor = actorOf(means.terminal) } = options as { actor?: string }
  const run = () => work({ session, report, options })
  // A server knows who asks; the audit of a store that nobody stands before is told.
  await (session.triarch instanceof Triarch && actor ? session.triarch.serving.acting({ actor }, run) : run())
}

/** The definitions that a command needs. */
export function appFor(path: string | undefined): Promise<App> {
  if (path === undefined) throw usage('give --app, the module that exports the workflow')
  return appOf(path)
}

/** Somebody must want what destroys. */
export async function confirm({ terminal }: CommandDeps, yes: boolean | undefined, what: string): Promise<void> {
  if (yes) return
  const answer = await terminal.ask(`${what}? [y/N] `)
  if (answer === null) throw usage(`${what}? Say so with --yes`)
  if (!/^y(?:es)?$/i.test(answer.trim())) throw usage('not confirmed: nothing was done')
}
