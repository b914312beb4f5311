import type { Command } from 'commander'
import { isTriarchError, type TaskHandle, type TaskInfo } from 'triarch'
import { duration } from './argument.ts'
import type { CommandDeps } from './command.ts'
import { timer } from './environment.ts'
import { exitCodes } from './exit.ts'
import type { Report } from './report.ts'
import { cell } from './table.ts'

/** Options of a command that may wait for a task to stop. */
export interface Waiting {
  wait?: true
  timeout?: number
}

export function waitable(command: Command): Command {
  return command
    .option('--wait', 'wait until the task has stopped; ends with 1 when it did not end as wanted')
    .option(
      '--timeout <duration>',
      'with --wait: no longer than this (ends with 124; the task goes on)',
      duration('--timeout'),
    )
}

type Outcome = TaskInfo['outcome']

export function endedWell(outcome: Outcome): boolean {
  return outcome === 'success' || outcome === 'warning'
}

/** Says how the task ended. `wanted`: with what it should. */
export async function wait(
  task: Pick<TaskHandle, 'id' | 'result' | 'status' | 'watch'>,
  { means, report, options }: { means: CommandDeps; report: Report; options: Waiting },
  wanted: (outcome: Outcome) => boolean = endedWell,
): Promise<void> {
  const over = new AbortController()
  void tellPauses(task, means, over.signal).catch(() => undefined)
  try {
    const ended = task.result(options.timeout === undefined ? {} : { timeout: options.timeout })
    await report.during(`${task.id}`, ended)
  } catch (error) {
    // How it failed is in its row.
    if (!isTriarchError(error) || !error.code.startsWith('TASK_')) throw error
  } finally {
    over.abort()
  }
  const found = await task.status()
  const { id, outcome, output, error } = found
  report.one(found, {
    task: id,
    outcome,
    output: endedWell(outcome) ? output : undefined,
    error: error && [error.code, error.message].filter(Boolean).join(': '),
  })
  if (!wanted(outcome)) means.end(exitCodes.failed)
}

/** What has just been resumed is paused for a moment yet (ms). */
const SURE = 1_000

/** A task that is paused waits for somebody, and so does whoever waits for it. */
async function tellPauses(
  task: Pick<TaskHandle, 'id' | 'watch'>,
  { terminal }: CommandDeps,
  signal: AbortSignal,
): Promise<void> {
  let said = ''
  let stop: (() => void) | null = null
  try {
    for await (const { status, pause } of task.watch({ signal })) {
      const why =
        status === 'paused' ? [pause?.cause, pause?.reason, pause?.error?.message].filter(Boolean).join(': ') : ''
      if (why === said) continue
      said = why
      stop?.()
      const line = `triarch: task "${task.id}" is paused (${cell(why)}): waiting until somebody resumes or ends it\n`
      stop = why === '' ? null : timer(SURE, () => terminal.err(line))
    }
  } finally {
    stop?.()
  }
}
