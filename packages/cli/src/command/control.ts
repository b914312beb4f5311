import type { Command } from 'commander'
import type { ControlOptions, Json, TaskHandle } from 'triarch'
import { actorOf } from '../actor.ts'
import { json, whole } from '../argument.ts'
import { type CommandDeps, confirm, onTasks } from '../command.ts'
import { endedWell, type Waiting, wait, waitable } from '../wait.ts'

type ControlledTask = Pick<TaskHandle, 'cancel' | 'pause' | 'resume' | 'retry' | 'skip' | 'compensate'>

interface Control<O> {
  name: string
  description: string
  /** What it does when it destroys: somebody must say yes. */
  destroys?: (id: string) => string
  options?: (command: Command) => Command
  act: (
    task: ControlledTask,
    options: O,
    said: ControlOptions,
    json: (name: string, text: string) => Promise<Json>,
  ) => Promise<void>
  /** Outcomes that it asks for, besides success. */
  wanted?: readonly string[]
  done: string
}

interface ControlFlags extends ControlOptions {
  compensate?: boolean
  force?: true
  step?: number
  input?: string
  output?: string
  after?: number
}

const step = (command: Command, text: string) => command.option('--step <n>', text, whole('--step', 1, 1e9))

const controls: readonly Control<ControlFlags>[] = [
  {
    name: 'cancel',
    description: 'stops a task and undoes what it did',
    destroys: (id) => `Cancel task "${id}"`,
    options: (command) =>
      command
        .option('--no-compensate', 'leave what it did as it is')
        .option('--force', 'give up steps that do not end, and undos that fail'),
    act: (task, { force, compensate }, said) =>
      task.cancel({
        ...said,
        ...(force && { force }),
        ...(compensate === false && { compensate }),
      }),
    wanted: ['cancelled', 'compensated'],
    done: 'asked to cancel',
  },
  {
    name: 'pause',
    description: 'starts no new step of a task until it is resumed',
    act: (task, _, said) => task.pause(said),
    done: 'asked to pause',
  },
  {
    name: 'resume',
    description: 'lets a paused task go on',
    options: (command) =>
      command.option(
        '--after <record>',
        'in quarantine: give up what comes after this record',
        whole('--after', 0, 1e12),
      ),
    act: (task, { after }, said) => task.resume({ ...said, ...(after !== undefined && { after }) }),
    done: 'asked to resume',
  },
  {
    name: 'retry',
    description: 'tries a failed step again, or lets a stopped task go on from where it failed',
    options: (command) => step(command, 'this step').option('--input <json>', 'with another input: JSON, @file, or -'),
    act: async (task, { step, input }, said, json) =>
      task.retry({
        ...said,
        ...(step !== undefined && { step }),
        ...(input !== undefined && { input: await json('--input', input) }),
      }),
    done: 'asked to retry',
  },
  {
    name: 'skip',
    description: 'goes on without a step that is held',
    destroys: (id) => `Skip a step of task "${id}"`,
    options: (command) =>
      command
        .requiredOption('--step <n>', 'which', whole('--step', 1, 1e9))
        .option('--output <json>', 'as if it had given this: JSON, @file, or -'),
    act: async (task, { step = 0, output }, said, json) =>
      task.skip({ ...said, step, ...(output !== undefined && { output: await json('--output', output) }) }),
    done: 'asked to skip',
  },
  {
    name: 'compensate',
    description: 'undoes a task that has succeeded',
    destroys: (id) => `Undo task "${id}"`,
    act: (task, _, said) => task.compensate(said),
    wanted: ['compensated'],
    done: 'asked to compensate',
  },
]

function plain(command: Command): Command {
  return command
}

/** Who says what of it: by default the user of this process. */
function saying(command: Command): Command {
  return command
    .option('--reason <text>', 'why: kept in its history')
    .option('--actor <who>', 'who wants it: kept in its history; TRIARCH_ACTOR, else the user of this process (USER)')
}

function saidIn({ reason, actor }: ControlOptions, { terminal }: CommandDeps): ControlOptions {
  const who = actor ?? actorOf(terminal)
  return { ...(reason !== undefined && { reason }), ...(who && { actor: who }) }
}

/** What operators do to tasks. Each is accepted when the command ends, unless it waits: the owner of the task does it. */
export function addControls(tasks: Command, means: CommandDeps): void {
  const read = (name: string, text: string) => json(name, text, means.terminal)
  for (const { name, description, destroys, options = plain, act, wanted, done } of controls) {
    const command: Command = options(
      tasks.command(name).description(description).argument('<id>', 'the id of the task'),
    )
    if (destroys) command.option('--yes', 'do not ask')
    waitable(saying(command)).action((id: string, _, command: Command) =>
      onTasks<ControlFlags & Waiting & { yes?: boolean }>(means, command, async ({ session, report, options }) => {
        if (destroys) await confirm(means, options.yes, destroys(id))
        const task = session.triarch.tasks.get(id)
        await act(task, options, saidIn(options, means), read)
        const well = wanted ? (outcome: string) => wanted.includes(outcome) : endedWell
        if (options.wait) return wait(task, { means, report, options }, well)
        report.one({ id, accepted: name }, { task: id, accepted: done })
      }),
    )
  }

  waitable(
    saying(
      tasks
        .command('signal')
        .description('sends a task a signal')
        .argument('<id>', 'the id of the task')
        .argument('<name>', 'the name of the signal')
        .argument('[payload]', 'JSON, @file, or -'),
    ),
  ).action((id: string, name: string, payload: string | undefined, _, command: Command) =>
    onTasks<ControlOptions & Waiting>(means, command, async ({ session, report, options }) => {
      const task = session.triarch.tasks.get(id)
      const given = payload === undefined ? null : await read('the payload', payload)
      await task.signal(name, given, saidIn(options, means))
      if (options.wait) return wait(task, { means, report, options })
      report.one({ id, accepted: 'signal' }, { task: id, accepted: `signal ${name}` })
    }),
  )
}
