import type { Workflow } from '../../definition/definition.ts'
import type { LogFields, LogWriter } from '../../definition/log.ts'
import type { Command } from '../command.ts'
import type { LocalCode } from '../effect.ts'
import type { TrackedPromise } from './audience.ts'
import type { UnawaitedWatch } from './watch.ts'
import type { Wish } from './wish.ts'

/** Takes the decisions of the workflow's code and gives it their outcomes. */
export interface Decider {
  readonly workflow: Workflow
  readonly taskId: string
  /** Part of the ids of the task's children. */
  readonly incarnation: string
  readonly metadata: Readonly<Record<string, string>>
  /** Largest payload, in bytes of JSON. */
  readonly payloadLimit: number
  /** The number of the first decision of this run. */
  readonly firstId: number
  /** The time of the last outcome delivered to the code, which is its `now`. */
  readonly at: number
  readonly watch: UnawaitedWatch
  /** The number of the next decision. */
  nextId(): number
  /** Keeps the code of a local step or a registered compensation, by its decision id. */
  keep(id: number, code: LocalCode): void
  /** Makes a decision whose outcome the code may wait for. `name`: set if the code must not forget to await it. */
  decide(command: Command & { decision: { id: number } }, name?: string | null): TrackedPromise<never>
  /** Makes a wait that the code may abandon. */
  wish(wish: Wish): TrackedPromise<never>
  /** Makes a decision without an outcome. */
  issue(command: Command): void
  patched(patch: string): boolean
  /** Writes a line to the task's log. */
  say(level: keyof LogWriter, message: string, fields: LogFields): void
}
