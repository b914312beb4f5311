import type { Workflow } from '../../definition/definition.ts'
import type { LogFields, LogWriter } from '../../definition/log.ts'
import type { Command } from '../command.ts'
import type { LocalCode } from '../effect.ts'
import type { Given } from './audience.ts'
import type { Watch } from './watch.ts'
import type { Wish } from './wish.ts'

/** Who takes down what the workflow's code decides, and gives it what comes of that. */
export interface Decider {
  readonly workflow: Workflow
  readonly taskId: string
  /** Part of the ids of its children. */
  readonly incarnation: string
  readonly metadata: Readonly<Record<string, string>>
  /** Largest payload, in bytes of JSON. */
  readonly payloadLimit: number
  /** The number of the first decision of this run. */
  readonly firstId: number
  /** The instant of what the code was told last: its now. */
  readonly at: number
  readonly watch: Watch
  /** The number of the next decision. */
  nextId(): number
  /** Code of a local step or a registered compensation, by its decision. */
  keep(id: number, code: LocalCode): void
  /** Makes a decision whose outcome the code may wait for. `name`: of what must not be overlooked. */
  decide(command: Command & { decision: { id: number } }, name?: string | null): Given<never>
  /** Asks for something that the code may leave again. */
  wish(wish: Wish): Given<never>
  /** Makes a decision that nothing comes of. */
  issue(command: Command): void
  patched(patch: string): boolean
  /** A line for the task's log. */
  say(level: keyof LogWriter, message: string, fields: LogFields): void
}
